"""Timers on the virtual loop: many at once, late ones, a clock that jumps."""

from __future__ import annotations

import asyncio

import pytest

from agent_work_orders.engines.embedded.alarm import BATCH, Alarm
from agent_work_orders.testing.simulation.loop import (
    Deadlock,
    VirtualClock,
    VirtualLoop,
    VirtualTime,
)


@pytest.mark.fault("B5")
def test_thousands_due_at_a_restart_ring_once_and_leave_room_between() -> None:
    time = VirtualTime()
    clock, loop = VirtualClock(time), VirtualLoop(time)
    fired: list[str] = []
    turns: list[int] = []

    async def body() -> None:
        alarm = Alarm(clock, lambda _run, timer: fired.append(timer))
        for number in range(5_000):
            alarm.set("run", f"t{number}", clock.now_ms() - 60_000)
        while len(fired) < 5_000 and len(turns) < 10_000:
            before = len(fired)
            await asyncio.sleep(0)
            turns.append(len(fired) - before)
        alarm.stop()

    loop.run_until_complete(body())
    loop.kill()
    assert sorted(fired) == sorted(f"t{number}" for number in range(5_000))
    assert max(turns) <= BATCH


@pytest.mark.fault("B1")
def test_a_clock_that_jumps_is_noticed_and_rings_each_timer_once() -> None:
    time = VirtualTime()
    clock, loop = VirtualClock(time), VirtualLoop(time)
    fired: list[float] = []

    async def body() -> None:
        alarm = Alarm(clock, lambda _run, _timer: fired.append(loop.time()))
        alarm.set("run", "tomorrow", clock.now_ms() + 86_400_000)
        await asyncio.sleep(10)
        time.jump_ms += 86_400_000
        await asyncio.sleep(60)
        assert len(fired) == 1
        time.jump_ms -= 2 * 86_400_000
        await asyncio.sleep(3 * 86_400)
        alarm.stop()

    loop.run_until_complete(body())
    loop.kill()
    assert len(fired) == 1
    assert fired[0] <= 45


def test_a_loop_on_which_nothing_can_happen_says_so() -> None:
    loop = VirtualLoop(VirtualTime())

    async def body() -> None:
        await loop.create_future()

    with pytest.raises(Deadlock):
        loop.run_until_complete(body())
    loop.kill()

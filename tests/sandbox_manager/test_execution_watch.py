"""Watching a program: whoever is cancelled is cancelled, also in the moment in which it ends."""

from __future__ import annotations

import asyncio

import pytest

from agent_work_orders.clock import SystemClock
from agent_work_orders.sandbox_manager.local.execution import _Running


@pytest.mark.parametrize("turns", range(6))
async def test_a_cancellation_that_comes_with_the_end_is_not_lost(turns: int) -> None:
    clock = SystemClock()
    running = _Running(clock, None, 1_000)
    watching = asyncio.create_task(running.watch(clock.monotonic_s() + 60, None))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    running._over.set()
    for _ in range(turns):
        await asyncio.sleep(0)
    if watching.cancel():
        with pytest.raises(asyncio.CancelledError):
            await watching
    else:
        assert await watching == "exited"

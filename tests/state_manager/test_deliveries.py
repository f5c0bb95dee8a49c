"""Webhook deliveries: kept before they are answered, known afterwards, never doubled."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_work_orders.errors import Unavailable
from agent_work_orders.state_manager.sqlite.deliveries import SqliteDeliveries
from agent_work_orders.state_manager.sqlite.store import SqliteStore


@pytest.mark.fault("C8")
async def test_when_it_is_full_new_ones_are_refused_and_known_ones_known(
    store: SqliteStore,
) -> None:
    small = SqliteDeliveries(store.writer, store.readers, limit=3)
    took = [small.take(f"g{n}", "push", b"", 1) for n in range(5)]
    answers = await asyncio.gather(*took, return_exceptions=True)
    assert answers[:3] == [True, True, True]
    assert [type(one) for one in answers[3:]] == [Unavailable, Unavailable]
    assert not await small.take("g1", "push", b"", 1)
    await small.settle((await small.waiting())[0].n, "handled", "", 2)
    assert await small.take("g3", "push", b"", 1)
    again = SqliteDeliveries(store.writer, store.readers, limit=3)
    with pytest.raises(Unavailable, match="intake_full"):
        await again.take("g4", "push", b"", 1)


async def test_many_are_settled_at_once_and_settled_ones_stay(store: SqliteStore) -> None:
    for n in range(4):
        await store.deliveries.take(f"g{n}", "push", b"x", 1)
    first, *others = [one.n for one in await store.deliveries.waiting()]
    await store.deliveries.settle(first, "handled", "wo-1", 2)
    await store.deliveries.settle_idle([first, *others[:2]], "nothing", 3)
    states = [(one.state, one.why, one.has_body) for one in await store.deliveries.page()]
    assert states == [
        ("waiting", "", True),
        ("ignored", "nothing", False),
        ("ignored", "nothing", False),
        ("handled", "wo-1", False),
    ]
    small = SqliteDeliveries(store.writer, store.readers, limit=2)
    assert await small.take("g9", "push", b"", 1), "they make room"


async def test_a_reason_that_sqlite_cannot_hold_is_noted_readably(store: SqliteStore) -> None:
    await store.deliveries.note("bad", "push", "not JSON \ud800", 5)
    noted = await store.deliveries.find("bad")
    assert noted is not None
    assert (noted.state, noted.why, noted.has_body) == ("failed", "not JSON ?", False)


async def test_large_bodies_come_few_at_a_time(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "agent_work_orders.state_manager.sqlite.deliveries.MAX_BATCH_BYTES"
    monkeypatch.setattr(where, 25)
    for n in range(4):
        await store.deliveries.take(f"g{n}", "push", b"x" * (30 if n == 0 else 10), 1)
    first = await store.deliveries.waiting()
    assert [one.delivery_id for one in first] == ["g0"], "one alone may be larger"
    second = await store.deliveries.waiting(after=first[-1].n)
    assert [one.delivery_id for one in second] == ["g1", "g2"]


CHILD = """
import asyncio, os, sys
from pathlib import Path
from agent_work_orders.clock import SystemClock
from agent_work_orders.state_manager.sqlite.store import SqliteStore

async def main(home, stop_after):
    store = SqliteStore.open(Path(home), SystemClock())
    steps = [
        lambda: store.deliveries.take("g", "push", b"body", 1),
        lambda: store.deliveries.tried(1),
        lambda: store.deliveries.settle(1, "handled", "wo-1", 2),
    ]
    for number, step in enumerate(steps):
        if number == stop_after:
            os.kill(os.getpid(), 9)
        await step()
    os.kill(os.getpid(), 9)

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


@pytest.mark.fault("A1")
@pytest.mark.fault("A2")
@pytest.mark.parametrize("done", range(4))
async def test_a_kill_between_any_two_steps_loses_nothing(
    tmp_path: Path, clock: Any, done: int
) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run([sys.executable, "-c", CHILD, tmp_path / "h", str(done)], env=env)
    assert killed.returncode == -signal.SIGKILL
    store = SqliteStore.open(tmp_path / "h", clock)
    waiting = [
        (one.delivery_id, one.body, one.attempts) for one in await store.deliveries.waiting()
    ]
    expected: list[Any] = [[], [("g", b"body", 0)], [("g", b"body", 1)], []]
    assert waiting == expected[done]
    assert await store.deliveries.take("g", "push", b"again", 3) is (done == 0)
    await store.close()

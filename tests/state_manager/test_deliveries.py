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
from agent_work_orders.state_manager import deliveries as contract
from agent_work_orders.state_manager.sqlite.deliveries import SqliteDeliveries
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.state_manager.subjects import OrderSubject


async def test_they_wait_in_the_order_of_arrival_until_they_are_settled(store: SqliteStore) -> None:
    for number in range(5):
        assert await store.deliveries.take(f"g{number}", "push", b"%d" % number, number)
    waiting = await store.deliveries.waiting()
    assert [one.body for one in waiting] == [b"0", b"1", b"2", b"3", b"4"]
    await store.deliveries.settle(waiting[1].n, "handled", "wo-1", 9)
    await store.deliveries.settle(waiting[1].n, "failed", "late", 10)
    left = await store.deliveries.waiting(2, after=waiting[0].n)
    assert [one.delivery_id for one in left] == ["g2", "g3"]
    settled = await store.deliveries.find("g1")
    assert settled is not None
    assert (settled.state, settled.why, settled.has_body) == ("handled", "wo-1", False)
    assert [one.delivery_id for one in await store.deliveries.page(state="waiting", limit=2)] == [
        "g4", "g3",
    ]  # fmt: skip
    before = (await store.deliveries.page(limit=1))[0].n
    assert (await store.deliveries.page(before=before))[0].delivery_id == "g3"


@pytest.mark.fault("C3")
async def test_one_id_in_parallel_is_kept_once(store: SqliteStore) -> None:
    took = [store.deliveries.take("g", "push", b"%d" % n, n) for n in range(100)]
    assert sorted(await asyncio.gather(*took)) == [False] * 99 + [True]
    assert [one.body for one in await store.deliveries.waiting()] == [b"0"]
    assert not await store.deliveries.take("g", "push", b"later", 5)


async def test_a_known_one_and_new_ones_of_one_group_are_told_apart(store: SqliteStore) -> None:
    await store.deliveries.take("known", "push", b"", 1)
    ids = ["a", "known", "b", "a", "c"]
    took = await asyncio.gather(*(store.deliveries.take(one, "push", b"", 2) for one in ids))
    assert took == [True, False, True, False, True]


@pytest.mark.fault("C5")
async def test_a_settled_one_is_known_until_it_is_trimmed(store: SqliteStore) -> None:
    await store.deliveries.take("old", "push", b"", 1_000)
    await store.deliveries.take("open", "push", b"", 1_000)
    await store.deliveries.settle((await store.deliveries.waiting())[0].n, "ignored", "", 1_000)
    assert await store.deliveries.trim(1_000) == 0
    assert not await store.deliveries.take("old", "push", b"", 2_000)
    assert await store.deliveries.trim(1_001) == 1, "what waits is never forgotten"
    assert await store.deliveries.take("old", "push", b"", 2_000)
    assert contract.KEEP_MS >= 30 * contract.DAY_MS, "GitHub redelivers within days"


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


async def test_attempts_are_counted_and_given_back(store: SqliteStore) -> None:
    await store.deliveries.take("g", "push", b"x", 1)
    n = (await store.deliveries.waiting())[0].n
    await store.deliveries.tried(n)
    await store.deliveries.tried(n)
    await store.deliveries.held(n)
    assert (await store.deliveries.waiting())[0].attempts == 1
    await store.deliveries.settle(n, "failed", "five times", 3)
    assert await store.deliveries.reopen("g")
    [again] = await store.deliveries.waiting()
    assert (again.body, again.attempts) == (b"x", 0)
    await store.deliveries.settle(n, "handled", "", 3)
    assert not await store.deliveries.reopen("g"), "only what failed is tried again"


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


async def test_what_could_not_be_taken_is_noted(store: SqliteStore) -> None:
    await store.deliveries.note("bad", "push", "not JSON \ud800", 5)
    await store.deliveries.note("bad", "push", "again", 6)
    noted = await store.deliveries.find("bad")
    assert noted is not None
    assert (noted.state, noted.why, noted.has_body) == ("failed", "not JSON ?", False)
    assert not await store.deliveries.reopen("bad"), "there is nothing to handle"
    assert not await store.deliveries.taken("bad")
    assert await store.deliveries.take("bad", "push", b"{}", 7), "it came again, and is good now"
    assert not await store.deliveries.take("bad", "push", b"{}", 8)
    await store.deliveries.note("bad", "push", "too late", 9)
    [one] = await store.deliveries.waiting()
    assert (one.delivery_id, one.body, one.received_at_ms) == ("bad", b"{}", 7)


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


async def test_what_orders_are_about_is_found_by_repository(store: SqliteStore) -> None:
    def about(order_id: str, repository_id: int, subject: str, at_ms: int) -> OrderSubject:
        return OrderSubject(
            order_id=order_id, repository_id=repository_id, subject=subject, purpose="run",
            asked_by="7:ann", at_ms=at_ms,
        )  # fmt: skip

    rows = [about("a", 1, "issue:7", 1), about("b", 1, "issue:8", 2), about("c", 2, "issue:7", 3)]
    for row in [*rows, about("a", 9, "issue:9", 9)]:
        await store.subjects.add(row)
    assert await store.subjects.about(1) == [rows[1], rows[0]]
    assert await store.subjects.about(1, "issue:7") == [rows[0]]
    assert await store.subjects.of_order("a") == rows[0], "what was said first stays"
    assert await store.subjects.of_order("x") is None


@pytest.mark.fault("B1")
async def test_which_order_is_the_newest_does_not_depend_on_the_clock(store: SqliteStore) -> None:
    """Several in one millisecond, and one after the clock went back."""
    said = [*((letter, 5_000) for letter in "cfaebd"), ("x", 1)]
    for order_id, at_ms in said:
        await store.subjects.add(
            OrderSubject(
                order_id=order_id, repository_id=1, subject="issue:7", purpose="run",
                asked_by="", at_ms=at_ms,
            )
        )  # fmt: skip
    assert [one.order_id for one in await store.subjects.about(1, "issue:7")] == list("xdbeafc")

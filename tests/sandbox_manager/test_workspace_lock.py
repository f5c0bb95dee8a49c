"""Cancellation at any moment costs nobody else a turn."""

from __future__ import annotations

import asyncio
import random

import pytest

from agent_work_orders.sandbox_manager.workspace_lock import WorkspaceLock, WorkspaceLocks


@pytest.mark.parametrize("seed", range(40))
async def test_nobody_waits_for_ever_however_many_are_cancelled(seed: int) -> None:
    chance = random.Random(seed)
    lock = WorkspaceLock()
    alone = shared = 0

    async def visit(by_oneself: bool) -> None:
        nonlocal alone, shared
        entering = lock.alone() if by_oneself else lock.shared()
        async with entering:
            alone, shared = alone + by_oneself, shared + (not by_oneself)
            assert alone + (shared > 0) <= 1
            try:
                for _ in range(chance.randrange(4)):
                    await asyncio.sleep(0)
            finally:
                alone, shared = alone - by_oneself, shared - (not by_oneself)

    visits = [asyncio.create_task(visit(chance.random() < 0.4)) for _ in range(30)]
    for _ in range(25):
        await asyncio.sleep(0)
        chance.choice(visits).cancel()
    async with asyncio.timeout(30):
        ends = await asyncio.gather(*visits, return_exceptions=True)
    assert [end for end in ends if isinstance(end, Exception)] == []
    assert not lock.in_use


async def test_who_wants_it_alone_goes_before_newcomers() -> None:
    lock, order = WorkspaceLock(), []

    async def by_oneself() -> None:
        async with lock.alone():
            order.append("alone")

    async def with_others() -> None:
        async with lock.shared():
            order.append("shared")

    async with lock.shared():
        tasks = [asyncio.create_task(by_oneself())]
        await asyncio.sleep(0)
        tasks.append(asyncio.create_task(with_others()))
        await asyncio.sleep(0)
        assert order == []
    await asyncio.gather(*tasks)
    assert order == ["alone", "shared"]


async def test_locks_are_apart_and_go_with_their_last_user() -> None:
    locks = WorkspaceLocks()
    async with locks.alone("one"), locks.alone("two"):
        waiting = asyncio.create_task(_enter(locks, "one"))
        await asyncio.sleep(0)
        assert (locks.users("one"), locks.users("two")) == (2, 1)
        assert locks.in_use("one") and not locks.in_use("three")
        waiting.cancel()
        await asyncio.wait({waiting})
        assert locks.users("one") == 1
    assert not locks.in_use("one") and locks.users("one") == 0
    assert locks._locks == {}


async def _enter(locks: WorkspaceLocks, name: str) -> None:
    async with locks.shared(name):
        pass

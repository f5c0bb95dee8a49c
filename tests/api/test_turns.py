"""Requests that come together begin a few at a time, in order."""

from __future__ import annotations

import asyncio

from agent_work_orders.api.turns import Turns


async def test_who_comes_alone_waits_for_nothing() -> None:
    turns = Turns(2)
    for _ in range(5):
        taking = turns.take()
        try:
            taking.send(None)  # it ends without having waited
        except StopIteration:
            pass
        else:
            raise AssertionError("it waited")
        await asyncio.sleep(0)


async def test_many_begin_in_portions_and_in_order() -> None:
    turns = Turns(3)
    begun: list[int] = []
    sizes: list[int] = []

    async def one(number: int) -> None:
        await turns.take()
        begun.append(number)

    async with asyncio.TaskGroup() as group:
        for number in range(20):
            group.create_task(one(number))
        while len(begun) < 20:
            before = len(begun)
            await asyncio.sleep(0)
            sizes.append(len(begun) - before)
    assert begun == list(range(20))
    assert max(sizes) <= 6  # those who had waited, and the next who come


async def test_who_left_takes_nobodys_turn() -> None:
    turns = Turns(1)
    begun: list[int] = []

    async def one(number: int) -> None:
        await turns.take()
        begun.append(number)

    tasks = [asyncio.create_task(one(number)) for number in range(4)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.wait(tasks)
    assert begun == [0, 2, 3]

"""A write to the world: once, whatever is lost on the way."""

from __future__ import annotations

from typing import Any

import pytest

from agent_work_orders.clock import SystemClock
from agent_work_orders.errors import Transient, Unknown
from agent_work_orders.state_manager.once import once
from agent_work_orders.testing.fakes.memory_ledger import MemoryLedger


class World:
    """`answers`: what each write comes to: done, lost (done, not answered), dropped (neither)."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.there = 0
        self.did: list[str] = []
        self.ledger = MemoryLedger()

    async def look(self) -> dict[str, Any] | None:
        self.did.append("look")
        return {"id": 1} if self.there else None

    async def do(self) -> dict[str, Any]:
        self.did.append("do")
        answer = self.answers.pop(0)
        self.there += answer != "dropped"
        if answer != "done":
            raise Unknown("github_answer_lost", "no answer", hint="Look.")
        return {"id": 1}

    async def write(self) -> dict[str, Any]:
        return await once(
            self.ledger, SystemClock(), "k", order_id="wo-a", what="write", intent={},
            look=self.look, do=self.do,
        )  # fmt: skip


async def test_it_is_done_once_and_remembered() -> None:
    world = World("done")
    assert await world.write() == await world.write() == {"id": 1}
    assert world.did == ["do"]


@pytest.mark.fault("D7")
async def test_what_was_done_without_an_answer_is_adopted() -> None:
    world = World("lost")
    assert await world.write() == {"id": 1}
    assert world.did == ["do", "look"]
    assert world.there == 1


@pytest.mark.fault("D7")
async def test_what_did_not_arrive_is_tried_again_after_another_look() -> None:
    world = World("dropped", "done")
    with pytest.raises(Transient) as lost:
        await world.write()
    assert lost.value.code == "write_lost"
    assert await world.write() == {"id": 1}
    assert world.did == ["do", "look", "look", "do"]
    assert world.there == 1


@pytest.mark.fault("A4")
async def test_after_a_crash_the_world_is_read_before_anything_is_repeated() -> None:
    world = World("done")
    world.there = 1
    await world.ledger.intend("k", order_id="wo-a", what="write", intent={}, at_ms=1)
    assert await world.write() == {"id": 1}
    assert world.did == ["look"]

"""A tool below which a cancellation got lost: it is told again, and nothing is stuck."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent_work_orders.clock import SystemClock
from agent_work_orders.engines.embedded import worker
from agent_work_orders.engines.embedded.engine import EmbeddedEngine
from agent_work_orders.engines.perform import Performer
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.testing.conformance.engine import HELD, compiled, submit, until
from agent_work_orders.testing.fakes import tools
from agent_work_orders.tools.tool import JsonObject, ToolContext
from agent_work_orders.workflow_engine import events as on


class Deaf(tools.Hold):
    """Swallows its first cancellation, as wait_for of Python 3.11 does at times."""

    async def __call__(self, ctx: ToolContext, *, value: Any = None) -> JsonObject:
        try:
            return await super().__call__(ctx, value=value)
        except asyncio.CancelledError:
            return await super().__call__(ctx, value=value)


class Rig:
    def __init__(self, home: Path) -> None:
        self.world = tools.World()
        clock = SystemClock()
        self.store = SqliteStore.open(home, clock)
        performer = Performer(
            {**tools.make(self.world), "fake.hold": Deaf(self.world)},
            ledger=self.store.ledger,
            artifacts=self.store.artifacts,
            clock=clock,
            log=lambda *_: None,
        )
        self.engine = EmbeddedEngine(self.store.journal, performer, clock)

    async def crash(self) -> None:
        raise NotImplementedError


@pytest.fixture
async def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Rig]:
    monkeypatch.setattr(worker, "INSIST_S", 0.02)
    made = Rig(tmp_path / "home")
    await made.engine.start()
    yield made
    await made.engine.stop(drain_s=0)
    await made.store.close()


async def test_a_deaf_tool_is_told_again(rig: Rig) -> None:
    run_id = await submit(rig, compiled(HELD))
    await until(rig, run_id, lambda run: rig.world.begun["wait"] == 1)
    await rig.engine.post(run_id, on.CancelAsked(at_ms=0, by="test"))
    run = await until(rig, run_id, lambda run: run.stage == "ended")
    assert run.outcome == "cancelled"
    assert rig.world.cancelled == ["wait", "wait"]


async def test_stopping_the_engine_does_not_wait_for_a_deaf_tool(rig: Rig) -> None:
    run_id = await submit(rig, compiled(HELD))
    await until(rig, run_id, lambda run: rig.world.begun["wait"] == 1)
    async with asyncio.timeout(30):
        await rig.engine.stop(drain_s=0)
    assert rig.world.cancelled == ["wait", "wait"]

"""How long a tool may take, and what becomes of one that takes longer."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent_work_orders.clock import SystemClock
from agent_work_orders.engines import perform
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.testing.conformance.engine import order_facts
from agent_work_orders.tools.tool import JsonObject, ToolContext
from agent_work_orders.workflow_engine.catalogue import ToolInfo
from agent_work_orders.workflow_engine.events import TaskFailed, TaskSucceeded


class Slow:
    def __init__(self, *, takes_prompts: bool) -> None:
        self.info = ToolInfo(
            name="slow", summary="", inputs={}, outputs={}, takes_prompts=takes_prompts
        )

    async def __call__(self, ctx: ToolContext) -> JsonObject:
        await asyncio.sleep(0.2)
        return {}


async def answer(home: Path, tool: Slow) -> perform.Answer:
    clock = SystemClock()
    store = SqliteStore.open(home, clock)
    try:
        desk = perform.Desk(
            {"slow": tool},
            ledger=store.ledger,
            artifacts=store.artifacts,
            clock=clock,
            log=lambda *_: None,
        )
        order_id = "wo-aaaaaaaaaaaaaaaa"
        return await desk.perform(
            perform.Request(
                run_id=order_id,
                path="a",
                attempt=1,
                key=f"{order_id}:a:1",
                uses="slow",
                input={},
                timeout_s=0.01,
                phase=None,
                order=order_facts(order_id),
            )
        )
    finally:
        await store.close()


async def test_a_tool_that_does_not_come_back_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(perform, "GRACE_S", 0.01)
    said = await answer(tmp_path, Slow(takes_prompts=False))
    assert isinstance(said, TaskFailed)
    assert said.failure.code == "task_timeout"


async def test_a_tool_that_talks_with_people_limits_its_turns_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(perform, "GRACE_S", 0.01)
    assert isinstance(await answer(tmp_path, Slow(takes_prompts=True)), TaskSucceeded)

"""How long a tool may take, and what becomes of one that takes longer."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent_work_orders.clock import SystemClock
from agent_work_orders.engines import perform, task_attempt
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.testing.conformance.engine import order_facts
from agent_work_orders.tools.tool import JsonObject, Prompt, Tool, ToolContext
from agent_work_orders.workflow_engine.catalogue import ToolInfo
from agent_work_orders.workflow_engine.events import TaskFailed, TaskSucceeded


class Slow:
    info = ToolInfo(name="slow", summary="", inputs={}, outputs={})

    async def __call__(self, ctx: ToolContext) -> JsonObject:
        await asyncio.sleep(0.2)
        return {}


async def answer(home: Path, tool: Tool, said: list[Prompt] | None = None) -> perform.TaskAnswer:
    clock = SystemClock()
    store = SqliteStore.open(home, clock)
    try:
        performer = perform.Performer(
            {"slow": tool},
            ledger=store.ledger,
            artifacts=store.artifacts,
            clock=clock,
            log=lambda *_: None,
        )
        order_id = "wo-aaaaaaaaaaaaaaaa"
        return await performer.perform(
            task_attempt.TaskAttempt(
                run_id=order_id,
                path="a",
                attempt=1,
                key=f"{order_id}:a:1",
                uses="slow",
                input={},
                timeout_s=0.01,
                phase=None,
                order=order_facts(order_id),
            ),
            lambda: said or [],
        )
    finally:
        await store.close()


async def test_a_tool_that_does_not_come_back_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(perform, "GRACE_S", 0.01)
    said = await answer(tmp_path, Slow())
    assert isinstance(said, TaskFailed)
    assert said.failure.code == "task_timeout"


class Talks:
    """Two turns, each within the limit, together beyond it."""

    info = ToolInfo(name="slow", summary="", inputs={}, outputs={}, takes_prompts=True)

    async def __call__(self, ctx: ToolContext) -> JsonObject:
        await asyncio.sleep(0.3)
        for prompt in ctx.prompts():
            await asyncio.sleep(0.3)
            ctx.delivered(prompt.prompt_id)
        return {}


async def test_a_prompt_brings_a_turns_time_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(perform, "GRACE_S", 0.45)
    said = [Prompt(prompt_id="p1", text="and this")]
    answered = await answer(tmp_path, Talks(), said)
    assert isinstance(answered, TaskSucceeded)
    assert answered.prompts == ("p1",)

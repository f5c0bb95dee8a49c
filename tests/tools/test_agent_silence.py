"""An agent that says nothing for too long is ended; one that is silent for less is left alone."""

from __future__ import annotations

from typing import Any

import pytest
from bench import Bench

from agent_work_orders.workflow_engine.events import TaskFailed

WORK = "if [ -e half ]; then echo whole > whole; else echo half > half; sleep 600; fi; echo gone on"


def silent_for(bench: Bench, idle_s: float | None) -> None:
    bench.idle_s = idle_s
    bench.restart()


def order(line: str) -> dict[str, Any]:
    return {"agent": {"name": "command", "argv": ["sh", "-c", line]}, "agent_timeout_s": 3_600.0}


@pytest.mark.fault("G4")
async def test_a_silent_agent_is_ended_and_its_work_is_kept(bench: Bench) -> None:
    silent_for(bench, 1.0)
    given = order(WORK)
    failed = await bench.perform("agent.prompt", path="build", prompt="go", order=given)
    assert isinstance(failed, TaskFailed), failed
    assert (failed.failure.code, failed.failure.category) == ("agent_timeout", "permanent")
    assert "silent" in failed.failure.message and "AWO_AGENT_IDLE_S" in failed.failure.hint
    silent_for(bench, 60.0)
    done = await bench.do("agent.prompt", path="build", attempt=2, prompt="go", order=given)
    assert done["text"] == "gone on"
    assert {"half", "whole"} <= await bench.files()


async def test_a_scripted_agent_is_no_exception(bench: Bench) -> None:
    silent_for(bench, 0.2)
    chosen = {"agent": {"name": "scripted", "script": "default: [{delay: 600}]"}}
    failed = await bench.perform("agent.prompt", path="build", prompt="go", order=chosen)
    assert isinstance(failed, TaskFailed) and failed.failure.code == "agent_timeout"


@pytest.mark.fault("G20")
@pytest.mark.parametrize("idle_s", [60.0, None])
async def test_below_the_limit_nobody_is_ended(bench: Bench, idle_s: float | None) -> None:
    silent_for(bench, idle_s)
    done = await bench.do(
        "agent.prompt", path="build", prompt="go", order=order("sleep 1; echo thought")
    )
    assert done["text"] == "thought"

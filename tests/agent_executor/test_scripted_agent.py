"""The scripted agent: its script, its steps, its honesty."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_work_orders.agent_executor import script
from agent_work_orders.agent_executor.agent import AgentRequest, Entry, Turn
from agent_work_orders.agent_executor.scripted import LABEL, ScriptedAgent
from agent_work_orders.clock import SystemClock
from agent_work_orders.errors import Refused
from agent_work_orders.testing.fakes.local_sandbox import LocalSandbox

SCRIPT = """\
version: 1
default:
  - text: Nothing to do.
commands:
  plan:
    - write: {path: specs/plan.md, content: "# Plan\\n"}
    - append: {path: specs/plan.md, content: "more\\n"}
    - thinking: hm
    - text: Planned.
    - usage: {cost_usd: 0.5, input_tokens: 10}
    - usage: {output_tokens: 3}
  build:
    calls:
      - - write: {path: calc.py, content: "a - b"}
      - - replace: {path: calc.py, old: "-", new: "+"}
        - run: [cat, calc.py]
  clean:
    - write: {path: "-rf", content: x}
    - delete: "-rf"
  wait:
    - fail: {kind: rate_limit, message: slow down, retry_after_s: 60}
"""


async def run(
    folder: Path, text: str, command: str | None = None, **more: Any
) -> tuple[Turn, list[Entry], LocalSandbox]:
    sandbox = LocalSandbox(folder)
    entries: list[Entry] = []
    agent = ScriptedAgent(script.parse(text), SystemClock())
    request = AgentRequest(prompt="do it", command=command, **more)
    return await agent.run(request, sandbox, transcript=entries.append), entries, sandbox


async def test_follows_the_steps_of_its_command(tmp_path: Path) -> None:
    turn, _, sandbox = await run(tmp_path, SCRIPT, "plan")
    assert turn.ok and turn.text == "Planned."
    assert await sandbox.read_file("specs/plan.md") == b"# Plan\nmore\n"
    assert (turn.usage.cost_usd, turn.usage.input_tokens, turn.usage.output_tokens) == (0.5, 10, 3)
    assert turn.usage.turns == 2


async def test_says_that_it_is_scripted(tmp_path: Path) -> None:
    turn, entries, _ = await run(tmp_path, SCRIPT, "plan")
    assert turn.scripted and ScriptedAgent.scripted
    assert Entry(kind="system", text=LABEL, data={"scripted": True}) in entries
    assert all(entry.data["scripted"] for entry in entries if entry.kind == "text")


async def test_the_second_call_of_a_command_does_something_else(tmp_path: Path) -> None:
    for number, content in ((1, b"a - b"), (2, b"a + b")):
        turn, _, sandbox = await run(tmp_path, SCRIPT, "build", command_call=number)
        assert turn.ok and await sandbox.read_file("calc.py") == content
    turn, _, _ = await run(tmp_path, SCRIPT, "build", command_call=3)
    assert turn.error is not None and "does not contain '-'" in turn.error.message


async def test_a_failure_is_told_and_the_default_comes_last(tmp_path: Path) -> None:
    turn, _, _ = await run(tmp_path, SCRIPT, "wait")
    assert turn.error is not None and turn.error.kind == "rate_limit"
    assert turn.error.retry_at_ms is not None
    turn, _, _ = await run(tmp_path, SCRIPT, "other")
    assert turn.ok and turn.text == "Nothing to do."
    turn, _, _ = await run(tmp_path, "commands: {plan: [{text: x}]}", "other")
    assert turn.error is not None and "no steps for the command 'other'" in turn.error.message


async def test_stays_inside_the_workspace(tmp_path: Path) -> None:
    turn, _, sandbox = await run(tmp_path, SCRIPT, "clean")
    assert turn.ok and list(sandbox.workspace.iterdir()) == []
    for step in (
        "write: {path: ../out, content: x}",
        "delete: ../home",
        "append: {path: /etc/x, content: y}",
    ):
        turn, _, _ = await run(tmp_path, f"default: [{{{step}}}]")
        assert turn.error is not None and turn.error.kind == "invalid_request"


async def test_a_command_that_fails_fails_the_turn(tmp_path: Path) -> None:
    turn, _, _ = await run(tmp_path, "default: [{run: {argv: [sh, -c, exit 4]}}, {text: never}]")
    assert turn.error is not None
    assert (turn.error.kind, turn.error.exit_code, turn.text) == ("exit_code", 4, "")
    turn, _, _ = await run(tmp_path, "default: [{run: {argv: [sh, -c, exit 4], expect: 4}}]")
    assert turn.ok


@pytest.mark.fault("G4")
@pytest.mark.fault("G20")
async def test_delays_meet_the_limits(tmp_path: Path) -> None:
    turn, _, _ = await run(tmp_path, "default: [{delay: 600}]", timeout_s=0.2)
    assert turn.error is not None and turn.error.kind == "timeout"
    turn, _, _ = await run(tmp_path, "default: [{delay: 600}]", idle_s=0.1)
    assert turn.error is not None and turn.error.kind == "idle"
    turn, _, _ = await run(tmp_path, "default: [{delay: 0.1}]", idle_s=60)
    assert turn.ok


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("default:\n  - txt: x\n", 2, "did you mean 'text'"),
        ("default:\n  - text: x\n  - write: {path: a}\n", 3, "content"),
        ("default:\n  - write: {path: a, content: b, mode: 7}\n", 2, "mode"),
        ("default:\n- text: x\ncommand: {}\n", 3, "did you mean 'commands'"),
        ("commands:\n  plan: 5\n", 2, "steps are a list"),
        ("commands:\n  plan:\n    calls: []\n", 3, "list of lists"),
        ("default:\n  - fail: {kind: tired}\n", 2, "tired"),
        ("default:\n  - text: x\n   - text: y\n", 3, ""),
        ("version: 2\n", 1, "version"),
        ("- text: x\n", 1, "mapping"),
        ("", 1, "mapping"),
        ("a: &a [*a]\n", 1, "Anchors"),
        ("default: !!python/object/apply:os.system [id]\n", 1, ""),
    ],
)
def test_a_wrong_script_is_refused_with_its_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(Refused) as caught:
        script.parse(text)
    assert caught.value.code == "script_invalid"
    assert caught.value.context["line"] == line
    assert problem in caught.value.message


@given(st.text(max_size=200))
def test_any_text_is_a_script_or_refused(text: str) -> None:
    try:
        script.parse(text)
    except Refused as refused:
        assert refused.code == "script_invalid"

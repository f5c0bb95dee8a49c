"""From an order's choice to an agent; and where Claude Code's program is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_work_orders.agent_executor import claude_code
from agent_work_orders.agent_executor.agent import AgentRequest
from agent_work_orders.agent_executor.claude_code import ClaudeCode, Options, Settings
from agent_work_orders.agent_executor.claude_sign_in import SignIn
from agent_work_orders.agent_executor.registry import Registry
from agent_work_orders.clock import SystemClock
from agent_work_orders.errors import Environmental, Refused
from agent_work_orders.testing.fakes.local_sandbox import LocalSandbox

KEY = SignIn(api_key="k")


@pytest.mark.parametrize(
    "chosen",
    [
        {"name": "claude_code", "model": "opus", "max_turns": 3},
        {"name": "command", "argv": ["my-agent", "{prompt_file}"]},
        {"name": "scripted", "script": "default: [{text: hi}]"},
    ],
)
def test_makes_the_named_agent(chosen: dict[str, Any]) -> None:
    assert Registry(SystemClock()).create(chosen).name == chosen["name"]


@pytest.mark.parametrize(
    ("chosen", "code", "hint"),
    [
        ({"name": "claude-code"}, "agent_unknown", "'claude_code'"),
        ({}, "agent_unknown", "Known agents"),
        ({"name": "command", "args": ["x"]}, "agent_option_invalid", "'argv'"),
        ({"name": "command", "argv": "sh -c x"}, "agent_option_invalid", "argv"),
        ({"name": "command"}, "agent_option_invalid", "argv"),
        ({"name": "scripted", "script": "nonsense: 1"}, "script_invalid", ""),
        ({"name": "claude_code", "model": "--help"}, "agent_option_invalid", "sonnet"),
        ({"name": "claude_code", "api_key": "x"}, "agent_option_invalid", ""),
    ],
)
def test_refuses_what_it_does_not_know(chosen: dict[str, Any], code: str, hint: str) -> None:
    with pytest.raises(Refused) as caught:
        Registry(SystemClock()).create(chosen)
    assert caught.value.code == code
    assert hint in caught.value.hint


def make_binary(folder: Path, mode: int = 0o755) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "claude"
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


def test_check_says_what_is_missing(tmp_path: Path) -> None:
    def check(**settings: Any) -> str | None:
        return ClaudeCode(SystemClock(), Settings(**settings)).check()

    closed = make_binary(tmp_path / "closed" / "bin")
    (tmp_path / "closed").chmod(0o700)
    private = make_binary(tmp_path / "open", 0o700)
    assert "not found" in (check(binary=str(tmp_path / "none")) or "")
    assert check(binary=str(closed), other_user=False, sign_in=KEY) is None
    assert "ANTHROPIC_API_KEY" in (check(binary=str(closed), other_user=False) or "")
    assert "cannot be run by the agent's user" in (check(binary=str(closed), sign_in=KEY) or "")
    assert claude_code.unreachable(str(private)) is not None


async def test_a_missing_binary_is_the_environments_fault(tmp_path: Path) -> None:
    agent = ClaudeCode(SystemClock(), Settings(binary=str(tmp_path / "none")))
    with pytest.raises(Environmental) as caught:
        await agent.run(AgentRequest(prompt="x"), LocalSandbox(tmp_path), transcript=print)
    assert caught.value.code == "agent_missing"


def test_values_cannot_become_flags() -> None:
    agent = ClaudeCode(SystemClock(), Settings(), Options())
    argv = agent.argv("claude", AgentRequest(prompt="p", instructions="--bad\0", max_turns=4), None)
    assert "--append-system-prompt=--bad" in argv
    assert "--model=sonnet" in argv and "--max-turns=4" in argv
    assert not any(part.startswith("--resume") for part in argv)
    long = agent.argv("claude", AgentRequest(prompt="p", instructions="ü" * 200_000), None)
    assert max(len(part.encode()) for part in long) < 131_072
    with pytest.raises(Refused):
        agent.argv("claude", AgentRequest(prompt="p", model="-x"), None)


def test_the_key_goes_only_into_the_environment() -> None:
    agent = ClaudeCode(
        SystemClock(), Settings(sign_in=SignIn(api_key="sk-x", base_url="http://b"), scrub=True)
    )
    env = agent.environment()
    assert env["ANTHROPIC_API_KEY"] == "sk-x" and env["ANTHROPIC_BASE_URL"] == "http://b"
    assert env["CLAUDE_CODE_SUBPROCESS_ENV_SCRUB"] == "1"
    assert "sk-x" not in " ".join(agent.argv("claude", AgentRequest(prompt="p"), None))

"""From the name and options that an order carries to an agent that can run."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from agent_work_orders.agent_executor import claude_code, command, scripted
from agent_work_orders.agent_executor.agent import Agent
from agent_work_orders.clock import Clock
from agent_work_orders.errors import Refused
from agent_work_orders.security import given

Options = TypeVar("Options", bound=msgspec.Struct)

DESCRIPTIONS = {
    "claude_code": "Claude Code, Anthropic's coding agent (needs a key)",
    "command": "any program: argv with {prompt_file} or {prompt}, else the prompt by stdin",
    "scripted": "follows a YAML script; no model, for demos and tests",
}


class Registry:
    def __init__(
        self, clock: Clock, *, claude: claude_code.Settings | None = None, script: str = ""
    ) -> None:
        """`script` is followed by a scripted agent for which an order brings none."""
        self._clock = clock
        self._claude = claude or claude_code.Settings()
        self._script = script

    def names(self) -> tuple[str, ...]:
        return tuple(DESCRIPTIONS)

    def create(self, chosen: Mapping[str, Any]) -> Agent:
        """`{"name": "command", "argv": [...]}`. Raises `Refused` (`agent_unknown`,
        `agent_option_invalid`, `script_invalid`); nothing is started."""
        options = {key: value for key, value in chosen.items() if key != "name"}
        match chosen.get("name"):
            case "claude_code":
                return claude_code.ClaudeCode(
                    self._clock, self._claude, _read(options, claude_code.Options)
                )
            case "command":
                return command.CommandAgent(_read(options, command.Options))
            case "scripted":
                if self._script:
                    options.setdefault("script", self._script)
                return scripted.ScriptedAgent.from_options(
                    _read(options, scripted.Options), self._clock
                )
            case name:
                raise _unknown(name)


def _read(options: dict[str, Any], kind: type[Options]) -> Options:
    known = list(kind.__struct_fields__)
    for name in options:
        if name not in known:
            close = difflib.get_close_matches(str(name), known, n=1)
            raise Refused(
                "agent_option_invalid",
                f"The agent has no option {_word(name)}",
                hint=f"Did you mean {close[0]!r}?" if close else f"It has: {', '.join(known)}.",
                field="agent",
            )
    try:
        return msgspec.convert(options, kind)
    except msgspec.ValidationError as error:
        raise Refused(
            "agent_option_invalid",
            f"An option of the agent is wrong: {error}",
            hint=f"It has: {', '.join(known)}.",
            field="agent",
        ) from error


def _word(name: object) -> str:
    """Repeated if it has the form of a name; else it may be a secret in the wrong place."""
    text = str(name)
    return repr(text) if re.fullmatch(r"[A-Za-z_-]{1,40}", text) else f"({given.shape(text)})"


def _unknown(name: object) -> Refused:
    close = difflib.get_close_matches(str(name), list(DESCRIPTIONS), n=1)
    known = ", ".join(DESCRIPTIONS)
    return Refused(
        "agent_unknown",
        f"No agent is called {_word(name)}",
        hint=f"Did you mean {close[0]!r}?" if close else f"Known agents: {known}.",
        field="agent",
    )

"""The scripted agent's script: YAML in, checked values out, errors with line numbers. Pure.

    version: 1
    default:                       # any turn that nothing else names
      - text: Nothing to do.
    commands:
      plan:                        # the steps of every `plan` turn
        - write: {path: specs/plan.md, content: "# Plan\n"}
        - text: Planned.
      build:
        calls:                     # the first `build`, the second…; the last one repeats
          - [{replace: {path: calc.py, old: "a - b", new: "a * b"}}]
          - [{replace: {path: calc.py, old: "a * b", new: "a + b"}}]

Steps: write, append, delete, replace, run, text, thinking, delay, fail, usage.
"""

from __future__ import annotations

import difflib
from typing import Any

import msgspec

from agent_work_orders.agent_executor.agent import ErrorKind
from agent_work_orders.errors import Refused
from agent_work_orders.workflow_engine import yaml_source
from agent_work_orders.workflow_engine.yaml_source import Path


class _Step(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class Write(_Step, frozen=True, kw_only=True):
    path: str
    content: str


class Append(_Step, frozen=True, kw_only=True):
    path: str
    content: str


class Delete(_Step, frozen=True, kw_only=True):
    path: str


class Replace(_Step, frozen=True, kw_only=True):
    path: str
    old: str
    new: str


class Run(_Step, frozen=True, kw_only=True):
    """A command; an exit code other than `expect` fails the turn (None accepts any)."""

    argv: tuple[str, ...]
    expect: int | None = 0


class Say(_Step, frozen=True, kw_only=True):
    text: str


class Think(_Step, frozen=True, kw_only=True):
    text: str


class Delay(_Step, frozen=True, kw_only=True):
    seconds: float


class Fail(_Step, frozen=True, kw_only=True):
    kind: ErrorKind = "crashed"
    message: str = "the script says so"
    retry_after_s: float | None = None
    exit_code: int | None = None


class Spend(_Step, frozen=True, kw_only=True):
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    turns: int = 1


Step = Write | Append | Delete | Replace | Run | Say | Think | Delay | Fail | Spend
Steps = tuple[Step, ...]

_KINDS: dict[str, type[Step]] = {
    "write": Write,
    "append": Append,
    "delete": Delete,
    "replace": Replace,
    "run": Run,
    "text": Say,
    "thinking": Think,
    "delay": Delay,
    "fail": Fail,
    "usage": Spend,
}
# Steps that may be written as one value: `text: hello` for `text: {text: hello}`.
_SHORT = {"text": "text", "thinking": "text", "delay": "seconds", "delete": "path", "run": "argv"}


class Script(msgspec.Struct, frozen=True, kw_only=True):
    default: Steps | None = None
    commands: dict[str, tuple[Steps, ...]] = {}

    def steps(self, command: str | None, command_call: int) -> Steps | None:
        """What to do in this turn; None when the script has no answer."""
        sequence = self.commands.get(command) if command is not None else None
        if sequence:
            return sequence[min(max(command_call, 1), len(sequence)) - 1]
        return self.default


def parse(text: str) -> Script:
    """Raises `Refused` (`script_invalid`) that names the line."""
    try:
        document = yaml_source.load(text, "script")
    except yaml_source.Unreadable as error:
        first = error.problems[0]
        raise _invalid(first.message, first.line) from error
    try:
        return _script(document)
    except _Wrong as wrong:
        finding = yaml_source.Finding(wrong.at, wrong.problem)
        [placed] = yaml_source.locate(text, "script", [finding])
        raise _invalid(wrong.problem, placed.line) from None


class _Wrong(Exception):
    """A problem and where in the document it is."""

    def __init__(self, problem: str, at: Path) -> None:
        super().__init__(problem)
        self.problem = problem
        self.at = at


def _script(document: Any) -> Script:
    top = _mapping(document, (), "the script", ("version", "default", "commands"))
    if top.get("version", 1) != 1:
        raise _Wrong("this version of scripts is not known (use 1)", ("version",))
    commands = _mapping(top.get("commands") or {}, ("commands",), "commands")
    return Script(
        default=_steps(top["default"], ("default",)) if "default" in top else None,
        commands={name: _sequence(value, ("commands", name)) for name, value in commands.items()},
    )


def _sequence(value: Any, at: Path) -> tuple[Steps, ...]:
    if isinstance(value, dict):
        calls = _mapping(value, at, "a command", ("calls",)).get("calls")
        if not isinstance(calls, list) or not calls:
            raise _Wrong("`calls` is a list of lists of steps", (*at, "calls"))
        return tuple(_steps(steps, (*at, "calls", index)) for index, steps in enumerate(calls))
    return (_steps(value, at),)


def _steps(value: Any, at: Path) -> Steps:
    if not isinstance(value, list):
        raise _Wrong("steps are a list (`- text: …`)", at)
    return tuple(_step(item, (*at, index)) for index, item in enumerate(value))


def _step(item: Any, at: Path) -> Step:
    if not isinstance(item, dict) or len(item) != 1:
        raise _Wrong("a step is one of " + ", ".join(_KINDS), at)
    [(name, value)] = item.items()
    kind = _KINDS.get(name)
    if kind is None:
        raise _Wrong(f"no step is called {name!r}{_meant(name, _KINDS)}", at)
    if name in _SHORT and not isinstance(value, dict):
        value = {_SHORT[name]: value}
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise _Wrong(f"{name}: {error}", at) from error


def _mapping(
    value: Any, at: Path, what: str, keys: tuple[str, ...] | None = None
) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Wrong(f"{what} must be a mapping", at)
    for key in value:
        if keys is not None and key not in keys:
            raise _Wrong(f"unknown key {key!r}{_meant(key, keys)}", (*at, key))
    return value


def _meant(name: str, known: Any) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f", did you mean {close[0]!r}?" if close else ""


def _invalid(problem: str, line: int) -> Refused:
    return Refused(
        "script_invalid",
        f"The agent script is wrong in line {line}: {problem}",
        hint="See docs/scripted-agent.md for the form of a script.",
        field="script",
        line=line,
    )

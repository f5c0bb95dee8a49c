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
    calls:                         # by number of the order's turn, before everything else
      3: [{fail: {kind: rate_limit, message: slow down, retry_after_s: 60}}]

Steps: write, append, delete, replace, run, text, thinking, delay, fail, usage.
"""

from __future__ import annotations

import difflib
from typing import Any

import msgspec
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent

from agent_work_orders.agent_executor.agent import ErrorKind
from agent_work_orders.errors import Refused

SCRIPT_LIMIT_BYTES = 1_048_576


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
    calls: dict[int, Steps] = {}

    def steps(self, command: str | None, call: int, command_call: int) -> Steps | None:
        """What to do in this turn; None when the script has no answer."""
        if call in self.calls:
            return self.calls[call]
        sequence = self.commands.get(command) if command is not None else None
        if sequence:
            return sequence[min(max(command_call, 1), len(sequence)) - 1]
        return self.default


def parse(text: str) -> Script:
    """Raises `Refused` (`script_invalid`) that names the line."""
    if len(text.encode("utf-8", "replace")) > SCRIPT_LIMIT_BYTES:
        raise _invalid("it is larger than 1 MiB", 1)
    try:
        if any(isinstance(event, AliasEvent) for event in YAML(pure=True).parse(text)):
            raise _invalid("aliases (`*name`) are not allowed", 1)
        document = YAML(typ="rt", pure=True).load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark
        raise _invalid(str(error.problem), mark.line + 1 if mark is not None else 1) from error
    except (YAMLError, ValueError, RecursionError) as error:
        raise _invalid(f"not YAML: {error}", 1) from error
    top = _mapping(document, 1, "the script", ("version", "default", "commands", "calls"))
    if top.get("version", 1) != 1:
        raise _invalid("this version of scripts is not known (use 1)", _line(top, "version"))
    commands = top.get("commands") or {}
    calls = top.get("calls") or {}
    _mapping(commands, _line(top, "commands"), "commands")
    _mapping(calls, _line(top, "calls"), "calls")
    return Script(
        default=_steps(top["default"], _line(top, "default")) if "default" in top else None,
        commands={
            str(name): _sequence(value, _line(commands, name)) for name, value in commands.items()
        },
        calls={
            _number(key, _line(calls, key)): _steps(value, _line(calls, key))
            for key, value in calls.items()
        },
    )


def _sequence(value: Any, line: int) -> tuple[Steps, ...]:
    if isinstance(value, dict):
        mapping = _mapping(value, line, "a command", ("calls",))
        calls = mapping.get("calls")
        if not isinstance(calls, list) or not calls:
            raise _invalid("`calls` is a list of lists of steps", _line(mapping, "calls"))
        return tuple(_steps(steps, _line(calls, index)) for index, steps in enumerate(calls))
    return (_steps(value, line),)


def _steps(value: Any, line: int) -> Steps:
    if not isinstance(value, list):
        raise _invalid("steps are a list (`- text: …`)", line)
    return tuple(_step(item, _line(value, index)) for index, item in enumerate(value))


def _step(item: Any, line: int) -> Step:
    if not isinstance(item, dict) or len(item) != 1:
        raise _invalid("a step is one of " + ", ".join(_KINDS), line)
    [(name, value)] = item.items()
    kind = _KINDS.get(name)
    if kind is None:
        raise _invalid(f"no step is called {name!r}{_meant(str(name), _KINDS)}", line)
    if name in _SHORT and not isinstance(value, dict):
        value = {_SHORT[name]: value}
    try:
        return msgspec.convert(_plain(value), kind)
    except msgspec.ValidationError as error:
        raise _invalid(f"{name}: {error}", line) from error


def _mapping(value: Any, line: int, what: str, keys: tuple[str, ...] | None = None) -> Any:
    if not isinstance(value, dict):
        raise _invalid(f"{what} must be a mapping", line)
    for key in value:
        if keys is not None and key not in keys:
            raise _invalid(f"unknown key {key!r}{_meant(str(key), keys)}", _line(value, key))
    return value


def _number(key: Any, line: int) -> int:
    if not isinstance(key, int) or isinstance(key, bool) or key < 1:
        raise _invalid(f"{key!r} is not the number of a call (1, 2, …)", line)
    return key


def _line(container: Any, key: Any) -> int:
    marks = getattr(container, "lc", None)
    place = (getattr(marks, "data", None) or {}).get(key)
    return int(place[0]) + 1 if place else 1


def _plain(value: Any) -> Any:
    """ruamel's values as plain ones, for msgspec."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value


def _meant(name: str, known: Any) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f", did you mean {close[0]!r}?" if close else ""


def _invalid(problem: str, line: int) -> Refused:
    return Refused(
        "script_invalid",
        f"The agent script is wrong in line {line}: {problem}",
        hint="See the documentation of the scripted agent for the form of a script.",
        field="script",
        line=line,
    )

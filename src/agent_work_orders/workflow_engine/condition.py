"""Conditions (`when`, `until`) are CEL: total, side-effect free, with real limits.

An error is never true: whatever is not the boolean `true` or `false` raises `ConditionError`.
The C++ evaluator counts iterations (a thousand or so) and nesting (32), its regular expressions
are RE2 (linear); what is left to us is the length of an expression.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from agent_work_orders.errors import Refused
from agent_work_orders.workflow_engine.template import Reference, shorten

if TYPE_CHECKING:
    from cel_expr_python import cel

ROOTS = ("inputs", "tasks", "order", "item", "index", "iteration", "previous")
# A condition a person can read. 10,000 terms would cost 0.1 s to compile.
MAX_CONDITION_CHARS = 1_000
_CACHED = 4_096

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
      | (?P<text>[rRbB]{0,2}(?:'{3}.*?'{3}|\"{3}.*?\"{3}|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"))
      | (?P<name>[A-Za-z_]\w*)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


class ConditionError(Refused):
    """A condition that cannot be read, or that did not come out as true or false."""


def evaluate(source: str, scope: Mapping[str, Any]) -> bool:
    """Whether the condition holds. Raises `ConditionError`; never guesses."""
    program = _compile(source)
    try:
        result = program.eval(data=scope)
    except (RuntimeError, ValueError, TypeError, OverflowError) as error:
        raise _failed(source, str(error)) from None
    value = result.value()
    if value is True or value is False:
        return bool(value)
    if result.type().name() == "ERROR":
        raise _failed(source, str(value))
    raise ConditionError(
        "condition_error",
        f"`{shorten(source)}` is {result.type().name().lower()}, not true or false",
        hint="Compare it with something, for example `… == 'x'`.",
    )


def check(source: str) -> None:
    """Raises `ConditionError` unless the condition can be read and may be a boolean."""
    program = _compile(source)
    kind = program.return_type().name()
    if kind not in ("BOOL", "DYN"):
        raise ConditionError(
            "condition_error",
            f"`{shorten(source)}` is always {kind.lower()}, never true or false",
            hint="Compare it with something, for example `… == 'x'`.",
        )


@lru_cache(maxsize=_CACHED)
def references(source: str) -> frozenset[Reference]:
    """Every path from a root that the condition reads, as far as it is literal."""
    tokens = [
        (match.lastgroup, match.group())
        for match in _TOKEN.finditer(source)
        if match.lastgroup != "space"
    ]
    found = set()
    for at, (kind, text) in enumerate(tokens):
        if kind != "name" or text not in ROOTS or (at and tokens[at - 1][1] == "."):
            continue
        found.add(Reference(text, _steps(tokens, at + 1), optional=True))
    return frozenset(found)


def _steps(tokens: list[tuple[str | None, str]], at: int) -> tuple[str, ...]:
    names: list[str] = []
    while at + 1 < len(tokens):
        if tokens[at][1] == "." and tokens[at + 1][0] == "name":
            if at + 2 < len(tokens) and tokens[at + 2][1] == "(":  # a method: `.size()`
                break
            names.append(tokens[at + 1][1])
            at += 2
        elif tokens[at][1] == "[" and tokens[at + 1][0] == "text" and tokens[at + 2][1] == "]":
            names.append(tokens[at + 1][1].strip("'\""))
            at += 3
        else:
            break
    return tuple(names)


@lru_cache(maxsize=1)
def _environment() -> cel.Env:
    # Imported late: 30 ms that `awo --help` does not need.
    from cel_expr_python import cel

    kinds = {root: cel.Type.DYN for root in ROOTS}
    kinds |= {"index": cel.Type.INT, "iteration": cel.Type.INT}
    return cel.NewEnv(variables=kinds)


@lru_cache(maxsize=_CACHED)
def _compile(source: str) -> cel.Expression:
    if len(source) > MAX_CONDITION_CHARS:
        raise ConditionError(
            "condition_error",
            f"The condition has {len(source):,} characters; the limit is {MAX_CONDITION_CHARS:,}",
            hint="Compute it in a task and look at its outputs.",
        )
    if "{{" in source:
        raise ConditionError(
            "condition_error",
            f"`{shorten(source)}` contains a template",
            hint="Conditions read names directly: `inputs.x == 'y'`, without {{ }}.",
        )
    try:
        return _environment().compile(source)
    except (RuntimeError, ValueError, TypeError) as error:
        raise ConditionError(
            "condition_error",
            f"`{shorten(source)}` cannot be read: {_plain(str(error))}",
            hint='Conditions are CEL; ids with a dash are written tasks["x-y"].',
        ) from None


def _failed(source: str, why: str) -> ConditionError:
    return ConditionError(
        "condition_error",
        f"`{shorten(source)}` has no answer: {_plain(why)}",
        hint="Guard what may be absent with `has(…)`, and compare values of one type.",
    )


def _plain(message: str) -> str:
    """CEL's message without its status words and the drawing of the position."""
    first = message.split("\n", 1)[0]
    first = re.sub(r"^[A-Z_]+: ", "", first)
    first = re.sub(r"^ERROR: <input>:\d+:\d+: ", "", first)
    return re.sub(r" ?\[[A-Z_]+\]$", "", first)

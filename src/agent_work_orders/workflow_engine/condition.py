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
from agent_work_orders.workflow_engine.template_values import Reference, shorten

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


_PLAIN_KEY = re.compile(r"""(['"])([^'"\\]+)\1""")


class ConditionError(Refused):
    """A condition that cannot be read, or that did not come out as true or false."""


def evaluate(source: str, scope: Mapping[str, Any]) -> bool:
    """Whether the condition holds. Raises `ConditionError`; never guesses."""
    program = _compile(source)
    try:
        result = program.eval(data=_only_named(source, scope))
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
        if kind != "name" or text not in ROOTS or _is_member(tokens, at):
            continue
        found.add(Reference(text, _steps(tokens, at + 1), optional=True))
    return frozenset(found)


def _is_member(tokens: list[tuple[str | None, str]], at: int) -> bool:
    """Whether the name follows a dot that follows something: `x.tasks`, not `.tasks`."""
    if at == 0 or tokens[at - 1][1] != ".":
        return False
    kind, text = tokens[at - 2] if at > 1 else (None, "")
    return kind in ("name", "text") or text in (")", "]", "}")


def _only_named(source: str, scope: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the scope that the condition reads. The evaluator copies all it is given, so a
    megabyte of output beside a flag would cost as much as if it were read."""
    wanted: dict[str, Any] = {}
    for reference in _shortest_first(source):
        if reference.root in scope:
            _graft(wanted, reference.root, reference.names, scope[reference.root])
    return wanted


@lru_cache(maxsize=_CACHED)
def _shortest_first(source: str) -> tuple[Reference, ...]:
    return tuple(sorted(references(source), key=lambda found: len(found.names)))


def _graft(holder: dict[str, Any], name: str, names: tuple[str, ...], value: Any) -> None:
    """Copy the path `name.names…` of the value into the holder, shorter paths first."""
    while names and isinstance(value, Mapping):
        inner = holder.setdefault(name, {})
        if inner is value:  # a shorter path took all of it
            return
        holder, name, names = inner, names[0], names[1:]
        if name not in value:
            return
        value = value[name]
    holder[name] = value


def _steps(tokens: list[tuple[str | None, str]], at: int) -> tuple[str, ...]:
    names: list[str] = []
    while at + 1 < len(tokens):
        if tokens[at][1] == "." and tokens[at + 1][0] == "name":
            if at + 2 < len(tokens) and tokens[at + 2][1] == "(":  # a method: `.size()`
                break
            names.append(tokens[at + 1][1])
            at += 2
        elif (
            tokens[at][1] == "["
            and (key := _PLAIN_KEY.fullmatch(tokens[at + 1][1]))
            and tokens[at + 2 : at + 3] == [("other", "]")]
        ):
            names.append(key.group(2))
            at += 3
        else:
            break
    return tuple(names)


@lru_cache(maxsize=1)
def _environment() -> cel.Env:
    # Imported late: 30 ms that `awo --help` does not need.
    from cel_expr_python import cel

    kinds = dict.fromkeys(ROOTS, cel.Type.DYN)
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

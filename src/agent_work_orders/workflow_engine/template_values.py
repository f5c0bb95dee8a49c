"""What templates and their expressions are made of: paths into a scope, and values that may be
missing. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from agent_work_orders.errors import Refused

Scope = Mapping[str, Any]
Expression = Callable[[Scope], Any]

# One tool input: larger things travel as artifacts or files.
MAX_RENDERED_CHARS = 1_000_000


class TemplateError(Refused):
    """A template that cannot be read or rendered; the message names the expression."""


class Reference(msgspec.Struct, frozen=True):
    """A path that an expression reads: `tasks.x.outputs.y` is `("tasks", ("x", "outputs", "y"))`.

    `names` goes as far as the path is literal. `optional` is true where a missing value is
    accepted: under `default`, in `is defined`, or in a branch of `if … else`.
    """

    root: str
    names: tuple[str, ...]
    optional: bool = False


class Missing(msgspec.Struct, frozen=True):
    """What a path that leads nowhere evaluates to, until something needs its value."""

    path: str
    reason: str
    hint: str


def path_of(root: str, names: tuple[str, ...]) -> Expression:
    """A path from a root, as far as it is literal."""

    def read(scope: Scope) -> Any:
        if root not in scope:
            return Missing(root, f"`{root}` does not exist here", _known(scope))
        value = scope[root]
        for position, name in enumerate(names):
            try:
                value = value[name]
            except (KeyError, TypeError, IndexError):
                return missing_step(root, names[: position + 1], value)
        return value

    return read


def missing_step(root: str, names: tuple[str, ...], value: Any) -> Missing:
    path = ".".join((root, *names))
    above = ".".join((root, *names[:-1]))
    if isinstance(value, Mapping):
        return Missing(path, f"`{path}` does not exist", f"`{above}` has {_known(value)}")
    kind = type_name(value)
    return Missing(path, f"`{path}` does not exist: `{above}` is {kind}", "")


def _known(value: Mapping[str, Any]) -> str:
    names = sorted(str(name) for name in value)
    shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    return f"these names: {shown}" if names else "no names"


def demand(value: Any) -> Any:
    """The value, or the error that it is missing."""
    if isinstance(value, Missing):
        hint = f"{value.hint}. " if value.hint else ""
        raise TemplateError(
            "template_error",
            value.reason,
            hint=f"{hint}Add `| default(…)` if it may be absent.",
            variable=value.path,
        )
    return value


def in_text(value: Any) -> str:
    """A scalar as it stands in text."""
    value = demand(value)
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    if value is None:
        raise TemplateError(
            "template_error", "null cannot stand in text", hint="Add `| default('')`."
        )
    raise TemplateError(
        "template_error",
        f"{type_name(value)} cannot stand in text",
        hint="Add `| tojson`, or `| join(', ')`, or use the value alone.",
    )


def too_large() -> TemplateError:
    return TemplateError(
        "template_error",
        f"The rendered text is longer than {MAX_RENDERED_CHARS:,} characters",
        hint="Pass large content as a file or an artifact.",
    )


def type_name(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "an object" if isinstance(value, Mapping) else "a list"


def shorten(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"

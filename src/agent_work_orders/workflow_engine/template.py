"""Strict templates: `{{ expression }}` inside the strings of a JSON-like tree.

Rules:
- A string that is exactly one `{{ … }}` becomes the *value* (a list stays a list); in longer text
  only scalars may stand. What comes out of a value is never read as a template again.
- An unknown name is an error that says what exists, never text left standing.
- Expressions are Jinja2's (its parser is used), but only names, keys, literals, comparisons,
  `and/or/not`, `a if b else c`, small arithmetic on numbers, and the filters below. They are
  evaluated here, over JSON values: `a.b` is a key of an object and nothing else, so there is no
  Python attribute, call, loop or import to escape through, and no sandbox to trust.
- `default` also replaces null, and makes a whole missing path acceptable:
  `previous.check.outputs.summary | default('')`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from agent_work_orders.workflow_engine.template_values import (
    MAX_RENDERED_CHARS,
    Expression,
    Reference,
    Scope,
    demand,
    in_text,
    path_of,
    shorten,
    too_large,
)
from agent_work_orders.workflow_engine.template_values import TemplateError as TemplateError

MAX_EXPRESSION_CHARS = 1_000
MAX_NESTING = 16
# As many distinct strings as a plan of the largest size is likely to have.
_CACHED = 16_384

_SIMPLE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[(?:\"[^\"\\]*\"|'[^'\\]*')\])*")
_NESTING = re.compile(r"[\"'(\[{]")
_STEP = re.compile(r"[A-Za-z_]\w*|\"[^\"]*\"|'[^']*'")
_WORDS = frozenset({"true", "false", "none", "True", "False", "None"})


class Compiled(msgspec.Struct, frozen=True):
    """A string cut into literal text and expressions. `whole`: it is exactly one expression;
    `path`: it is exactly one path. `sources`: the expressions as written."""

    parts: tuple[str | Expression, ...]
    whole: bool
    references: frozenset[Reference]
    path: Reference | None = None
    sources: tuple[str, ...] = ()


def render(value: Any, scope: Scope) -> Any:
    """The tree with every template replaced. Raises `TemplateError`."""
    return _Rendering(scope).tree(value)


class _Rendering:
    """One call of `render`: all its templates share one size limit."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._size = 0

    def tree(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value) if "{{" in value else value
        if isinstance(value, dict):
            return {key: self.tree(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.tree(inner) for inner in value]
        return value

    def _text(self, text: str) -> Any:
        compiled = compile_text(text)
        if compiled.whole:
            part = compiled.parts[0]
            assert not isinstance(part, str)
            value = demand(part(self._scope))
            if isinstance(value, str):
                self._count(len(value))
            elif isinstance(value, list | dict):
                self._count(len(msgspec.json.encode(value)))
            return value
        pieces = []
        for part in compiled.parts:
            piece = part if isinstance(part, str) else in_text(part(self._scope))
            self._count(len(piece))
            pieces.append(piece)
        return "".join(pieces)

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > MAX_RENDERED_CHARS:
            raise too_large()


def references(value: Any) -> frozenset[Reference]:
    """Every path that the templates in a tree read. Raises `TemplateError` on a bad template."""
    if isinstance(value, str):
        return compile_text(value).references if "{{" in value else frozenset()
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        found = [references(inner) for inner in value]
        return frozenset().union(*found) if found else frozenset()
    return frozenset()


@lru_cache(maxsize=_CACHED)
def compile_text(text: str) -> Compiled:
    """Cut and compile a string once; definitions repeat the same strings for every run."""
    if "{%" in text or "{#" in text:
        raise TemplateError(
            "template_error",
            f"Only {{{{ … }}}} is known, not statements or comments: {shorten(text)}",
            hint="Use `when`, `foreach` and `repeat` of the task instead.",
        )
    parts: list[str | Expression] = []
    sources: list[str] = []
    found: set[Reference] = set()
    at = 0
    while (start := text.find("{{", at)) >= 0:
        if start > at:
            parts.append(text[at:start])
        end = _closing(text, start)
        source = text[start + 2 : end].strip()
        expression, names = _compile_expression(source)
        sources.append(source)
        parts.append(expression)
        found |= names
        at = end + 2
    if at < len(text):
        parts.append(text[at:])
    whole = len(parts) == 1 and not isinstance(parts[0], str)
    simple = whole and _SIMPLE.fullmatch(text[2:-2].strip()) and len(found) == 1
    path = next(iter(found)) if simple else None
    return Compiled(tuple(parts), whole, frozenset(found), path, tuple(sources))


def _closing(text: str, start: int) -> int:
    """Where the `}}` of the `{{` at `start` is: outside of quotes and inner brackets."""
    first = text.find("}}", start)
    if 0 < first - start < MAX_EXPRESSION_CHARS and not _NESTING.search(text, start + 2, first):
        return first
    depth, quote, at = 0, "", start + 2
    while at < len(text) and at - start < MAX_EXPRESSION_CHARS:
        char = text[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "'\"":
            quote = char
        elif char == "}" and depth == 0 and text[at + 1 : at + 2] == "}":
            return at
        elif char in "([{":
            depth += 1
            if depth > MAX_NESTING:
                break
        elif char in ")]}":
            depth -= 1
        at += 1
    raise TemplateError(
        "template_error",
        f"A {{{{ is not closed, or its expression is too long or too deep: {shorten(text[start:])}",
        hint="Write \"{{ '{{' }}\" for the characters {{ themselves.",
    )


def _compile_expression(source: str) -> tuple[Expression, frozenset[Reference]]:
    if _SIMPLE.fullmatch(source) and source not in _WORDS:
        root, *names = (step.strip("\"'") for step in _STEP.findall(source))
        return path_of(root, tuple(names)), frozenset({Reference(root, tuple(names))})
    # Imported late: most templates are simple paths, and jinja2 costs 50 ms at start-up.
    from agent_work_orders.workflow_engine import expression

    return expression.compile_expression(source)

"""The filters of templates: pure functions of JSON values, each bounded. Whatever they cannot take,
they refuse with TypeError or ValueError, or with a `TemplateError` that says more."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec

from agent_work_orders.workflow_engine.template_values import (
    MAX_RENDERED_CHARS,
    TemplateError,
    in_text,
    shorten,
    too_large,
)

# Ten times what a fan-out takes, which refuses more by itself.
MAX_ITEMS = 10_000
# Far more than what programs print for people's workflows.
_MAX_DEPTH = 64
_MAX_WHOLE = 2**63 - 1


def bounded(value: Any) -> Any:
    if isinstance(value, str) and len(value) > MAX_RENDERED_CHARS:
        raise too_large()
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _sequence(value: Any) -> Any:
    if not isinstance(value, str | list):
        raise TypeError
    return value


def _join(value: Any, separator: str = "") -> str:
    if not isinstance(value, list):
        raise TypeError
    parts = [in_text(item) for item in value]
    if sum(map(len, parts)) + len(_text(separator)) * len(parts) > MAX_RENDERED_CHARS:
        raise too_large()
    return separator.join(parts)


def _replace(value: Any, old: str, new: str) -> str:
    text, old, new = _text(value), _text(old), _text(new)
    if not old:
        raise ValueError
    if len(text) + text.count(old) * (len(new) - len(old)) > MAX_RENDERED_CHARS:
        raise too_large()
    return text.replace(old, new)


def _truncate(value: Any, length: int) -> str:
    text = _text(value)
    if type(length) is not int or length < 1:
        raise ValueError
    return text if len(text) <= length else text[: length - 1] + "…"


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _int(value: Any) -> int:
    if isinstance(value, str) and len(value) > 19:
        raise ValueError
    return int(value)


def _from_json(value: Any) -> Any:
    text = _text(value)
    if len(text) > MAX_RENDERED_CHARS:
        raise too_large()
    try:
        found = msgspec.json.decode(text.encode("utf-8"))
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        raise TemplateError(
            "template_error",
            f"What `fromjson` got is not JSON: {shorten(str(error))}",
            hint="Let the command print one JSON document to its output, and nothing else.",
        ) from None
    _check_plain(found)
    return found


def _check_plain(value: Any) -> None:
    """Nothing deeper, and no number larger, than what every reader of the journal takes."""
    level = [value]
    for _ in range(_MAX_DEPTH):
        if any(isinstance(one, int) and abs(one) > _MAX_WHOLE for one in level):
            raise ValueError
        level = [
            inner
            for one in level
            if isinstance(one, list | dict)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return
    raise ValueError


def _split(value: Any, separator: str | None = None) -> list[str]:
    """Between white space, or between a separator."""
    parts = _text(value).split(None if separator is None else _text(separator), MAX_ITEMS)
    if len(parts) > MAX_ITEMS:
        raise _too_many("split")
    return parts


def _range(start: Any, stop: Any = None) -> list[int]:
    """From 0 to below the number, or from it to below the other."""
    first, end = (0, start) if stop is None else (start, stop)
    if type(first) is not int or type(end) is not int:
        raise TypeError
    if end - first > MAX_ITEMS:
        raise _too_many("range")
    return list(range(first, end))


def _too_many(name: str) -> TemplateError:
    return TemplateError(
        "template_error",
        f"`{name}` gives more than {MAX_ITEMS:,} items",
        hint="Give it less, or let the command choose.",
    )


FILTERS: dict[str, tuple[Callable[..., Any], int, int]] = {
    "first": (lambda value: _sequence(value)[0], 0, 0),
    "fromjson": (_from_json, 0, 0),
    "int": (_int, 0, 0),
    "join": (_join, 0, 1),
    "keys": (lambda value: sorted(value.keys()), 0, 0),
    "last": (lambda value: _sequence(value)[-1], 0, 0),
    "length": (len, 0, 0),
    "lower": (lambda value: _text(value).lower(), 0, 0),
    "range": (_range, 0, 1),
    "replace": (_replace, 2, 2),
    "split": (_split, 0, 1),
    "string": (in_text, 0, 0),
    "tojson": (_to_json, 0, 0),
    "trim": (lambda value: _text(value).strip(), 0, 0),
    "truncate": (_truncate, 1, 1),
    "upper": (lambda value: _text(value).upper(), 0, 0),
}

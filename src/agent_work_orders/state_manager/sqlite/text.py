"""Text as SQLite can keep it, and JSON in columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from agent_work_orders.errors import Broken

Made = TypeVar("Made")
DAMAGE = (ValueError, TypeError, KeyError, AttributeError)
"""What comes of a row whose bytes are not what was written; msgspec's errors are ValueErrors."""


def storable(text: str) -> str:
    """The text with lone surrogates (which no encoding holds) replaced: agents print anything."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def to_json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return msgspec.json.encode(_cleaned(value)).decode()


def readable(make: Callable[[Sequence[Any]], Made], rows: Iterable[Sequence[Any]]) -> list[Made]:
    """Those rows that can be read: one that is damaged keeps nobody from the others, and
    `awo doctor` names it."""
    made = []
    for row in rows:
        try:
            made.append(make(row))
        except DAMAGE:
            continue
    return made


def one_row(make: Callable[[Sequence[Any]], Made], row: Sequence[Any], table: str) -> Made:
    """Broken `row_damaged` instead of whatever its bytes would cause."""
    try:
        return make(row)
    except DAMAGE as error:
        raise Broken(
            "row_damaged",
            f"a row of {table} cannot be read ({error})",
            hint="The disk or somebody changed it. `awo doctor` names what is damaged; restore a "
            "backup.",
        ) from error


def from_json(text: str) -> Any:
    return msgspec.json.decode(text)


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item) for item in value]
    return value

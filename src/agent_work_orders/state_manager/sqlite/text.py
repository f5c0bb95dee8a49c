"""Text as SQLite can keep it, and JSON in columns."""

from __future__ import annotations

from typing import Any

import msgspec


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

"""Optional fields of what an agent printed: null, or of a type that nobody expected. Pure.

A result is good or bad by the few fields that say so. The rest informs people, and one that cannot
be read must not turn good work into a failure: it counts as not said.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

import msgspec

Kind = TypeVar("Kind", bound=msgspec.Struct)


def read(event: dict[str, Any], kind: type[Kind], required: tuple[str, ...] = ()) -> Kind:
    """The event as a `kind`: fields that do not fit keep their defaults. Raises
    `msgspec.ValidationError` when one of `required` does not fit or is missing."""
    given: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        value = event.get(field.encode_name)
        if field.name in required:
            given[field.name] = msgspec.convert(value, field.type)
        elif (fitting := _fitting(value, field.type)) is not None:
            given[field.name] = fitting
    return kind(**given)


def items(value: Any, kind: type[Kind], limit: int) -> tuple[Kind, ...]:
    """Of a list, at most `limit` objects as `kind`; whatever else is in it is left out."""
    found = value if isinstance(value, list) else []
    return tuple(read(item, kind) for item in found[:limit] if isinstance(item, dict))


def texts(value: Any, limit: int) -> tuple[str, ...]:
    found = value if isinstance(value, list) else []
    return tuple(item for item in found[:limit] if isinstance(item, str))


def _fitting(value: Any, kind: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    try:
        return None if value is None else msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return None

"""Request bodies and closed sets of query values, checked by what the operation declares.

GitHub ignores fields that it does not know, and so do we; what it knows must have its type.
"""

from __future__ import annotations

from typing import Any

import msgspec

from github_simulator.call import Field, Route
from github_simulator.rules import refusals
from github_simulator.things.stamps import parse_stamp

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_NAMES = {"array": "an array", "object": "an object", "integer": "an integer", "null": "null"}


def read(route: Route, raw: bytes) -> Any:
    """The body as data, or refused. An operation without fields takes any body or none."""
    if not raw.strip():
        data: Any = {}
    else:
        try:
            data = msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            refusals.NOT_JSON.when(True)
            data = {}
    if isinstance(data, list) and any(field.name == "" for field in route.body):
        data = {"": data}
    refusals.NOT_AN_OBJECT.when(not isinstance(data, dict))
    check(route.body, data, "")
    return data


def check(fields: tuple[Field, ...], data: dict[str, Any], where: str) -> None:
    for field in fields:
        place = f"{where}/{field.name}".lstrip("/")
        if field.name not in data:
            refusals.FIELD_MISSING.when(
                field.required, f'Invalid request.\n\n"{field.name}" wasn\'t supplied.'
            )
            continue
        _check_value(field, data[field.name], place)


def _check_value(field: Field, value: Any, place: str) -> None:
    _check_kind(field.kinds, value, place)
    if field.enum and isinstance(value, str):
        choices = ", ".join(field.enum)
        refusals.FIELD_CHOICE.when(
            value not in field.enum,
            f"Invalid request.\n\nFor 'properties/{place}', {value} is not a possible value. "
            f"Must be one of the following: {choices}.",
        )
    if isinstance(value, list):
        for at, member in enumerate(value):
            if field.items:
                _check_kind(field.items, member, f"{place}/{at}")
            if field.fields and isinstance(member, dict):
                check(field.fields, member, f"{place}/{at}")
    if isinstance(value, dict) and field.fields:
        check(field.fields, value, place)


def _check_kind(kinds: tuple[str, ...], value: Any, place: str) -> None:
    right = any(
        isinstance(value, _KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))
        for kind in kinds
    )
    shown = "nil" if value is None else msgspec.json.encode(value).decode()[:80]
    wanted = " or ".join(_NAMES.get(kind, f"a {kind}") for kind in kinds)
    refusals.FIELD_TYPE.when(
        not right, f"Invalid request.\n\nFor 'properties/{place}', {shown} is not {wanted}."
    )


def check_query(route: Route, query: dict[str, str], resource: str) -> None:
    since = query.get("since")
    refusals.QUERY_SINCE.invalid(
        since is not None and parse_stamp(since) is None, resource, "since", code="invalid"
    )
    for name, allowed in route.choices.items():
        value = query.get(name)
        refusals.QUERY_CHOICE.invalid(
            value is not None and value not in allowed, resource, name, code="invalid"
        )

"""JSON that means the same to every parser: bounded depth, bounded number of keys, no key twice.

Pure. What is cheap is asked first, so that nothing hostile reaches a parser.
"""

from __future__ import annotations

import json
from typing import Any

from agent_work_orders.api.body import MAX_DEPTH, outside_strings, too_deep
from agent_work_orders.errors import BadRequest

MAX_KEYS = 200_000
"""A push of GitHub's most (2,048 commits of about 30 keys each) three times over."""


def check(body: bytes) -> dict[str, Any]:
    """The object that a body holds. BadRequest `json_too_deep`, `json_too_many_keys`,
    `json_invalid` (not JSON, not UTF-8, a key twice), `json_not_object`."""
    if too_deep(body):
        raise BadRequest(
            "json_too_deep",
            f"The JSON is nested deeper than {MAX_DEPTH}, or its brackets do not match",
            hint="Flatten it.",
        )
    if body.count(b":") > MAX_KEYS and outside_strings(body).count(b":") > MAX_KEYS:
        raise BadRequest(
            "json_too_many_keys", f"The JSON has more than {MAX_KEYS} keys", hint="Send less."
        )
    try:
        found = json.loads(body.decode(), object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BadRequest(
            "json_invalid", f"The body is not JSON: {error}", hint="Check it with a JSON parser."
        ) from None
    if not isinstance(found, dict):
        raise BadRequest("json_not_object", "The JSON is not an object", hint="Send an object.")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands in one object twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")

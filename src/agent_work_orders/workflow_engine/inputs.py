"""What a trigger gives a workflow: checked against the declared inputs, defaults filled in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from agent_work_orders.errors import Refused
from agent_work_orders.workflow_engine import shapes
from agent_work_orders.workflow_engine.fields import did_you_mean
from agent_work_orders.workflow_engine.plan import Input

_INTEGER = re.compile(r"[-+]?\d{1,18}")


class InputError(Refused):
    """An input that the workflow does not take as it was given; `field` names it."""


def accept(declared: Mapping[str, Input], given: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of a run: every declared name, given or default (null where there is none).

    Raises `InputError` for an unknown, missing or ill-typed one.
    """
    for name in given:
        if name not in declared:
            hint = did_you_mean(name, declared) or "The workflow takes no inputs."
            raise InputError(
                "input_invalid",
                f"The workflow has no input `{name}`",
                hint=hint,
                field=f"inputs.{name}",
            )
    accepted: dict[str, Any] = {}
    for name, want in declared.items():
        value = given.get(name)
        if value is None:
            if want.required:
                raise InputError(
                    "input_invalid",
                    f"The input `{name}` is required",
                    hint=want.description or f"Give it a value of type {want.type}.",
                    field=f"inputs.{name}",
                )
            accepted[name] = want.default
            continue
        _check(name, value, want)
        accepted[name] = value
    return accepted


def _check(name: str, value: Any, want: Input) -> None:
    wrong = shapes.mismatch(value, shapes.of_input(want))
    if wrong is not None:
        at, message = wrong
        raise InputError(
            "input_invalid",
            f"The input `{name}` is not valid: {message}",
            hint=want.description,
            field="inputs." + ".".join([name, *map(str, at)]),
        )


def from_text(declared: Mapping[str, Input], pairs: Mapping[str, str]) -> dict[str, Any]:
    """Values typed on a command line (`--input k=v`), read by their declared type.

    Lists and objects are JSON; a list of strings may also be written `a,b,c`. Unknown names are
    passed on for `accept` to refuse.
    """
    return {
        name: _read(name, text, declared[name]) if name in declared else text
        for name, text in pairs.items()
    }


def _read(name: str, text: str, want: Input) -> Any:
    match want.type:
        case "string":
            return text
        case "boolean":
            if text.lower() in ("true", "false"):
                return text.lower() == "true"
            raise _unreadable(name, "Write true or false.")
        case "integer":
            if _INTEGER.fullmatch(text):
                return int(text)
            raise _unreadable(name, "Write digits.")
        case "list" if want.items in (None, "string") and not text.lstrip().startswith("["):
            # An empty one is a comma too many; as JSON it can be said.
            return [part.strip() for part in text.split(",") if part.strip()]
        case _:
            try:
                return json.loads(text, parse_constant=_no_constant)
            except ValueError:
                raise _unreadable(name, "Write it as JSON.") from None


def _no_constant(text: str) -> None:
    raise ValueError(text)


def _unreadable(name: str, hint: str) -> InputError:
    return InputError(
        "input_invalid",
        f"The input `{name}` cannot be read",
        hint=hint,
        field=f"inputs.{name}",
    )


def json_schema(declared: Mapping[str, Input]) -> dict[str, Any]:
    """For a generated form, and for callers that check before they ask."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: shapes.of_input(want) for name, want in declared.items()},
        "additionalProperties": False,
    }
    required = [name for name, want in declared.items() if want.required]
    if required:
        schema["required"] = required
    return schema

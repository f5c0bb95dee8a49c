"""The `inputs` section of a workflow file: names, types, defaults."""

from __future__ import annotations

import re
from typing import Any, cast, get_args

from agent_work_orders.workflow_engine import shapes
from agent_work_orders.workflow_engine.fields import Fields, kind_of
from agent_work_orders.workflow_engine.plan import Input, InputType
from agent_work_orders.workflow_engine.yaml_source import Finding, Path

INPUT_KEYS = frozenset({"type", "required", "default", "items", "description", "enum"})
# Templates write `inputs.name`, so there is no dash.
_INPUT_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


def read(raw: dict[str, Any], path: Path, findings: list[Finding]) -> dict[str, Input]:
    return {name: _one(name, value, (*path, name), findings) for name, value in raw.items()}


def _one(name: str, raw: Any, path: Path, findings: list[Finding]) -> Input:
    fields = Fields(raw, path, findings, INPUT_KEYS)
    if not _INPUT_NAME.fullmatch(name):
        hint = "Small letters, digits and `_`, beginning with a letter."
        fields.problem((), f"`{name[:80]}` is not a valid input name", hint)
    kind = cast(InputType, fields.choice("type", get_args(InputType)) or "string")
    items = cast(InputType | None, fields.choice("items", get_args(InputType)))
    if items is not None and kind != "list":
        fields.problem(("items",), f"`items` has no effect on a {kind}", "Use `type: list`.")
    required = fields.flag("required")
    declared = Input(
        type=kind,
        required=required,
        items=items,
        description=fields.text("description"),
        enum=_enum(fields),
        default=fields.data.get("default"),
    )
    if fields.data.get("default") is not None:
        if "{{" in str(declared.default):
            fields.problem(("default",), "A default is a value, not a template")
        if required:
            hint = "Remove `required`: what has a default is never missing."
            fields.problem(("default",), "A required input cannot have a default", hint)
        problem = shapes.mismatch(declared.default, shapes.of_input(declared))
        if problem is not None:
            at, message = problem
            fields.problem(("default", *at), f"The default is wrong: {message}")
    return declared


def _enum(fields: Fields) -> tuple[Any, ...] | None:
    if not fields.has("enum"):
        return None
    value = fields.data["enum"]
    if not isinstance(value, list) or not value:
        found = kind_of(value)
        fields.problem(("enum",), f"`enum` must be a list of the allowed values, found {found}")
        return None
    return tuple(value)

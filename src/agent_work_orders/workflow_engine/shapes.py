"""JSON Schema, the part that tools and inputs use: which values fit, and what a path leads to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_work_orders.workflow_engine.fields import did_you_mean, kind_of
from agent_work_orders.workflow_engine.plan import Input, InputType
from agent_work_orders.workflow_engine.yaml_source import Path

Schema = Mapping[str, Any]

_JSON_TYPE: dict[InputType, str] = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "list": "array",
    "object": "object",
}
_ANY_TEXT: Schema = {"type": "string"}
SPOKEN = {
    "string": "text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "null",
}


def of_input(declared: Input) -> dict[str, Any]:
    """The schema of a declared input."""
    schema: dict[str, Any] = {"type": _JSON_TYPE[declared.type]}
    if declared.items is not None:
        schema["items"] = {"type": _JSON_TYPE[declared.items]}
    if declared.description:
        schema["description"] = declared.description
    if declared.enum is not None:
        schema["enum"] = list(declared.enum)
    if declared.default is not None:
        schema["default"] = declared.default
    return schema


def types_of(schema: Schema) -> frozenset[str] | None:
    """The JSON types a schema allows; None when it does not say."""
    kind = schema.get("type")
    if kind is None:
        return None
    return frozenset([kind] if isinstance(kind, str) else kind)


def compatible(given: Schema, wanted: Schema) -> bool:
    """Whether a value of one schema can ever fit the other (by type; list items too)."""
    have, want = types_of(given), types_of(wanted)
    if have is None or want is None:
        return True
    if "number" in want:
        want = want | {"integer"}
    if "number" in have:
        have = have | {"integer"}
    shared = have & want
    if shared == {"array"} and "items" in given and "items" in wanted:
        return compatible(given["items"], wanted["items"])
    return bool(shared)


def spoken(schema: Schema) -> str:
    return " or ".join(SPOKEN.get(kind, kind) for kind in sorted(types_of(schema) or ()))


def mismatch(value: Any, schema: Schema) -> tuple[Path, str] | None:
    """The first way in which a literal value does not fit, with the path to it."""
    if type(value) is str and schema == _ANY_TEXT:
        return None
    types = types_of(schema)
    if types is not None and not any(_is(value, kind) for kind in types):
        return (), f"expected {spoken(schema)}, found {kind_of(value)}"
    if "enum" in schema and not any(_same(value, allowed) for allowed in schema["enum"]):
        allowed = ", ".join(str(item) for item in schema["enum"][:20])
        return (), f"`{str(value)[:80]}` is not one of {allowed}"
    bound = _out_of_bounds(value, schema)
    if bound:
        return (), bound
    if isinstance(value, list) and "items" in schema:
        for at, item in enumerate(value):
            inner = mismatch(item, schema["items"])
            if inner is not None:
                return (at, *inner[0]), inner[1]
    if isinstance(value, dict):
        return _object_mismatch(value, schema)
    return None


def _object_mismatch(value: dict[str, Any], schema: Schema) -> tuple[Path, str] | None:
    properties: Schema = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            return (), f"`{name}` is missing"
    for name, item in value.items():
        inner_schema = properties.get(name, schema.get("additionalProperties", True))
        if inner_schema is False:
            return (name,), f"`{name}` is not known here"
        inner = mismatch(item, inner_schema) if isinstance(inner_schema, Mapping) else None
        if inner is not None:
            return (name, *inner[0]), inner[1]
    return None


def _is(value: Any, kind: str) -> bool:
    match kind:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "string":
            return isinstance(value, str)
        case "array":
            return isinstance(value, list)
        case _:
            return isinstance(value, dict)


def _same(one: Any, two: Any) -> bool:
    return bool(one == two) and isinstance(one, bool) == isinstance(two, bool)


def _out_of_bounds(value: Any, schema: Schema) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        if "minimum" in schema and value < schema["minimum"]:
            return f"{value} is below {schema['minimum']}"
        if "maximum" in schema and value > schema["maximum"]:
            return f"{value} is above {schema['maximum']}"
    for kind, least, most, unit in (
        (str, "minLength", "maxLength", "characters"),
        (list, "minItems", "maxItems", "items"),
    ):
        if isinstance(value, kind):
            size = len(value)
            if size < schema.get(least, 0):
                return f"needs at least {schema[least]} {unit}, found {size}"
            if most in schema and size > schema[most]:
                return f"takes at most {schema[most]} {unit}, found {size}"
    return ""


def follow(schema: Schema, names: tuple[str, ...], path: str) -> tuple[Schema, str, str]:
    """Where a path of names leads: (schema, "", ""), or ({}, message, hint) when it cannot exist.

    An empty schema means that nothing is known.
    """
    for name in names:
        types = types_of(schema)
        properties = schema.get("properties")
        if properties is not None and name in properties:
            schema = properties[name]
        elif types is not None and "object" not in types:
            return {}, f"`{path}.{name}` cannot exist: `{path}` is {spoken(schema)}", ""
        elif properties is not None and not schema.get("additionalProperties", False):
            return {}, f"`{path}` has no `{name}`", did_you_mean(name, properties)
        else:
            return {}, "", ""
        path = f"{path}.{name}"
    return schema, "", ""

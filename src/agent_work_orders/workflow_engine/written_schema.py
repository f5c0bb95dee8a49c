"""A JSON Schema that the author of a workflow wrote: whether we understand it, and the outputs of a
task that have one. Pure."""

from __future__ import annotations

from typing import Any

from agent_work_orders.workflow_engine.catalogue import ToolInfo
from agent_work_orders.workflow_engine.fields import did_you_mean, kind_of
from agent_work_orders.workflow_engine.shapes import SPOKEN, Schema
from agent_work_orders.workflow_engine.wiring import Report
from agent_work_orders.workflow_engine.yaml_source import Path

KEYWORDS: dict[str, tuple[type, ...]] = {
    "type": (str, list),
    "enum": (list,),
    "properties": (dict,),
    "required": (list,),
    "additionalProperties": (bool, dict),
    "items": (dict,),
    "minimum": (int, float),
    "maximum": (int, float),
    "minLength": (int,),
    "maxLength": (int,),
    "minItems": (int,),
    "maxItems": (int,),
    "title": (str,),
    "description": (str,),
}
"""What `shapes.mismatch` looks at, and words for people. The rest of JSON Schema would be passed
over."""
_SIZES = ("minLength", "maxLength", "minItems", "maxItems")
_BOUNDS = (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"))
_MOST_NESTED = 16


def not_understood(schema: Any, depth: int = 0) -> tuple[Path, str, str] | None:
    """Why somebody's schema cannot be used: where in it, what, and what to do."""
    if not isinstance(schema, dict):
        return (), f"expected a JSON Schema, found {kind_of(schema)}", ""
    if depth > _MOST_NESTED:
        return (), f"a schema is nested at most {_MOST_NESTED} times", ""
    for name, value in schema.items():
        if name not in KEYWORDS:
            return (
                (name,),
                f"`{name}` of JSON Schema is not known here",
                did_you_mean(name, KEYWORDS),
            )
        wrong = _keyword_misused(name, value)
        if wrong:
            return (name,), wrong, ""
    if impossible := _impossible(schema):
        return (), impossible, ""
    inner: list[tuple[Path, Any]] = [
        (("properties", name), one) for name, one in schema.get("properties", {}).items()
    ]
    inner += [((name,), schema[name]) for name in ("items",) if name in schema]
    if isinstance(schema.get("additionalProperties"), dict):
        inner.append((("additionalProperties",), schema["additionalProperties"]))
    for path, one in inner:
        found = not_understood(one, depth + 1)
        if found is not None:
            return (*path, *found[0]), found[1], found[2]
    return None


def _keyword_misused(name: str, value: object) -> str:
    kinds = KEYWORDS[name]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        return f"`{name}` cannot be {kind_of(value)}"
    if name == "type":
        named: list[Any] = value if isinstance(value, list) else [value]
        if not named or not all(isinstance(one, str) and one in SPOKEN for one in named):
            return f"`type` is one of {', '.join(SPOKEN)}, or a list of them"
    if name == "required" and isinstance(value, list) and not all(map(_is_text, value)):
        return "`required` lists names"
    if name == "enum" and not value:
        return "`enum` has no value"
    if name in _SIZES and isinstance(value, int) and value < 0:
        return f"`{name}` cannot be below 0"
    return ""


def _impossible(schema: dict[str, Any]) -> str:
    """What no value can fit."""
    for least, most in _BOUNDS:
        if least in schema and most in schema and schema[least] > schema[most]:
            return f"`{least}` is above `{most}`: nothing fits"
    if schema.get("additionalProperties") is False:
        for name in schema.get("required", ()):
            if name not in schema.get("properties", {}):
                return f"`{name}` is required and not allowed: nothing fits"
    return ""


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def outputs_of(tool: ToolInfo, given: dict[str, Any], at: Path, report: Report) -> Schema:
    """Of a tool, with those whose schema the task gives in its `with`."""
    shaped: dict[str, Any] = {}
    for output, source in tool.shaped.items():
        if not isinstance(schema := given.get(source), dict):
            continue
        wrong = not_understood(schema)
        if wrong is None:
            shaped[output] = schema
        else:
            report((*at, source, *wrong[0]), f"`{source}`: {wrong[1]}", wrong[2])
    if not shaped:
        return tool.outputs
    return {**tool.outputs, "properties": {**tool.outputs["properties"], **shaped}}

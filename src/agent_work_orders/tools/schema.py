"""Short words for the JSON Schemas of tools' inputs and outputs."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def text(description: str, **more: Any) -> Schema:
    return {"type": "string", "description": description, **more}


def integer(description: str, **more: Any) -> Schema:
    return {"type": "integer", "description": description, **more}


def flag(description: str, **more: Any) -> Schema:
    return {"type": "boolean", "description": description, **more}


def texts(description: str, **more: Any) -> Schema:
    return {"type": "array", "items": {"type": "string"}, "description": description, **more}


def nullable(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}


def anything(description: str) -> Schema:
    kinds = ["array", "boolean", "integer", "null", "number", "object", "string"]
    return {"type": kinds, "description": description}


def anything_by_name(description: str) -> Schema:
    return {"type": "object", "additionalProperties": True, "description": description}


def fields(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }

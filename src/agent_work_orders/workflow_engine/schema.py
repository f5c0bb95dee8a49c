"""JSON Schema of a workflow file, for editors (completion, hover, first errors while typing).

It describes the form. What needs the tools (inputs, outputs, cycles) is the compiler's.
"""

from __future__ import annotations

from typing import Any, get_args

from agent_work_orders.errors import Category
from agent_work_orders.workflow_engine.definition import KINDS, NAME
from agent_work_orders.workflow_engine.plan import (
    MAX_FANOUT,
    MAX_ITERATIONS,
    InputType,
    Join,
    OnFailure,
    Phase,
)

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_NAME = f"^{NAME.pattern}$"


def _object(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False, **more}


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "description": description}


def _choice(description: str, values: tuple[Any, ...]) -> dict[str, Any]:
    return {"enum": list(values), "description": description}


def _map(inner: dict[str, Any], description: str) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": inner, "description": description}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def workflow_schema() -> dict[str, Any]:
    names = {"type": "array", "items": {"type": "string", "pattern": _NAME}}
    return {
        "$schema": DIALECT,
        "title": "Workflow of Agent Work Orders",
        **_object(
            {
                "name": {**_text("Its unique name."), "pattern": _NAME},
                "description": _text("One line for people."),
                "kind": _choice("The task type of its orders.", KINDS),
                "branch_prefix": _text("The beginning of branch names; feat when absent."),
                "aliases": {**names, "description": "Other names it answers to."},
                "inputs": _map(_ref("input"), "What a trigger gives; `inputs.<name>`."),
                "outputs": _map({}, "What the run gives back; templates over `tasks`."),
                "defaults": _object(
                    {
                        "timeout": _ref("duration"),
                        "retry": _ref("retry"),
                        "on_failure": _ref("on_failure"),
                    }
                ),
                "tasks": _ref("tasks"),
            },
            required=["name", "tasks"],
        ),
        "$defs": _definitions(),
    }


def _definitions() -> dict[str, Any]:
    categories = {"enum": list(get_args(Category))}
    return {
        "duration": {
            "type": "string",
            "pattern": r"^\d+(\.\d+)?(ms|s|m|h|d)$",
            "description": "500ms, 30s, 30m, 24h, 7d.",
        },
        "condition": {
            "type": ["string", "boolean"],
            "description": "CEL over inputs, tasks, order.",
        },
        "on_failure": _choice("What a failure means for the rest.", get_args(OnFailure)),
        "retry": _object(
            {
                "attempts": {"type": "integer", "minimum": 1, "maximum": 20},
                "delay": _ref("duration"),
                "backoff": {"type": "number", "minimum": 1, "maximum": 10},
                "max_delay": _ref("duration"),
                "on": {"anyOf": [categories, {"type": "array", "items": categories}]},
            }
        ),
        "input": _object(
            {
                "type": _choice("Its type; string when absent.", get_args(InputType)),
                "required": {"type": "boolean"},
                "default": {},
                "items": _choice("The type of a list's items.", get_args(InputType)),
                "description": _text("Shown in the form."),
                "enum": {"type": "array", "minItems": 1},
            }
        ),
        "tasks": {
            "type": "object",
            "minProperties": 1,
            "propertyNames": {"pattern": _NAME},
            "additionalProperties": _ref("task"),
        },
        "task": _task(),
    }


def _task() -> dict[str, Any]:
    name = {"type": "string", "pattern": _NAME}
    work = ("uses", "workflow", "repeat", "tasks")
    one = {"type": "string", "minLength": 1}
    return _object(
        {
            "description": _text("One line for people."),
            "needs": {"anyOf": [name, {"type": "array", "items": name}]},
            "join": _choice("When the needs are met.", get_args(Join)),
            "when": _ref("condition"),
            "uses": _text("The tool."),
            "workflow": _text("The child workflow."),
            "with": _map({}, "The inputs; templates allowed."),
            "phase": _choice("What people see while it runs.", get_args(Phase)),
            "foreach": {
                "type": ["string", "array"],
                "maxItems": MAX_FANOUT,
                "description": "A list, or a template that gives one; `item`, `index` inside.",
            },
            "max_parallel": {"type": "integer", "minimum": 1, "maximum": MAX_FANOUT},
            "repeat": _object(
                {
                    "max": {"type": "integer", "minimum": 1, "maximum": MAX_ITERATIONS},
                    "until": _ref("condition"),
                    "tasks": _ref("tasks"),
                },
                required=["max", "tasks"],
            ),
            "tasks": _ref("tasks"),
            "retry": _ref("retry"),
            "timeout": _ref("duration"),
            "approval": {
                "anyOf": [
                    _text("The question."),
                    _object(
                        {
                            "message": _text("The question."),
                            "expires": _ref("duration"),
                            "approvers": {
                                "anyOf": [one, {"type": "array", "items": one, "minItems": 1}],
                                "description": "Who may decide: names of keys, or github:login.",
                            },
                        },
                        required=["message"],
                    ),
                ]
            },
            "on_failure": _ref("on_failure"),
            "undo": _object(
                {"uses": _text("The tool."), "with": _map({}, "Its inputs.")},
                required=["uses"],
            ),
        },
        anyOf=[{"required": [key]} for key in (*work, "approval")],
    )

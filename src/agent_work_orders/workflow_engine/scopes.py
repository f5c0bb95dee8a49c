"""Who may read what: references of templates and conditions, checked before anything runs.

A task sees the tasks that have always ended before it starts: its ancestors in its own graph,
and those of the group that holds it, outwards. Everything has a schema as far as it is known, so
a wrong field or type is found here and not in the middle of the night.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from agent_work_orders.workflow_engine import graph, shapes
from agent_work_orders.workflow_engine.definition import TaskDef
from agent_work_orders.workflow_engine.fields import did_you_mean
from agent_work_orders.workflow_engine.shapes import Schema
from agent_work_orders.workflow_engine.template_values import Reference

_FAILURE: Schema = {
    "type": ["object", "null"],
    "properties": {name: {"type": "string"} for name in ("code", "message", "category")},
}
_INTEGER: Schema = {"type": "integer"}
GATE_OUTPUTS: Schema = {
    "type": "object",
    "properties": {"approved_by": {"type": "string"}, "comment": {"type": "string"}},
}

_TEXT: Schema = {"type": "string"}
_MAYBE_TEXT: Schema = {"type": ["string", "null"]}
_ORDER_TEXTS = (
    "branch", "order_id", "prompt", "repository", "repository_url", "sandbox_type", "title",
    "workflow", "workflow_kind",
)  # fmt: skip
ORDER: Schema = {
    "type": "object",
    "properties": {
        **dict.fromkeys(_ORDER_TEXTS, _TEXT),
        "base_branch": _MAYBE_TEXT,
        "github_issue_number": _MAYBE_TEXT,
        "agent": {"type": "object"},
        "agent_timeout_s": {"type": ["number", "null"]},
        "delivers": {"type": "boolean"},
        "github": {"type": ["object", "null"]},
        "priority": _INTEGER,
        "metered": {"type": "boolean"},
        "pipeline_task": {},
    },
}
"""What every order has, as work_orders/order_facts.py writes it."""

Trouble = tuple[str, str]
"""Message and hint."""


def task_schema(outputs: Schema) -> dict[str, Any]:
    """What `tasks.<id>` is, for a task with these outputs."""
    properties = {"state": {"type": "string"}, "outputs": outputs, "failure": _FAILURE}
    return {"type": "object", "properties": properties}


def group_outputs(inner: dict[str, Schema]) -> dict[str, Any]:
    tasks = {name: task["properties"]["outputs"] for name, task in inner.items()}
    holder = {"type": "object", "properties": tasks}
    return {"type": "object", "properties": {"tasks": holder}}


def repeat_outputs(group: Schema) -> dict[str, Any]:
    more = {"iterations": _INTEGER, "satisfied": {"type": "boolean"}}
    return {"type": "object", "properties": {**more, **group["properties"]}}


def foreach_outputs(each: Schema) -> dict[str, Any]:
    items = {"type": "array", "items": each}
    properties = {"count": _INTEGER, "failed": _INTEGER, "items": items}
    return {"type": "object", "properties": properties}


class Scope:
    """One graph of tasks and where it stands. `schemas` fills as its tasks are compiled."""

    def __init__(
        self,
        tasks: dict[str, TaskDef],
        inputs: Schema,
        *,
        parent: Scope | None = None,
        owner: str = "",
        item: Schema | None = None,
        repeats: bool = False,
    ) -> None:
        self.tasks = tasks
        self.inputs = inputs
        self.parent = parent
        self.owner = owner
        inherited: Schema | None = parent.item if parent else None
        self.item: Schema | None = item if item is not None else inherited
        self.repeat: Scope | None = self if repeats else parent.repeat if parent else None
        self.depth: int = parent.depth + 1 if parent else 0
        self.schemas: dict[str, Schema] = {}
        self.needs = {
            name: [need for need in dict.fromkeys(task.needs) if need in tasks]
            for name, task in tasks.items()
        }
        self.dependants = graph.dependants(self.needs)
        self.ordered = graph.order(self.needs, self.dependants)
        self.ancestry = graph.Ancestry(self.needs, self.ordered)

    def taken(self, name: str) -> bool:
        """Whether an enclosing graph has a task of this name."""
        scope = self.parent
        while scope is not None:
            if name in scope.tasks:
                return True
            scope = scope.parent
        return False


class View(msgspec.Struct, frozen=True, kw_only=True):
    """Where an expression stands: in `scope`, before the task `viewer` (or after all of them)."""

    scope: Scope
    viewer: str | None
    item: Schema | None = None
    outputs: Schema | None = None
    """The task's own outputs, for its `undo`."""

    def schema_of(self, reference: Reference) -> tuple[Schema, Trouble | None]:
        """What a reference yields, or why it cannot."""
        root, names = reference.root, reference.names
        if root == "tasks":
            return self._task(names)
        if root == "previous":
            return self._previous(reference)
        found = self._roots().get(root)
        if found is None:
            return {}, self._unknown_root(root)
        return _followed(found, names, root)

    def _roots(self) -> dict[str, Schema]:
        roots: dict[str, Schema] = {"inputs": self.scope.inputs, "order": ORDER}
        item = self.item if self.item is not None else self.scope.item
        if item is not None:
            roots |= {"item": item, "index": _INTEGER}
        if self.scope.repeat is not None:
            roots["iteration"] = _INTEGER
        if self.outputs is not None:
            roots["outputs"] = self.outputs
        return roots

    def _unknown_root(self, root: str) -> Trouble:
        where = {
            "item": "only inside `foreach`",
            "index": "only inside `foreach`",
            "iteration": "only inside `repeat`",
            "outputs": "only inside `undo`",
        }
        if root in where:
            return f"`{root}` exists {where[root]}", ""
        return f"`{root}` does not exist", did_you_mean(root, [*self._roots(), "tasks"])

    def _task(self, names: tuple[str, ...]) -> tuple[Schema, Trouble | None]:
        if not names:
            return {}, ("`tasks` must be followed by a task's name", "Like tasks.plan.outputs.")
        name = names[0]
        scope: Scope | None = self.scope
        viewer = self.viewer
        while scope is not None:
            if name in scope.tasks:
                return self._in_scope(scope, viewer, names)
            viewer = scope.owner
            scope = scope.parent
        return {}, (f"There is no task `{name}` here", did_you_mean(name, self._visible()))

    def _in_scope(
        self, scope: Scope, viewer: str | None, names: tuple[str, ...]
    ) -> tuple[Schema, Trouble | None]:
        name = names[0]
        if viewer is not None and not scope.ancestry.before(name, viewer):
            if name == viewer:
                return {}, (f"`{viewer}` cannot read itself before it ran", "")
            hint = f"Add `{name}` to the `needs` of `{viewer}`."
            return {}, (f"`{viewer}` reads `{name}`, but does not wait for it", hint)
        return _followed(scope.schemas.get(name, {}), names[1:], f"tasks.{name}")

    def _visible(self) -> Collection[str]:
        names: set[str] = set()
        scope: Scope | None = self.scope
        while scope is not None:
            names.update(scope.tasks)
            scope = scope.parent
        return names

    def _previous(self, reference: Reference) -> tuple[Schema, Trouble | None]:
        repeat, names = self.scope.repeat, reference.names
        if repeat is None:
            return {}, ("`previous` exists only inside `repeat`", "")
        if names and names[0] not in repeat.tasks:
            return {}, (f"The loop has no task `{names[0]}`", did_you_mean(names[0], repeat.tasks))
        if names and not reference.optional:
            hint = "It is empty in the first iteration: add `| default('')`."
            return {}, (f"`previous.{'.'.join(names)}` may be missing", hint)
        if not names:
            return {}, None
        return _followed(repeat.schemas.get(names[0], {}), names[1:], f"previous.{names[0]}")


def _followed(schema: Schema, names: tuple[str, ...], path: str) -> tuple[Schema, Trouble | None]:
    found, message, hint = shapes.follow(schema, names, path)
    return found, (message, hint) if message else None

"""How tasks hang together: their needs, and the values they pass, against the schemas of
where these go."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from agent_work_orders.workflow_engine import condition, graph, shapes, template
from agent_work_orders.workflow_engine.fields import did_you_mean, kind_of
from agent_work_orders.workflow_engine.plan import MAX_FANOUT
from agent_work_orders.workflow_engine.scopes import Scope, View
from agent_work_orders.workflow_engine.shapes import Schema
from agent_work_orders.workflow_engine.template_values import Reference
from agent_work_orders.workflow_engine.yaml_source import Path

Report = Callable[[Path, str, str], None]

_STATEMENT = re.compile(r"\{%.*?%\}", re.DOTALL)


_TYPES: dict[type, Schema] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
}


def check_needs(scope: Scope, at: Path, report: Report) -> None:
    """Edges that lead nowhere, or round in a circle; names that hide an outer one."""
    for name, task in scope.tasks.items():
        if scope.parent is not None and scope.taken(name):
            message = f"An enclosing graph already has a task `{name}`"
            report((*at, name), message, "Choose another name.")
        if len(scope.needs[name]) == len(task.needs):
            continue
        for position, need in enumerate(task.needs):
            where: Path = (*at, name, "needs", position)
            if need not in scope.tasks:
                hint = did_you_mean(need, scope.tasks)
                report(where, f"`{name}` needs `{need}`, which does not exist", hint)
            elif need in task.needs[:position]:
                report(where, f"`{need}` is listed twice", "")
    for cycle in graph.cycles(scope.needs, scope.ordered):
        way = " -> ".join(cycle if len(cycle) <= 12 else [*cycle[:6], "…", *cycle[-5:]])
        message = f"The tasks wait for each other in a circle: {way}"
        if len(cycle) == 2:
            message = f"`{cycle[0]}` waits for itself"
        report((*at, cycle[0], "needs"), message, "Remove one of these `needs`.")


def check_parallel(wanted: int | None, agent: str | None, at: Path, report: Report) -> int:
    """How many items of a fan-out go at once; `agent` is a tool in it that lets one work."""
    if agent is None:
        return wanted or MAX_FANOUT
    if (wanted or 1) > 1:
        message = f"`{agent}` has the order's workspace to itself: one item after another"
        hint = "Remove it; for agents that work at once, start an order for each item."
        report((*at, "max_parallel"), message, hint)
    return 1


def check_arguments(
    given: dict[str, Any],
    schema: Schema,
    what: str,
    view: View,
    at: Path,
    report: Report,
    refs: set[str],
) -> None:
    """`with` of a task whose tool or workflow is `what`. `refs` gains the tasks it mentions."""
    properties: dict[str, Any] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in given:
            report(at, f"{what} needs `{name}`", f"Add `with: {{{name}: …}}`.")
    for name, value in given.items():
        where: Path = (*at, "with", name)
        inner = properties.get(name)
        if inner is None:
            if not schema.get("additionalProperties", False):
                hint = did_you_mean(name, properties, otherwise=f"{what} takes")
                report(where, f"{what} has no input `{name}`", hint)
            inner = {}
        check_value(value, inner, view, where, report, refs)


def check_value(
    value: Any, schema: Schema, view: View, at: Path, report: Report, refs: set[str]
) -> Schema:
    """A value with templates in it. Returns the schema of what it will be, as far as known."""
    if isinstance(value, str) and "{{" in value:
        given = _template(value, view, at, report, refs)
        if given.get("minItems", 0) > schema.get("maxItems", given.get("minItems", 0)):
            most = schema["maxItems"]
            report(at, f"`{at[-1]}` takes {most:,} items, the template gives more", "")
        if not shapes.compatible(given, schema):
            message = f"expected {shapes.spoken(schema)}, the template gives {shapes.spoken(given)}"
            report(at, f"`{at[-1]}`: {message}", "")
        return given
    if isinstance(value, dict | list):
        return _container(value, schema, view, at, report, refs)
    if isinstance(value, str) and _STATEMENT.search(value):
        hint = "Use `when`, `foreach` and `repeat` of the task instead."
        report(at, "Statements ({% … %}) are not part of the template language", hint)
    wrong = shapes.mismatch(value, schema)
    if wrong is not None:
        hint = "Put it in quotes." if shapes.types_of(schema) == frozenset({"string"}) else ""
        report(at, f"`{at[-1]}`: {wrong[1]}", hint)
    return _TYPES.get(type(value), {})


def _container(
    value: Any, schema: Schema, view: View, at: Path, report: Report, refs: set[str]
) -> Schema:
    types = shapes.types_of(schema)
    kind = "object" if isinstance(value, dict) else "array"
    if types is not None and kind not in types:
        report(at, f"`{at[-1]}`: expected {shapes.spoken(schema)}, found {kind_of(value)}", "")
        schema = {}
    if isinstance(value, list):
        of_items: Schema = schema.get("items", {})
        found = [
            check_value(item, of_items, view, (*at, position), report, refs)
            for position, item in enumerate(value)
        ]
        most = schema.get("maxItems", len(value))
        if not schema.get("minItems", 0) <= len(value) <= most:
            report(at, f"`{at[-1]}` has {len(value)} items", "")
        same = found and all(one == found[0] for one in found)
        return {"type": "array", **({"items": found[0]} if same else {})}
    properties: dict[str, Any] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            report(at, f"`{name}` is missing", "")
    for name, inner in value.items():
        where: Path = (*at, name)
        known = properties.get(name, schema.get("additionalProperties", {}))
        if known is False:
            report(where, f"`{name}` is not known here", did_you_mean(name, properties))
        of_inner = known if isinstance(known, dict) else {}
        check_value(inner, of_inner, view, where, report, refs)
    return {"type": "object"}


def _template(text: str, view: View, at: Path, report: Report, refs: set[str]) -> Schema:
    try:
        compiled = template.compile_text(text)
    except template.TemplateError as error:
        report(at, error.message, error.hint)
        return {}
    found: dict[Reference, Schema] = {}
    for reference in compiled.references:
        schema, trouble = view.schema_of(reference)
        if trouble is not None:
            report(at, *trouble)
        found[reference] = schema
        if reference.root == "tasks" and reference.names:
            refs.add(reference.names[0])
    if compiled.path is not None:
        return found[compiled.path]
    # Imported late: most templates are simple paths, and jinja2 costs 50 ms at start-up.
    from agent_work_orders.workflow_engine import template_types

    known = template_types.by_path(found)
    given, troubles = template_types.check(compiled.sources, known, whole=compiled.whole)
    for trouble in troubles:
        report(at, *trouble)
    return given


def check_condition(source: str, view: View, at: Path, report: Report, never: str) -> set[str]:
    """A CEL condition. Returns the tasks it mentions."""
    try:
        condition.check(source)
    except condition.ConditionError as error:
        report(at, error.message, error.hint)
        return set()
    refs = set()
    found = condition.references(source)
    for reference in found:
        _, trouble = view.schema_of(reference)
        if trouble is not None:
            report(at, *trouble)
        if reference.root == "tasks" and reference.names:
            refs.add(reference.names[0])
    if not found and not _constant(source, at, report):
        report(at, f"{never}: `{source}` is always false", "")
    return refs


def _constant(source: str, at: Path, report: Report) -> bool:
    try:
        return condition.evaluate(source, {})
    except condition.ConditionError as error:
        report(at, error.message, error.hint)
        return True

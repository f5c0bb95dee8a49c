"""What a template gives, as far as the schemas of what it reads are known, and what can never work
in it. Pure.

It says only what holds for every value of these schemas: whatever is complained about fails when it
is rendered, and what it gives has the type that is said. What may fail, it lets pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from jinja2 import nodes

from agent_work_orders.workflow_engine import expression, shapes
from agent_work_orders.workflow_engine.shapes import Schema
from agent_work_orders.workflow_engine.template_values import Reference, TemplateError, shorten

Trouble = tuple[str, str]
"""Message and hint."""
Known = Mapping[tuple[str, tuple[str, ...]], Schema]
"""Schemas of paths, by root and names."""

_EVERY = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_NUMBERS = frozenset({"integer", "number"})
_SCALARS = frozenset({"boolean", "integer", "number", "string"})
_STRING: Schema = {"type": "string"}
_INTEGER: Schema = {"type": "integer"}
_BOOLEAN: Schema = {"type": "boolean"}
_TEXTS: Schema = {"type": "array", "items": _STRING}
_IN_TEXT = "Add `| tojson`, or `| join(', ')`, or use the value alone."


class _Filter(msgspec.Struct, frozen=True, kw_only=True):
    takes: frozenset[str]
    gives: Schema = {}
    arguments: frozenset[str] = frozenset({"string"})


_TEXT_TO_TEXT = _Filter(takes=frozenset({"string"}), gives=_STRING)
_PICKING = _Filter(takes=frozenset({"string", "array"}))
_FILTERS: dict[str, _Filter] = {
    "first": _PICKING,
    "fromjson": _Filter(takes=frozenset({"string"})),
    "int": _Filter(takes=_SCALARS, gives=_INTEGER),
    "join": _Filter(takes=frozenset({"array"}), gives=_STRING),
    "keys": _Filter(takes=frozenset({"object"}), gives=_TEXTS),
    "last": _PICKING,
    "length": _Filter(takes=frozenset({"string", "array", "object"}), gives=_INTEGER),
    "lower": _TEXT_TO_TEXT,
    "range": _Filter(
        takes=frozenset({"integer"}),
        gives={"type": "array", "items": _INTEGER},
        arguments=frozenset({"integer", "null"}),
    ),
    "replace": _TEXT_TO_TEXT,
    "split": _Filter(
        takes=frozenset({"string"}), gives=_TEXTS, arguments=frozenset({"string", "null"})
    ),
    "string": _Filter(takes=_SCALARS, gives=_STRING),
    "tojson": _Filter(takes=_EVERY, gives=_STRING),
    "trim": _TEXT_TO_TEXT,
    "truncate": _Filter(
        takes=frozenset({"string"}), gives=_STRING, arguments=frozenset({"integer"})
    ),
    "upper": _TEXT_TO_TEXT,
}


def check(sources: Sequence[str], known: Known, *, whole: bool) -> tuple[Schema, list[Trouble]]:
    """Of the expressions of one string: what it gives, and everything that can never work."""
    troubles: list[Trouble] = []
    found: Schema = {}
    for source in sources:
        reading = _Reading(source, known, troubles)
        found = reading.schema()
        if not whole:
            reading.need(found, _SCALARS, "cannot stand in text", _IN_TEXT)
    return (found if whole else _STRING), troubles


class _Reading:
    def __init__(self, source: str, known: Known, troubles: list[Trouble]) -> None:
        self._source = source
        self._known = known
        self._troubles = troubles

    def schema(self) -> Schema:
        compiled, references = expression.compile_expression(self._source)
        if not references:
            # It is the same every time: so it is tried.
            try:
                return _of_value(compiled({}))
            except TemplateError as error:
                self._troubles.append((error.message, error.hint))
                return {}
        return self._of(expression.parsed(self._source))

    def need(self, given: Schema, wanted: frozenset[str], what: str, hint: str) -> None:
        """Complain when no value of the one is among the other."""
        if not _kinds(given) & _widened(wanted):
            said = f"`{shorten(self._source)}`: {shapes.spoken(given)} {what}"
            self._troubles.append((said, hint))

    def _of(self, node: nodes.Node) -> Schema:
        match node:
            case nodes.Const():
                return _of_value(node.value)
            case nodes.Name() | nodes.Getattr() | nodes.Getitem():
                return self._path(node)
            case nodes.Filter() if node.node is not None:
                return self._filter(node, node.node)
            case nodes.Test() | nodes.Not():
                self._of(node.node)
                return _BOOLEAN
            case nodes.And() | nodes.Or():
                return _either(self._of(node.left), self._of(node.right))
            case nodes.Compare():
                return self._compare(node)
            case nodes.CondExpr() if node.expr2 is not None:
                self._of(node.test)
                return _either(self._of(node.expr1), self._of(node.expr2))
            case nodes.Concat():
                for part in node.nodes:
                    self.need(self._of(part), _SCALARS, "cannot stand in text", _IN_TEXT)
                return _STRING
            case nodes.Add() | nodes.Sub() | nodes.Mul():
                return self._arithmetic(node)
            case nodes.List():
                for item in node.items:
                    self._of(item)
                return {"type": "array"}
            case nodes.Dict():
                for pair in node.items:
                    self._of(pair.value)
                return {"type": "object"}
            case _:
                return {}

    def _path(self, node: nodes.Node) -> Schema:
        names: list[str] = []
        while isinstance(node, nodes.Getattr | nodes.Getitem):
            if isinstance(node, nodes.Getattr):
                names.append(node.attr)
            elif isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str):
                names.append(node.arg.value)
            else:
                self._of(node.arg)
                self._of(node.node)
                return {}
            node = node.node
        if not isinstance(node, nodes.Name):
            self._of(node)
            return {}
        return self._known.get((node.name, tuple(reversed(names))), {})

    def _filter(self, node: nodes.Filter, inner: nodes.Node) -> Schema:
        given = self._of(inner)
        arguments = [self._of(one) for one in node.args]
        if node.name == "default":
            return _either(_without_null(given), arguments[0])
        known = _FILTERS[node.name]
        wanted = "takes " + shapes.spoken({"type": sorted(known.takes)})
        self.need(given, known.takes, f"cannot go through `{node.name}`, which {wanted}", "")
        for argument in arguments:
            needed = "takes " + shapes.spoken({"type": sorted(known.arguments - {"null"})})
            self.need(argument, known.arguments, f"in `{node.name}(…)`, which {needed}", "")
        if node.name in ("first", "last"):
            kinds = _kinds(given)
            items: Schema = given.get("items", {}) if "array" in kinds else _STRING
            return _either(items, _STRING) if {"array", "string"} <= kinds else items
        return known.gives

    def _compare(self, node: nodes.Compare) -> Schema:
        left, right = self._of(node.expr), self._of(node.ops[0].expr)
        how = node.ops[0].op
        if how in ("in", "notin"):
            holders = frozenset({"string", "array", "object"})
            self.need(right, holders, "has nothing in it", "Look in a list, an object or text.")
        elif how not in ("eq", "ne"):
            shared = _orders(left) & _orders(right)
            if not shared:
                said = f"`{shorten(self._source)}` mixes {shapes.spoken(left)} and "
                hint = "Compare values of one type: numbers, texts or lists."
                self._troubles.append((said + shapes.spoken(right), hint))
        return _BOOLEAN

    def _arithmetic(self, node: nodes.BinExpr) -> Schema:
        hint = "Arithmetic is for numbers; put text side by side, or use `~`."
        for side in (node.left, node.right):
            self.need(self._of(side), _NUMBERS, "is not calculated with", hint)
        return {"type": "number"}


def _kinds(schema: Schema) -> frozenset[str]:
    types = shapes.types_of(schema)
    return _EVERY if types is None else _widened(types)


def _widened(kinds: frozenset[str]) -> frozenset[str]:
    """A number may be whole."""
    return kinds | {"integer"} if "number" in kinds else kinds


def _orders(schema: Schema) -> set[str]:
    """What of it has an order among its own: Python counts true and false as numbers."""
    named = {"boolean": "number", "integer": "number", "number": "number"}
    return {named.get(kind, kind) for kind in _kinds(schema)} - {"null", "object"}


def _either(one: Schema, other: Schema) -> Schema:
    if one == other:
        return one
    if shapes.types_of(one) is None or shapes.types_of(other) is None:
        return {}
    return {"type": sorted(_kinds(one) | _kinds(other))}


def _without_null(schema: Schema) -> Schema:
    types = shapes.types_of(schema)
    if types is None or "null" not in types:
        return schema
    return {**schema, "type": sorted(types - {"null"})} if types != {"null"} else {"type": []}


def _of_value(value: Any) -> Schema:
    match value:
        case None:
            return {"type": "null"}
        case bool():
            return _BOOLEAN
        case int():
            return _INTEGER
        case float():
            return {"type": "number"}
        case str():
            return _STRING
        case list():
            return of_items([_of_value(one) for one in value])
        case _:
            return {"type": "object"}


def of_items(schemas: Sequence[Schema]) -> Schema:
    """A list of so many, of one type if they all are."""
    found: dict[str, Any] = {"type": "array", "minItems": len(schemas)}
    if schemas and all(one == schemas[0] for one in schemas):
        found["items"] = schemas[0]
    return found


def by_path(found: Mapping[Reference, Schema]) -> Known:
    return {(one.root, one.names): schema for one, schema in found.items()}

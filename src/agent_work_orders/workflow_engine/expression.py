"""Jinja2 expressions over JSON values: its syntax tree, compiled to closures of our own.

Only the nodes named in `_compile` exist; everything else (calls, attributes that are not keys,
macros, slices) is refused when the template is read.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.parser import Parser

from agent_work_orders.workflow_engine.template_filters import FILTERS, bounded
from agent_work_orders.workflow_engine.template_values import (
    Expression,
    Missing,
    Reference,
    Scope,
    TemplateError,
    demand,
    in_text,
    missing_step,
    path_of,
    shorten,
    type_name,
)

# Only its lexer and parser are used; nothing is ever rendered by Jinja2.
_ENVIRONMENT = Environment(autoescape=False)
# Integers that JSON readers agree on.
_MAX_NUMBER = 2**53

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "lteq": operator.le,
    "gt": operator.gt,
    "gteq": operator.ge,
    "in": lambda left, right: left in right,
    "notin": lambda left, right: left not in right,
}
_ARITHMETIC: dict[type[nodes.BinExpr], Callable[[Any, Any], Any]] = {
    nodes.Add: operator.add,
    nodes.Sub: operator.sub,
    nodes.Mul: operator.mul,
}


def compile_expression(source: str) -> tuple[Expression, frozenset[Reference]]:
    """Raises `TemplateError` for what is not an expression of the subset."""
    if source.startswith("-") or source.endswith("-"):
        raise _refused(source, "whitespace control (`{{-`, `-}}`) is not known")
    try:
        reading = _Reading(source)
        return reading.compile(parsed(source), optional=False), frozenset(reading.references)
    except RecursionError:
        raise _refused(source, "nested too deeply") from None


def parsed(source: str) -> nodes.Node:
    """Jinja's tree of it. Raises `TemplateError`."""
    try:
        parser = Parser(_ENVIRONMENT, source, state="variable")
        tree = parser.parse_expression()
        if not parser.stream.eos:
            raise _refused(source, "more than one expression")
        return tree
    except TemplateSyntaxError as error:
        raise _refused(source, error.message or "not an expression") from None
    except RecursionError:
        raise _refused(source, "nested too deeply") from None


def _refused(source: str, why: str) -> TemplateError:
    return TemplateError(
        "template_error",
        f"`{shorten(source)}` cannot be read: {why}",
        hint='A template is a path with filters; ids with a dash are written tasks["x-y"].',
    )


class _Reading:
    def __init__(self, source: str) -> None:
        self.source = source
        self.references: set[Reference] = set()

    def compile(self, node: nodes.Node, *, optional: bool) -> Expression:
        match node:
            case nodes.Const(value=value) if value is None or isinstance(
                value, str | bool | int | float
            ):
                return lambda scope: value
            case nodes.Name() | nodes.Getattr() | nodes.Getitem():
                return self._path(node, optional=optional)
            case nodes.Filter() if node.node is not None:
                return self._filter(node, node.node, optional=optional)
            case nodes.Test():
                return self._test(node)
            case nodes.Not():
                inner = self.compile(node.node, optional=optional)
                return lambda scope: not demand(inner(scope))
            case nodes.And() | nodes.Or():
                return self._logic(node, optional=optional)
            case nodes.Compare():
                return self._compare(node, optional=optional)
            case nodes.CondExpr() if node.expr2 is not None:
                return self._choice(node, node.expr2)
            case nodes.Concat():
                parts = [self.compile(part, optional=optional) for part in node.nodes]
                return lambda scope: bounded("".join(in_text(part(scope)) for part in parts))
            case nodes.Add() | nodes.Sub() | nodes.Mul():
                return self._arithmetic(node, optional=optional)
            case nodes.List():
                items = [self.compile(item, optional=optional) for item in node.items]
                return lambda scope: [demand(item(scope)) for item in items]
            case nodes.Dict():
                return self._object(node, optional=optional)
            case _:
                what = type(node).__name__.lower()
                raise _refused(self.source, f"`{what}` is not part of the template language")

    def _path(self, node: nodes.Node, *, optional: bool) -> Expression:
        steps: list[str | nodes.Node] = []
        while isinstance(node, nodes.Getattr | nodes.Getitem):
            if isinstance(node, nodes.Getattr):
                steps.append(node.attr)
            elif isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str):
                steps.append(node.arg.value)
            else:
                steps.append(node.arg)
            node = node.node
        steps.reverse()
        names: list[str] = []
        while steps and isinstance(steps[0], str):
            names.append(str(steps.pop(0)))
        if isinstance(node, nodes.Name):
            self.references.add(Reference(node.name, tuple(names), optional))
            read = path_of(node.name, tuple(names))
            root = ".".join((node.name, *names))
        else:
            read = self.compile(node, optional=optional)
            steps = [*names, *steps]
            root = "the value"
        for step in steps:
            read = self._step(read, step, root)
        return read

    def _step(self, read: Expression, step: str | nodes.Node, root: str) -> Expression:
        key = (lambda scope: step) if isinstance(step, str) else self.compile(step, optional=False)

        def further(scope: Scope) -> Any:
            value = read(scope)
            if isinstance(value, Missing):
                return value
            name = demand(key(scope))
            if isinstance(value, Mapping) and isinstance(name, str) and name in value:
                return value[name]
            if isinstance(value, list) and type(name) is int and -len(value) <= name < len(value):
                return value[name]
            return missing_step(root, (str(name),), value)

        return further

    def _filter(self, node: nodes.Filter, inner: nodes.Node, *, optional: bool) -> Expression:
        if node.kwargs or node.dyn_args or node.dyn_kwargs:
            raise _refused(self.source, f"the filter `{node.name}` takes no named arguments")
        arguments = [self.compile(argument, optional=optional) for argument in node.args]
        if node.name == "default":
            if len(arguments) != 1:
                raise _refused(self.source, "`default` takes one value")
            value = self.compile(inner, optional=True)
            return _default(value, arguments[0])
        found = FILTERS.get(node.name)
        if found is None:
            known = ", ".join(sorted([*FILTERS, "default"]))
            raise _refused(self.source, f"there is no filter `{node.name}` (there are {known})")
        apply, least, most = found
        if not least <= len(arguments) <= most:
            raise _refused(self.source, f"the filter `{node.name}` got {len(arguments)} arguments")
        value = self.compile(inner, optional=optional)

        def filtered(scope: Scope) -> Any:
            operand = demand(value(scope))
            given = [demand(argument(scope)) for argument in arguments]
            try:
                return bounded(apply(operand, *given))
            except (TypeError, ValueError, IndexError, AttributeError, KeyError):
                raise TemplateError(
                    "template_error",
                    f"The filter `{node.name}` cannot take {type_name(operand)} here",
                    hint=f"In `{shorten(self.source)}`.",
                ) from None

        return filtered

    def _test(self, node: nodes.Test) -> Expression:
        inner = self.compile(node.node, optional=True)
        match node.name:
            case "defined":
                return lambda scope: not isinstance(inner(scope), Missing)
            case "undefined":
                return lambda scope: isinstance(inner(scope), Missing)
            case "none":
                return lambda scope: demand(inner(scope)) is None
            case _:
                raise _refused(self.source, f"the test `is {node.name}` is not known")

    def _logic(self, node: nodes.And | nodes.Or, *, optional: bool) -> Expression:
        left = self.compile(node.left, optional=optional)
        # The right side may be guarded by the left one: `x is defined and x.y`.
        right = self.compile(node.right, optional=True)
        if isinstance(node, nodes.And):
            return lambda scope: demand(left(scope)) and demand(right(scope))
        return lambda scope: demand(left(scope)) or demand(right(scope))

    def _compare(self, node: nodes.Compare, *, optional: bool) -> Expression:
        if len(node.ops) != 1:
            raise _refused(self.source, "compare two values at a time")
        left = self.compile(node.expr, optional=optional)
        right = self.compile(node.ops[0].expr, optional=optional)
        return self._guarded(_COMPARE[node.ops[0].op], left, right)

    def _arithmetic(self, node: nodes.BinExpr, *, optional: bool) -> Expression:
        left = self._number(self.compile(node.left, optional=optional))
        right = self._number(self.compile(node.right, optional=optional))
        return self._number(self._guarded(_ARITHMETIC[type(node)], left, right))

    def _number(self, inner: Expression) -> Expression:
        def number(scope: Scope) -> Any:
            value = demand(inner(scope))
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise TemplateError(
                    "template_error",
                    f"`{shorten(self.source)}` calculates with {type_name(value)}",
                    hint="Arithmetic is for numbers; put text side by side, or use `~`.",
                )
            if not abs(value) <= _MAX_NUMBER:
                raise TemplateError(
                    "template_error",
                    f"`{shorten(self.source)}` is too large",
                    hint="Numbers in templates go up to 2^53; compute larger ones in a task.",
                )
            return value

        return number

    def _guarded(
        self, apply: Callable[[Any, Any], Any], left: Expression, right: Expression
    ) -> Expression:
        def applied(scope: Scope) -> Any:
            one, two = demand(left(scope)), demand(right(scope))
            try:
                return apply(one, two)
            except TypeError:
                raise TemplateError(
                    "template_error",
                    f"`{shorten(self.source)}` mixes {type_name(one)} and {type_name(two)}",
                    hint="Compare and calculate with values of one type.",
                ) from None

        return applied

    def _choice(self, node: nodes.CondExpr, otherwise: nodes.Node) -> Expression:
        test = self.compile(node.test, optional=False)
        yes = self.compile(node.expr1, optional=True)
        no = self.compile(otherwise, optional=True)
        return lambda scope: yes(scope) if demand(test(scope)) else no(scope)

    def _object(self, node: nodes.Dict, *, optional: bool) -> Expression:
        pairs: list[tuple[str, Expression]] = []
        for pair in node.items:
            if not isinstance(pair.key, nodes.Const) or not isinstance(pair.key.value, str):
                raise _refused(self.source, "the keys of an object are quoted text")
            pairs.append((pair.key.value, self.compile(pair.value, optional=optional)))
        return lambda scope: {key: demand(value(scope)) for key, value in pairs}


def _default(value: Expression, fallback: Expression) -> Expression:
    def either(scope: Scope) -> Any:
        found = value(scope)
        return fallback(scope) if found is None or isinstance(found, Missing) else found

    return either

"""`POST /graphql`: a document is read, checked against the schema as a whole, and only then run.

What is wrong is said in `errors`, with status 200, the way GitHub does.
"""

from __future__ import annotations

from typing import Any

from github_simulator.call import Answer, Call, Refusal, Route
from github_simulator.graphql import language
from github_simulator.graphql.connection import (
    SCALARS,
    Argument,
    Node,
    Property,
)
from github_simulator.graphql.language import Operation, Selected
from github_simulator.graphql.mutations import (
    ENUMS,
    MUTATIONS,
    PAYLOADS,
    Mutation,
)
from github_simulator.graphql.schema import TYPES
from github_simulator.rules import refusals

ALL_TYPES = {**TYPES, **PAYLOADS}
# `type` of an error, by rule; everything else that goes wrong while running is UNPROCESSABLE.
_KINDS = {
    refusals.GRAPHQL_NO_NODE.id: "NOT_FOUND",
    refusals.GRAPHQL_NO_REPOSITORY.id: "NOT_FOUND",
    refusals.GRAPHQL_NO_PULL.id: "NOT_FOUND",
    refusals.GRAPHQL_FORBIDDEN.id: "FORBIDDEN",
    refusals.GRAPHQL_PAGES.id: "MISSING_PAGINATION_BOUNDARIES",
    refusals.GRAPHQL_EXCESS.id: "EXCESSIVE_PAGINATION",
    refusals.ARCHIVED.id: "FORBIDDEN",
}
_INPUT = {"input": Argument(type="Input", required=True)}
_PYTHON: dict[str, tuple[type, ...]] = {
    "ID": (str, int),
    "String": (str,),
    "Int": (int,),
    "Boolean": (bool,),
    "GitObjectID": (str,),
}


def answer(call: Call) -> Answer:
    try:
        operation, variables = _read(call)
        _check(operation)
    except Refusal as refusal:
        return Answer(body={"errors": refusal.errors or [{"message": refusal.message}]})
    errors: list[dict[str, Any]] = []
    data = _run(call, operation, variables, errors)
    return Answer(body={"data": data, **({"errors": errors} if errors else {})})


def _read(call: Call) -> tuple[Operation, dict[str, Any]]:
    query = call.body.get("query")
    refusals.GRAPHQL_QUERY.when(not isinstance(query, str))
    try:
        operations = language.parse(str(query))
    except language.SyntaxProblem as problem:
        place = [{"line": problem.line, "column": problem.column}]
        error = {"message": str(problem), "locations": place}
        refusals.GRAPHQL_SYNTAX.when(True, errors=[error])
        raise refusals.Absent(refusals.GRAPHQL_SYNTAX.id) from problem
    wanted = call.body.get("operationName")
    named = [each for each in operations if wanted in (None, each.name)]
    refusals.GRAPHQL_QUERY.when(len(named) != 1, "An operation name is required")
    given = call.body.get("variables") or {}
    return named[0], _variables(named[0], given if isinstance(given, dict) else {})


def _variables(operation: Operation, given: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, declared in operation.variables.items():
        value = given.get(name, declared.default)
        wrong = (value is None and declared.type.endswith("!")) or not _fits(declared.type, value)
        error = {
            "message": f"Variable ${name} of type {declared.type} was provided invalid value",
            "extensions": {"value": value, "problems": [{"path": [], "explanation": "Expected"}]},
        }
        refusals.GRAPHQL_VARIABLE.when(wrong, errors=[error])
        values[name] = value
    return values


def _fits(type_: str, value: Any) -> bool:
    base = type_.rstrip("!")
    if value is None or base not in _PYTHON:
        return value is None or base not in ENUMS or value in ENUMS[base]
    return isinstance(value, _PYTHON[base]) and (base == "Boolean" or not isinstance(value, bool))


def _check(operation: Operation) -> None:
    errors: list[dict[str, Any]] = []
    root = "Mutation" if operation.kind == "mutation" else "Query"
    path = [operation.kind + (f" {operation.name}" if operation.name else "")]
    for selected in operation.fields:
        _check_field(operation, root, selected, path, errors)
    for rule, found in (
        (refusals.GRAPHQL_FIELD, [e for e in errors if e["rule"] == "field"]),
        (refusals.GRAPHQL_ARGUMENT, [e for e in errors if e["rule"] == "argument"]),
        (refusals.GRAPHQL_REQUIRED, [e for e in errors if e["rule"] == "required"]),
        (refusals.GRAPHQL_SELECTION, [e for e in errors if e["rule"] == "selection"]),
        (refusals.GRAPHQL_VARIABLE, [e for e in errors if e["rule"] == "variable"]),
    ):
        shown = [{k: v for k, v in each.items() if k != "rule"} for each in found]
        rule.when(shown, errors=shown)


def _property(type_: str, name: str) -> tuple[str, dict[str, Argument]] | None:
    """A field's type and arguments."""
    if name == "__typename":
        return "String", {}
    if type_ == "Mutation":
        mutation = MUTATIONS.get(name)
        return None if mutation is None else (mutation.payload, _INPUT)
    found = ALL_TYPES[type_].get(name)
    return None if found is None else (found.type, found.arguments)


def _check_field(
    operation: Operation,
    type_: str,
    selected: Selected,
    path: list[str],
    errors: list[dict[str, Any]],
) -> None:
    def wrong(rule: str, code: str, message: str, **more: Any) -> None:
        errors.append(
            {
                "rule": rule,
                "path": [*path, selected.alias or f"... on {selected.on}"],
                "extensions": {"code": code, "typeName": type_, **more},
                "locations": selected.place,
                "message": message,
            }
        )

    if selected.on is not None:
        if selected.on not in ALL_TYPES:
            wrong(
                "field", "undefinedType", f"No such type {selected.on}, so it can't be a fragment"
            )
            return
        for each in selected.fields:
            _check_field(operation, selected.on, each, [*path, f"... on {selected.on}"], errors)
        return
    name = selected.name
    found = _property(type_, name)
    if found is None:
        message = f"Field '{name}' doesn't exist on type '{type_}'"
        wrong("field", "undefinedField", message, fieldName=name)
        return
    result, arguments = found
    for given in selected.arguments:
        if given not in arguments:
            message = f"Field '{name}' doesn't accept argument '{given}'"
            wrong("argument", "argumentNotAccepted", message, argumentName=given)
    missing = [k for k, a in arguments.items() if a.required and k not in selected.arguments]
    if missing:
        message = f"Field '{name}' is missing required arguments: {', '.join(missing)}"
        wrong("required", "missingRequiredArguments", message)
    for used in _used(selected.arguments):
        if used not in operation.variables:
            message = (
                f"Variable ${used} is used by {operation.name or 'anonymous'} but not declared"
            )
            wrong("variable", "variableNotDefined", message, variableName=used)
    if (result in SCALARS) == bool(selected.fields):
        kind = (
            "Selections can't be made on scalars"
            if selected.fields
            else "Field must have selections"
        )
        wrong("selection", "selectionMismatch", f"{kind} (field '{name}' returns {result})")
    if result not in SCALARS:
        for each in selected.fields:
            _check_field(operation, result, each, [*path, selected.alias], errors)


def _used(value: Any) -> list[str]:
    if isinstance(value, language.Variable):
        return [value.name]
    if isinstance(value, dict):
        return [name for each in value.values() for name in _used(each)]
    if isinstance(value, list):
        return [name for each in value for name in _used(each)]
    return []


def _value(value: Any, variables: dict[str, Any]) -> Any:
    match value:
        case language.Variable():
            return variables.get(value.name)
        case language.Word():
            return value.name
        case dict():
            return {name: _value(each, variables) for name, each in value.items()}
        case list():
            return [_value(each, variables) for each in value]
    return value


def _run(
    call: Call, operation: Operation, variables: dict[str, Any], errors: list[dict[str, Any]]
) -> dict[str, Any]:
    if operation.kind == "query":
        return _object(call, Node(type="Query"), operation.fields, variables, [], errors)
    data: dict[str, Any] = {}
    for selected in operation.fields:
        try:
            node = _mutate(call, MUTATIONS[selected.name], selected, variables)
            data[selected.alias] = _object(
                call, node, selected.fields, variables, [selected.alias], errors
            )
        except Refusal as refusal:
            data[selected.alias] = None
            errors.append(_error(refusal, selected, [selected.alias]))
    return data


def _mutate(call: Call, mutation: Mutation, selected: Selected, variables: dict[str, Any]) -> Node:
    given = _value(selected.arguments["input"], variables)
    given = given if isinstance(given, dict) else {}
    wrong = [name for name in given if name not in mutation.inputs]
    wrong += [n for n, a in mutation.inputs.items() if a.required and given.get(n) is None]
    wrong += [
        n for n, v in given.items() if n not in wrong and not _fits(mutation.inputs[n].type, v)
    ]
    refusals.GRAPHQL_ARGUMENT.when(
        wrong, f"Argument 'input' on Field '{selected.name}' has an invalid value: {wrong}"
    )
    made = mutation.act(call, given)
    return Node(type=mutation.payload, made=made.made)


def _object(
    call: Call,
    node: Node,
    fields: tuple[Selected, ...],
    variables: dict[str, Any],
    path: list[Any],
    errors: list[dict[str, Any]],
) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for selected in fields:
        if selected.on is not None:
            if selected.on in (node.type, "Node"):
                data |= _object(call, node, selected.fields, variables, path, errors)
            continue
        if selected.name == "__typename":
            account = node.account
            data[selected.alias] = account.kind if account is not None else node.type
            continue
        here = [*path, selected.alias]
        own = ALL_TYPES[node.type][selected.name]
        arguments = {n: _value(v, variables) for n, v in selected.arguments.items()}
        try:
            found = own.resolve(call, node, arguments)
            data[selected.alias] = _rendered(call, own, found, selected, variables, here, errors)
        except Refusal as refusal:
            data[selected.alias] = None
            errors.append(_error(refusal, selected, here))
    return data


def _rendered(
    call: Call,
    own: Property,
    found: Any,
    selected: Selected,
    variables: dict[str, Any],
    path: list[Any],
    errors: list[dict[str, Any]],
) -> Any:
    if found is None or own.type in SCALARS:
        return found
    if isinstance(found, list):
        return [
            _object(call, each, selected.fields, variables, [*path, at], errors)
            for at, each in enumerate(found)
        ]
    return _object(call, found, selected.fields, variables, path, errors)


def _error(refusal: Refusal, selected: Selected, path: list[Any]) -> dict[str, Any]:
    return {
        "type": _KINDS.get(refusal.rule, "UNPROCESSABLE"),
        "path": path,
        "locations": selected.place,
        "message": refusal.message,
    }


ROUTES = (Route(method="POST", template="/graphql", operation="graphql", handler=answer),)

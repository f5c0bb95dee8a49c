"""What the simulator declares of bodies, queries and types is what GitHub publishes."""

from __future__ import annotations

from typing import Any

import pytest

from github_descriptions import (
    NotDescribed,
    graphql_fields,
    operations,
    parameters,
    resolve,
    validate_request,
)
from github_simulator.call import Field, Route
from github_simulator.graphql.endpoint import ALL_TYPES
from github_simulator.graphql.mutations import MUTATIONS
from github_simulator.routes import ROUTES

DESCRIBED = [route for route in ROUTES if route.operation != "graphql"]


def alternatives(schema: dict[str, Any]) -> list[dict[str, Any]]:
    schema = resolve(schema)
    found = []
    for name in ("oneOf", "anyOf", "allOf"):
        for each in schema.get(name, ()):
            found.extend(alternatives(each))
    return [schema, *found]


def kinds(schema: dict[str, Any]) -> set[str]:
    found = set()
    for each in alternatives(schema):
        if "type" in each:
            found.add(each["type"])
        if each.get("nullable"):
            found.add("null")
    return found


def compare(operation: str, fields: tuple[Field, ...], schema: dict[str, Any], at: str) -> None:
    """Every field is described with these types and values, and what is required is declared."""
    options = alternatives(schema)
    described: dict[str, dict[str, Any]] = {}
    for each in options:
        for name, own in each.get("properties", {}).items():
            described.setdefault(name, own)
    required = set(options[0].get("required", ()))
    if at:
        required = next((set(o["required"]) for o in options if o.get("required")), set())
    declared = {field.name: field for field in fields if field.name}
    missing = {name for name in required if name not in declared or not declared[name].required}
    assert missing == set(), f"{operation} {at}: required and not declared so: {missing}"
    for name, field in declared.items():
        place = f"{operation} {at}{name}"
        assert name in described, f"{place} is not described"
        own = described[name]
        assert set(field.kinds) <= kinds(own) | {"null"}, f"{place}: {field.kinds}, {kinds(own)}"
        enums = [set(each["enum"]) for each in alternatives(own) if "enum" in each]
        if enums or field.enum:
            assert set(field.enum) == set.union(*enums), f"{place}: {field.enum} {enums}"
        if field.fields:
            inner = next((each["items"] for each in alternatives(own) if "items" in each), own)
            compare(operation, field.fields, inner, f"{at}{name}/")


@pytest.mark.parametrize("route", [r for r in DESCRIBED if r.body], ids=lambda r: r.operation)
def test_bodies(route: Route) -> None:
    described = operations()[route.operation].spec["requestBody"]
    compare(route.operation, route.body, described["content"]["application/json"]["schema"], "")


def test_an_operation_without_a_body_needs_none() -> None:
    for route in DESCRIBED:
        body = operations()[route.operation].spec.get("requestBody", {})
        schema = body.get("content", {}).get("application/json", {}).get("schema", {})
        if not route.body:
            assert not schema.get("required"), route.operation


def test_queries() -> None:
    for route in DESCRIBED:
        described = {each["name"]: each for each in parameters(operations()[route.operation])}
        for name, allowed in route.choices.items():
            enum = resolve(described[name]["schema"]).get("enum")
            assert set(allowed) == set(enum or allowed), f"{route.operation} {name}"


def test_graphql_types() -> None:
    known = graphql_fields()
    for name, fields in ALL_TYPES.items():
        theirs = known[name]
        assert set(fields) <= set(theirs), f"{name}: {set(fields) - set(theirs)}"
        for field, own in fields.items():
            assert set(own.arguments) <= theirs[field], f"{name}.{field}"


def test_graphql_mutations() -> None:
    known = graphql_fields()
    for name, mutation in MUTATIONS.items():
        assert name in known["Mutation"]
        wanted = name[0].upper() + name[1:] + "Input"
        assert set(mutation.inputs) == set(known[wanted]), name


@pytest.mark.parametrize(
    ("method", "path", "query", "body"),
    [
        ("GET", "/repos/o/r/pulls", {"state": "all", "head": "o:b", "per_page": "100"}, None),
        ("GET", "/repositories/12/issues/3/comments", {"page": "2"}, None),
        ("GET", "/repos/o/r/contents/a/b.txt", {"ref": "main"}, None),
        ("POST", "/repos/o/r/pulls", {}, {"title": "t", "head": "h", "base": "b", "draft": True}),
        ("POST", "/repos/o/r/issues/3/labels", {}, {"labels": ["bug"]}),
        ("POST", "/repos/o/r/check-runs", {}, {"name": "n", "head_sha": "s"}),
    ],
)
def test_right_requests_pass(method: str, path: str, query: Any, body: Any) -> None:
    assert validate_request(method, path, query, body)


@pytest.mark.parametrize(
    ("method", "path", "query", "body"),
    [
        ("GET", "/repos/o/r/pulls", {"stat": "all"}, None),
        ("GET", "/repos/o/r/pulls", {"state": "merged"}, None),
        ("GET", "/repos/o/r/pulls", {"per_page": "many"}, None),
        ("GET", "/repos/o/r/nothing", {}, None),
        ("POST", "/repos/o/r/pulls", {}, None),
        ("POST", "/repos/o/r/pulls", {}, {"title": "t", "head": "h"}),
        ("PATCH", "/repos/o/r/pulls/3", {}, {"draft": False}),
        ("POST", "/repos/o/r/issues/3/reactions", {}, {"content": "wave"}),
        ("POST", "/repos/o/r/check-runs", {}, {"name": "n", "head_sha": "s", "output": {}}),
        ("GET", "/repos/o/r/pulls", {}, {"title": "t"}),
    ],
)
def test_wrong_requests_do_not(method: str, path: str, query: Any, body: Any) -> None:
    with pytest.raises(NotDescribed):
        validate_request(method, path, query, body)

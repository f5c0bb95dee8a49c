"""Lint finds what can never work in a template, and only that."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_work_orders.workflow_engine import shapes, template, template_types, written_schema
from agent_work_orders.workflow_engine.shapes import Schema
from agent_work_orders.workflow_engine.template import TemplateError
from agent_work_orders.workflow_engine.template_filters import FILTERS

SCHEMAS: dict[str, Schema] = {
    "n": {"type": "integer"},
    "f": {"type": "number"},
    "s": {"type": "string"},
    "b": {"type": "boolean"},
    "l": {"type": "array", "items": {"type": "string"}},
    "ll": {"type": "array", "items": {"type": "object"}},
    "o": {"type": "object", "properties": {"k": {"type": "string"}}},
    "z": {"type": "null"},
    "m": {"type": ["string", "null"]},
    "any": {},
}
TEXT = st.text(max_size=6)
NUMBER = st.integers(-5, 5) | st.floats(-5, 5)
ANY = st.none() | st.booleans() | NUMBER | TEXT | st.lists(TEXT, max_size=3)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "n": st.integers(-5, 5),
    "f": NUMBER,
    "s": TEXT | st.sampled_from(["7", "[1]", "{}", "null"]),
    "b": st.booleans(),
    "l": st.lists(TEXT, max_size=3),
    "ll": st.lists(st.fixed_dictionaries({}), max_size=3),
    "o": st.fixed_dictionaries({"k": TEXT}),
    "z": st.none(),
    "m": TEXT | st.none(),
    "any": ANY,
}


def lint(text: str) -> tuple[Schema, list[str]]:
    compiled = template.compile_text(text)
    known = {("inputs", (name,)): schema for name, schema in SCHEMAS.items()}
    found, troubles = template_types.check(compiled.sources, known, whole=compiled.whole)
    return found, [message for message, _ in troubles]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ inputs.n | upper }}", "`inputs.n | upper`: an integer cannot go through `upper`"),
        ("x {{ inputs.l }}", "`inputs.l`: a list cannot stand in text"),
        ("x {{ inputs.z }}", "null cannot stand in text"),
        ("{{ inputs.n < 'a' }}", "mixes an integer and text"),
        ("{{ 'x' | fromjson }}", "What `fromjson` got is not JSON"),
        ("{{ inputs.l | join(1) }}", "an integer in `join(…)`, which takes text"),
        ("{{ inputs.b | length }}", "true or false cannot go through `length`"),
        ("{{ inputs.s + 'x' }}", "text is not calculated with"),
        ("{{ inputs.l ~ 'x' }}", "a list cannot stand in text"),
        ("{{ 1 in inputs.n }}", "an integer has nothing in it"),
        ("{{ inputs.s | split | upper }}", "a list cannot go through `upper`"),
        ("{{ inputs.ll | first | trim }}", "a mapping cannot go through `trim`"),
        ("{{ inputs.z | default(inputs.n) | trim }}", "an integer cannot go through `trim`"),
        ("{{ (inputs.n if inputs.b else 7) | trim }}", "an integer cannot go through `trim`"),
        ("{{ inputs.s | truncate('x') }}", "text in `truncate(…)`, which takes an integer"),
        ("{{ 'a' | truncate(0) }}", "The filter `truncate` cannot take text here"),
    ],
)
def test_what_can_never_work(text: str, message: str) -> None:
    _, troubles = lint(text)
    assert [one for one in troubles if message in one], troubles


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("{{ inputs.any | upper }}", {"string"}),
        ("{{ inputs.m | upper }}", {"string"}),
        ("{{ inputs.m | default(inputs.n) }}", {"string", "integer"}),
        ("{{ inputs.s | fromjson }}", None),
        ("{{ inputs.s | fromjson | length }}", {"integer"}),
        ("{{ inputs.l | first }}", {"string"}),
        ("{{ inputs.n < inputs.f }}", {"boolean"}),
        ("{{ inputs.n + 1 }}", {"number"}),
        ("{{ inputs.o['k'] | trim }}", {"string"}),
        ("{{ inputs.l[0] | trim }}", {"string"}),
        ("{{ 'yes' if inputs.any is defined else 'no' }}", {"string"}),
        ("n={{ inputs.n }} b={{ inputs.b }} m={{ inputs.m }}", {"string"}),
        ("{{ 3 | range }}", {"array"}),
    ],
)
def test_what_may_work_has_a_type(text: str, kinds: set[str] | None) -> None:
    found, troubles = lint(text)
    assert troubles == []
    assert shapes.types_of(found) == kinds


def test_every_filter_has_its_types() -> None:
    for name, (_, least, _) in FILTERS.items():
        arguments = "(" + ", ".join(["inputs.any"] * least) + ")" if least else ""
        _, troubles = lint(f"{{{{ inputs.any | {name}{arguments} }}}}")
        assert troubles == [], name


PATHS = st.sampled_from([f"inputs.{name}" for name in SCHEMAS])
LITERALS = st.sampled_from(["1", "'a'", "true", "none", "''", "0"])


def _deeper(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def call(parts: tuple[str, str, list[str]]) -> str:
        operand, name, arguments = parts
        least, most = FILTERS[name][1:]
        given = arguments[: max(least, min(most, len(arguments)))]
        while len(given) < least:
            given.append("'a'")
        return f"({operand}) | {name}" + (f"({', '.join(given)})" if given else "")

    operators = st.sampled_from(["<", ">=", "==", "in", "not in", "+", "*", "~", "and", "or"])
    return (
        st.tuples(inner, st.sampled_from(sorted(FILTERS)), st.lists(inner, max_size=2)).map(call)
        | st.tuples(inner, operators, inner).map(lambda one: f"({one[0]}) {one[1]} ({one[2]})")
        | st.tuples(inner, inner).map(lambda one: f"({one[0]}) | default({one[1]})")
        | st.tuples(inner, inner, inner).map(
            lambda one: f"({one[0]}) if ({one[1]}) else ({one[2]})"
        )
        | inner.map(lambda one: f"not ({one})")
        | inner.map(lambda one: f"[{one}]")
    )


EXPRESSIONS = st.recursive(PATHS | LITERALS, _deeper, max_leaves=5)


@given(EXPRESSIONS, st.booleans(), st.fixed_dictionaries(VALUES))
@settings(max_examples=1_500, deadline=None)
def test_what_is_refused_fails_and_what_is_given_has_its_type(
    source: str, whole: bool, inputs: dict[str, Any]
) -> None:
    text = f"{{{{ {source} }}}}" if whole else f"x{{{{ {source} }}}}"
    try:
        found, troubles = lint(text)
    except TemplateError:
        return
    try:
        value = template.render(text, {"inputs": inputs})
    except TemplateError:
        return
    # A branch that is not taken may hold what can never work.
    if not any(word in source for word in (" if ", " and ", " or ", "default")):
        assert troubles == []
    if not troubles:
        types = shapes.types_of(found)
        if types is not None:
            number = {"integer", "number"} if types & {"number"} else set()
            assert shapes.mismatch(value, {"type": sorted(types | number)}) is None, (found, value)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "string", "maxLength": -1}, "`maxLength` cannot be below 0"),
        ({"type": "integer", "minimum": 5, "maximum": 3}, "nothing fits"),
        ({"items": {"minItems": 2, "maxItems": 1}}, "nothing fits"),
        ({"required": ["zz"], "additionalProperties": False}, "`zz` is required and not allowed"),
        ({"type": "text"}, "`type` is one of"),
        ({"properties": {"a": {"enum": []}}}, "`enum` has no value"),
        ({"$ref": "#/x"}, "`$ref` of JSON Schema is not known"),
        ({"minimum": True}, "`minimum` cannot be"),
    ],
)
def test_schemas_that_nothing_fits_are_none(schema: dict[str, Any], message: str) -> None:
    wrong = written_schema.not_understood(schema)
    assert wrong is not None and message in wrong[1]


def test_a_schema_with_every_keyword_is_understood() -> None:
    whole = {
        "type": ["object", "null"], "title": "t", "description": "d", "required": ["a"],
        "additionalProperties": {"type": "integer", "minimum": 0, "maximum": 9.5},
        "properties": {
            "a": {"type": "array", "items": {"enum": [1, None]}, "minItems": 0, "maxItems": 2},
            "b": {"type": "string", "minLength": 1, "maxLength": 1},
        },
    }  # fmt: skip
    assert written_schema.not_understood(whole) is None
    assert written_schema.not_understood({**whole, "additionalProperties": True}) is None

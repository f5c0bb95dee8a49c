from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_work_orders.workflow_engine.inputs import InputError, accept, from_text, json_schema
from agent_work_orders.workflow_engine.plan import Input

DECLARED = {
    "number": Input(type="string", required=True, description="The issue"),
    "count": Input(type="integer", default=3),
    "ratio": Input(type="number"),
    "deep": Input(type="boolean", default=False),
    "services": Input(type="list", items="string", default=["a"]),
    "ports": Input(type="list", items="integer"),
    "extra": Input(type="object"),
    "level": Input(type="string", enum=("low", "high"), default="low"),
}


def test_defaults_are_filled_in_and_every_name_exists() -> None:
    assert accept(DECLARED, {"number": "42", "ratio": 1}) == {
        "number": "42",
        "count": 3,
        "ratio": 1,
        "deep": False,
        "services": ["a"],
        "ports": None,
        "extra": None,
        "level": "low",
    }


@pytest.mark.parametrize(
    ("given", "field", "says"),
    [
        ({}, "inputs.number", "required"),
        ({"number": None}, "inputs.number", "required"),
        ({"number": 42}, "inputs.number", "expected text, found an integer"),
        ({"number": "1", "count": "3"}, "inputs.count", "expected an integer"),
        ({"number": "1", "count": True}, "inputs.count", "expected an integer"),
        ({"number": "1", "count": 1.5}, "inputs.count", "expected an integer"),
        ({"number": "1", "deep": 1}, "inputs.deep", "true or false"),
        ({"number": "1", "services": ["a", 5]}, "inputs.services.1", "expected text"),
        ({"number": "1", "services": "a"}, "inputs.services", "expected a list"),
        ({"number": "1", "extra": []}, "inputs.extra", "expected a mapping"),
        ({"number": "1", "level": "mid"}, "inputs.level", "low, high"),
        ({"number": "1", "contu": 1}, "inputs.contu", "no input `contu`"),
    ],
)
def test_a_wrong_input_is_refused_by_name(given: dict[str, Any], field: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        accept(DECLARED, given)
    assert caught.value.code == "input_invalid"
    assert caught.value.field == field
    assert says in caught.value.message


def test_an_unknown_input_gets_a_hint() -> None:
    with pytest.raises(InputError) as caught:
        accept(DECLARED, {"number": "1", "servics": []})
    assert "`services`" in caught.value.hint
    with pytest.raises(InputError) as caught:
        accept({}, {"x": 1})
    assert "no inputs" in caught.value.hint


def test_words_of_a_command_line_are_read_by_their_type() -> None:
    pairs = {
        "number": "42",
        "count": "7",
        "ratio": "0.5",
        "deep": "TRUE",
        "services": "a, b",
        "ports": "[80, 443]",
        "extra": '{"a": 1}',
    }
    assert accept(DECLARED, from_text(DECLARED, pairs)) == {
        "number": "42",
        "count": 7,
        "ratio": 0.5,
        "deep": True,
        "services": ["a", "b"],
        "ports": [80, 443],
        "extra": {"a": 1},
        "level": "low",
    }
    assert from_text(DECLARED, {"services": ""}) == {"services": []}
    assert from_text(DECLARED, {"services": '["a,b"]'}) == {"services": ["a,b"]}
    assert from_text(DECLARED, {"services": " a, b,"}) == {"services": ["a", "b"]}


@pytest.mark.parametrize(
    ("name", "text"),
    [("count", "x"), ("count", "1.5"), ("deep", "yes"), ("extra", "{"), ("ratio", "NaN"),
     ("ports", "80,443"), ("count", "9" * 5_000)],
)  # fmt: skip
def test_words_that_cannot_be_read(name: str, text: str) -> None:
    with pytest.raises(InputError) as caught:
        from_text(DECLARED, {name: text})
    assert caught.value.field == f"inputs.{name}"


@given(st.text(max_size=30))
def test_text_stays_text(text: str) -> None:
    assert from_text(DECLARED, {"number": text}) == {"number": text}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3) | st.just("low"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from([*DECLARED, "other"]), VALUES))
def test_the_schema_of_the_form_agrees(given: dict[str, Any]) -> None:
    """Null means "not given" to us; a form leaves it out."""
    given = {name: value for name, value in given.items() if value is not None}
    valid = not list(jsonschema.Draft202012Validator(json_schema(DECLARED)).iter_errors(given))
    try:
        accept(DECLARED, given)
        accepted = True
    except InputError:
        accepted = False
    assert accepted == valid


def test_the_schema_is_json() -> None:
    schema = json.loads(json.dumps(json_schema(DECLARED)))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["required"] == ["number"]
    assert schema["properties"]["level"]["enum"] == ["low", "high"]

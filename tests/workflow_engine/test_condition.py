from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_work_orders.workflow_engine.condition import (
    ConditionError,
    check,
    evaluate,
    references,
)
from agent_work_orders.workflow_engine.template_values import Reference

SCOPE: dict[str, Any] = {
    "inputs": {"n": 5, "list": [1, 2], "text": "abc", "none": None, "big": 2**70},
    "tasks": {
        "a": {"state": "succeeded", "outputs": {"passed": True, "count": 3}, "failure": None},
        "x-y": {"state": "failed", "outputs": {}, "failure": {"code": "boom"}},
    },
    "order": {},
}


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("true", True),
        ("tasks.a.outputs.passed", True),
        ('tasks.a.state == "succeeded" && inputs.n > 4', True),
        ('tasks["x-y"].failure.code == "boom"', True),
        ("!tasks.a.outputs.passed || inputs.n < 3", False),
        ("has(tasks.a.outputs.gone)", False),
        ("inputs.none == null", True),
        ("size(inputs.list) == 2 && 2 in inputs.list", True),
        ("inputs.list.exists(x, x > 1)", True),
        ("inputs.text.matches('^a.c$')", True),
        ("inputs.text == 5", False),
        ("tasks.a.outputs.count >= 3.0", True),
    ],
)
def test_conditions(source: str, value: bool) -> None:
    check(source)
    assert evaluate(source, SCOPE) is value


@pytest.mark.fault("L3")
@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("inputs.gone", "Key not found"),
        ("tasks.b.outputs.passed", "Key not found"),
        ("inputs.gone == 1", "Key not found"),
        ("inputs.n", "is int"),
        ("inputs.text", "is string"),
        ("inputs.list", "is list"),
        ("inputs.none", "is null"),
        ("inputs.n > 'a'", "No matching overload"),
        ("inputs.n + 9223372036854775807 > 0", "overflow"),
        ("inputs.n / 0 == 1", "divi"),
        ("inputs.big > 0", "out of range"),
        ("int(inputs.text) > 0", "cannot convert"),
        ("iteration > 1", "iteration"),
        ("inputs.text.matches('(')", "regular expression"),
    ],
)
def test_an_error_is_never_true(source: str, says: str) -> None:
    with pytest.raises(ConditionError) as caught:
        evaluate(source, SCOPE)
    assert caught.value.code == "condition_error"
    assert says in caught.value.message


@pytest.mark.fault("L3")
@pytest.mark.parametrize(
    "source",
    [
        "",
        "tasks.a.",
        "1 > 'a'",
        "gone.x",
        "x-y",
        "1 + 1",
        "'text'",
        "{{ inputs.n }} == 5",
        "tasks.?a",
    ],
)
def test_what_can_never_be_a_condition_is_refused_when_read(source: str) -> None:
    with pytest.raises(ConditionError):
        check(source)


def _nested(levels: int) -> str:
    digits = "[0,1,2,3,4,5,6,7,8,9]"
    inner = "true"
    for level in range(levels):
        inner = f"{digits}.all(v{level},{inner})"
    return inner


@pytest.mark.fault("L3")
@pytest.mark.parametrize(
    "source",
    [
        _nested(6),
        _nested(12),
        "(" * 10_000 + "true" + ")" * 10_000,
        "(" * 400 + "true" + ")" * 400,
        "!" * 10_000 + "true",
        "true" + " && true" * 10_000,
        "'a'.matches('((a{1000}){1000}){1000}')",
    ],
)
def test_costly_conditions_end_at_once_and_are_not_true(source: str) -> None:
    with pytest.raises(ConditionError):
        evaluate(source, SCOPE)


@pytest.mark.fault("L3")
def test_a_catastrophic_regular_expression_is_only_linear() -> None:
    scope = {"inputs": {"s": "a" * 100_000 + "b"}}
    assert evaluate("inputs.s.matches('^(a+)+$')", scope) is False


@given(st.text(max_size=60))
def test_any_text_is_a_boolean_or_refused(source: str) -> None:
    try:
        assert evaluate(source, SCOPE) in (True, False)
    except ConditionError as error:
        assert error.message


@given(st.text(max_size=30), st.sampled_from(["==", "!="]))
def test_values_are_data_not_expressions(text: str, operator: str) -> None:
    scope = {"inputs": {"a": text}}
    assert evaluate(f"inputs.a {operator} inputs.a", scope) is (operator == "==")


def test_only_what_is_named_is_looked_at() -> None:
    class Untouchable(dict[str, Any]):
        def __iter__(self) -> Any:
            raise AssertionError("read a value that the condition does not name")

        items = keys = values = __iter__

    scope = {
        "inputs": {"n": 1, "other": Untouchable(x=1)},
        "tasks": {"a": {"outputs": {"ok": True, "log": Untouchable(x=1)}}},
    }
    assert evaluate("inputs.n == 1 && tasks.a.outputs.ok && !has(inputs.gone)", scope)
    assert evaluate("'n' in inputs && inputs.n == 1", {"inputs": {"n": 1, "m": 2}})
    assert evaluate("tasks.a.outputs.ok && 'ok' in tasks.a.outputs", {"tasks": SCOPE_OK})
    assert evaluate(".inputs.n == 1", {"inputs": {"n": 1}})
    assert evaluate("inputs[r'n'] == inputs['n']", {"inputs": {"n": 1}})


SCOPE_OK = {"a": {"outputs": {"ok": True}}}


def test_references() -> None:
    source = """
        tasks.a.outputs.passed && tasks["x-y"].state == "tasks.no.no"  // tasks.comment
        || has(previous.check) && inputs.list.size() > 1 && x.tasks.y && r'inputs.z' == ''
    """
    assert {(found.root, found.names) for found in references(source)} == {
        ("tasks", ("a", "outputs", "passed")),
        ("tasks", ("x-y", "state")),
        ("previous", ("check",)),
        ("inputs", ("list",)),
    }
    assert references("iteration > 2") == {Reference("iteration", (), optional=True)}

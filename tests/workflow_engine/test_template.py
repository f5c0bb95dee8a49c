from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_work_orders.workflow_engine.template import (
    MAX_RENDERED_CHARS,
    Reference,
    TemplateError,
    references,
    render,
)
from agent_work_orders.workflow_engine.template_filters import FILTERS

SCOPE: dict[str, Any] = {
    "inputs": {
        "text": "hello",
        "list": [1, "b"],
        "none": None,
        "n": 7,
        "yes": True,
        "f": 1.5,
        "deep": "[" * 100 + "]" * 100,
        "deeper": "[" * 200_000,
        "many": "x " * 10_001,
    },
    "tasks": {"x-y": {"state": "succeeded", "outputs": {"k": {"deep": 3}}}},
    "order": {"title": "Fix {{ inputs.n }}"},
    "previous": {},
    "iteration": 1,
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("{ not a template }", "{ not a template }"),
        ("{{ inputs.list }}", [1, "b"]),
        ("{{inputs.n}}", 7),
        ("{{ inputs['text'] }}", "hello"),
        ("{{ inputs.none }}", None),
        ('{{ tasks["x-y"].outputs.k.deep }}', 3),
        ("n={{ inputs.n }}!", "n=7!"),
        ("{{ inputs.yes }} {{ inputs.f }}", "true 1.5"),
        ("{{ inputs.text }}{{ inputs.text }}", "hellohello"),
        ("{{ inputs.list[1] }}", "b"),
        ("{{ inputs.list | length }}", 2),
        ("{{ inputs.list | join(', ') }}", "1, b"),
        ("{{ inputs.list | tojson }}", '[1, "b"]'),
        ("{{ inputs.text | upper | truncate(3) }}", "HE…"),
        ("{{ inputs.text | replace('l', 'L') }}", "heLLo"),
        ('{{ \'[{"a": [1, null]}, "b"]\' | fromjson }}', [{"a": [1, None]}, "b"]),
        ("{{ (inputs.list | tojson) | fromjson }}", [1, "b"]),
        ("{{ ' {\"n\": 1.5}\\n' | fromjson }}", {"n": 1.5}),
        ("{{ 'a\\nb c\\n' | trim | split('\\n') }}", ["a", "b c"]),
        ("{{ ' a  b\\n' | split }}", ["a", "b"]),
        ("{{ '' | split }}", []),
        ("{{ 3 | range }}", [0, 1, 2]),
        ("{{ 1 | range(inputs.n) }}", [1, 2, 3, 4, 5, 6]),
        ("{{ 0 | range }}", []),
        ("{{ inputs.gone | default('-') }}", "-"),
        ("{{ inputs.none | default('-') }}", "-"),
        ("{{ previous.check.outputs.summary | default('') }}", ""),
        ("{{ nothing.at.all | default([]) }}", []),
        ("{{ inputs.gone is defined }}", False),
        ("{{ 'a' if inputs.n > 5 else inputs.gone }}", "a"),
        ("{{ not inputs.yes }}", False),
        ("{{ inputs.text in ['hello'] }}", True),
        ("{{ inputs.n + 1 }}", 8),
        ("{{ inputs.text ~ inputs.n }}", "hello7"),
        ("{{ '{{' }} {{ '}}' }}", "{{ }}"),
        ("{{ {'a': {'b': inputs.n}} }}", {"a": {"b": 7}}),
        ("line\r\n{{ inputs.n }}\n", "line\r\n7\n"),
    ],
)
def test_rendering(text: str, value: Any) -> None:
    found = render(text, SCOPE)
    assert found == value
    assert type(found) is type(value)


def test_the_documentation_lists_every_filter() -> None:
    guide = Path(__file__).parents[2] / "docs" / "workflows.md"
    table = guide.read_text(encoding="utf-8").split("| filter | gives |")[1].split("\n\n")[0]
    assert set(re.findall(r"`([a-z]+)[(`]", table)) - {"stop"} == {*FILTERS, "default"}


def test_a_tree_keeps_its_shape() -> None:
    tree = {"{{ key }}": ["{{ inputs.list }}", 5, None, {"a": "x{{ inputs.n }}"}]}
    assert render(tree, SCOPE) == {"{{ key }}": [[1, "b"], 5, None, {"a": "x7"}]}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{{ inputs.gone }}", "`inputs.gone` does not exist"),
        ("x {{ inputs.gone }}", "`inputs.gone` does not exist"),
        ("{{ gone }}", "`gone` does not exist"),
        ("{{ inputs.text.upper }}", "`inputs.text` is text"),
        ("{{ inputs.none.x }}", "`inputs.none` is null"),
        ("{{ inputs.list[9] }}", "does not exist"),
        ("x {{ inputs.list }}", "a list cannot stand in text"),
        ("x {{ inputs.none }}", "null cannot stand in text"),
        ("{{ inputs.text < 1 }}", "mixes"),
        ("{{ inputs.n | upper }}", "filter `upper`"),
        ("{{ inputs.list | first | first }}", "filter `first`"),
        ("{{ inputs.text | fromjson }}", "What `fromjson` got is not JSON"),
        ("{{ '[NaN]' | fromjson }}", "not JSON"),
        ("{{ '[1e999]' | fromjson }}", "fromjson"),
        ("{{ inputs.list | fromjson }}", "filter `fromjson` cannot take a list"),
        ("{{ inputs.deep | fromjson }}", "filter `fromjson`"),
        ("{{ inputs.deeper | fromjson }}", "not JSON"),
        ("{{ '[123456789012345678901234567890]' | fromjson }}", "filter `fromjson`"),
        ("{{ inputs.n | split }}", "filter `split` cannot take a number"),
        ("{{ inputs.text | split('') }}", "filter `split`"),
        ("{{ inputs.many | split }}", "`split` gives more than 10,000 items"),
        ("{{ inputs.text | range }}", "filter `range`"),
        ("{{ inputs.yes | range }}", "filter `range`"),
        ("{{ 9007199254740991 | range }}", "`range` gives more than 10,000 items"),
        ("{{ inputs.text", "not closed"),
        ("{{ }}", "cannot be read"),
        ("{{ a b }}", "cannot be read"),
        ("{{- inputs.n }}", "whitespace"),
        ("{% if x %}{{ inputs.n }}{% endif %}", "statements"),
        ("{# note #}{{ inputs.n }}", "statements"),
    ],
)
def test_what_cannot_be_rendered_says_why(text: str, says: str) -> None:
    with pytest.raises(TemplateError) as caught:
        render(text, SCOPE)
    assert caught.value.code == "template_error"
    assert says in caught.value.message


def test_a_missing_name_lists_what_exists() -> None:
    with pytest.raises(TemplateError) as caught:
        render("{{ order.titel }}", SCOPE)
    assert "title" in caught.value.hint
    assert caught.value.context["variable"] == "order.titel"


@pytest.mark.fault("L2")
@pytest.mark.parametrize(
    "text",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ inputs.__class__ }}",
        "{{ inputs.list.append }}",
        "{{ inputs['__class__'] }}",
        "{{ inputs | attr('__class__') }}",
        "{{ self }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ namespace }}",
        "{{ inputs.keys() }}",
        "{{ range(10) }}",
        "{{ lipsum }}",
        "{{ inputs.text.format(inputs) }}",
        "{{ [].append(1) }}",
        "{{ inputs.list[0:1] }}",
        "{{ inputs.text % 3 }}",
        "{{ 2 ** 99999 }}",
        "{{ 'a' * 1000000000 }}",
        "{{ inputs.list * 1000000000 }}",
        "{{ 9007199254740992 * 9007199254740992 }}",
        "{{ " + "(" * 100 + "1" + ")" * 100 + " }}",
        "{{ not " + "not " * 5_000 + "1 }}",
        "{{ 1" + " + 1" * 5_000 + " }}",
    ],
)
def test_there_is_nothing_to_escape_through(text: str) -> None:
    with pytest.raises(TemplateError):
        render(text, SCOPE)


@pytest.mark.fault("L2")
def test_a_small_template_cannot_make_a_large_text() -> None:
    scope = {"inputs": {"big": "x" * (MAX_RENDERED_CHARS // 2 + 1), "small": "a" * 2_000}}
    for tree in (
        "{{ inputs.big }}{{ inputs.big }}",
        "{{ inputs.big ~ inputs.big }}",
        ["{{ inputs.big }}"] * 2,
        [["{{ [inputs.big] }}"] * 2],
        "{{ inputs.small | replace('a', inputs.small) }}",
        "{{ [inputs.big, inputs.big] | join }}",
    ):
        with pytest.raises(TemplateError, match="longer than"):
            render(tree, scope)


HOSTILE = st.sampled_from(
    ["{{ 7*7 }}", "{{ inputs }}", "{% raw %}", "${SECRET}", "$&", "{#", "}}", "\\g<0>", "\n", "'"]
)


@pytest.mark.fault("L2")
@pytest.mark.fault("L5")
@given(st.lists(HOSTILE | st.text(max_size=8), max_size=6).map("".join))
def test_a_value_is_never_read_again(text: str) -> None:
    """TR7, SE6: whatever an issue contains, it arrives as exactly that text, in one place."""
    scope = {"order": {"title": text}, "inputs": {"list": [text]}}
    assert render("{{ order.title }}", scope) == text
    assert render("a {{ order.title }} b", scope) == f"a {text} b"
    argv = render(["make", "T={{ order.title }}", "{{ inputs.list }}"], scope)
    assert argv == ["make", f"T={text}", [text]]


@given(st.text(max_size=60).map(lambda text: "{{ " + text + " }}"))
def test_any_template_renders_or_says_why(text: str) -> None:
    try:
        render(text, SCOPE)
    except TemplateError as error:
        assert error.message


def test_references_go_as_far_as_they_are_literal() -> None:
    tree = {
        "a": "{{ tasks['x-y'].outputs.k }} {{ inputs.list[0] }}",
        "b": ["{{ previous.c.outputs.s | default(order.title) }}"],
        "c": "{{ inputs.a if inputs.b else '' }}",
        "d": "no {template}",
    }
    assert references(tree) == {
        Reference("tasks", ("x-y", "outputs", "k")),
        Reference("inputs", ("list",)),
        Reference("previous", ("c", "outputs", "s"), optional=True),
        Reference("order", ("title",)),
        Reference("inputs", ("a",), optional=True),
        Reference("inputs", ("b",)),
    }

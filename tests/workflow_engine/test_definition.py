from __future__ import annotations

import json
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_work_orders.workflow_engine import yaml_source
from agent_work_orders.workflow_engine.definition import Definition, DefinitionError, parse
from agent_work_orders.workflow_engine.fields import duration_s
from agent_work_orders.workflow_engine.plan import Retry
from agent_work_orders.workflow_engine.yaml_source import Problem


def read(text: str) -> Definition:
    return parse(textwrap.dedent(text).lstrip("\n"), "w.yaml")


def problems(text: str) -> tuple[Problem, ...]:
    with pytest.raises(DefinitionError) as caught:
        read(text)
    assert caught.value.code == "workflow_invalid"
    return caught.value.problems


def only(text: str) -> Problem:
    found = problems(text)
    assert len(found) == 1, [str(problem) for problem in found]
    return found[0]


FULL = """
    name: issue-fix
    description: From an issue to a branch
    kind: issue-resolution
    branch_prefix: fix
    inputs:
      number: {type: string, required: true}
      services: {type: list, items: string, default: [a, b]}
    outputs: {url: "{{ tasks.publish.outputs.url }}"}
    defaults: {timeout: 30m, retry: {attempts: 5, delay: 500ms, on: [transient, unknown]}}
    tasks:
      plan: {uses: agent.command, phase: planning, with: {command: plan}}
      fix:
        needs: plan
        repeat:
          max: 3
          until: tasks.check.outputs.passed
          tasks:
            build: {uses: agent.command, with: {command: build}}
            check: {needs: [build], uses: tests.run, retry: {attempts: 1}}
      smoke:
        needs: [fix]
        foreach: "{{ inputs.services }}"
        max_parallel: 2
        uses: sandbox.exec
        with: {argv: [make, "{{ item }}"]}
      ask: {needs: [smoke], approval: Go on?}
      publish:
        needs: [fix, ask]
        join: all_done
        when: tasks.fix.state == "succeeded"
        approval: {message: Open it?, expires: 24h}
        uses: forge.open_pull_request
        undo: {uses: forge.close_pull_request}
        on_failure: rollback
"""


def test_a_workflow_is_read_as_written() -> None:
    found = read(FULL)
    assert (found.name, found.kind, found.branch_prefix) == ("issue-fix", "issue-resolution", "fix")
    assert found.inputs["services"].default == ["a", "b"]
    assert list(found.tasks) == ["plan", "fix", "smoke", "ask", "publish"]
    assert found.tasks["fix"].needs == ("plan",)
    assert found.tasks["fix"].repeat is not None
    assert found.tasks["fix"].repeat.max == 3
    approval = found.tasks["publish"].approval
    assert approval is not None and approval.expires_s == 86_400
    assert found.tasks["publish"].on_failure == "rollback"
    assert found.tasks["smoke"].max_parallel == 2


def test_a_task_retries_as_the_defaults_say_but_for_what_it_says_itself() -> None:
    found = read(FULL)
    default = Retry(attempts=5, delay_s=0.5, on=("transient", "unknown"))
    assert found.tasks["plan"].retry == default
    assert found.tasks["fix"].repeat is not None
    check = found.tasks["fix"].repeat.tasks["check"]
    assert check.retry == Retry(attempts=1, delay_s=0.5, on=("transient", "unknown"))


# The place is marked with §.
MISTAKES = [
    ("name: a\ntasks:\n  t: {uses: x, §nedes: [b]}\n", "`nedes`", "`needs`"),
    ("name: a\n\ntasks:\n  t:\n    §uses: 5\n", "must be text", "quotes"),
    ("name: a\ntasks:\n  t: {uses: x, §timeout: 30}\n", "duration", "30m"),
    ("name: a\ntasks:\n  t: {uses: x, §timeout: 0s}\n", "duration", ""),
    ("name: a\ntasks:\n  t: {uses: x, §timeout: 999999h}\n", "duration", ""),
    ("name: a\ntasks:\n  t:\n    uses: x\n    §phase: plan\n", "plan", "planning"),
    ("name: a\ntasks:\n  t:\n    uses: x\n    needs: b\n    §join: all\n", "`join`", ""),
    ("name: a\ntasks:\n  §T: {uses: x}\n", "not a valid name", "letters"),
    ("§name: A b\ntasks:\n  t: {uses: x}\n", "not a valid name", ""),
    ("name: a\n§tasks: {}\n", "empty", ""),
    ("name: a\ntasks:\n  §t: {}\n", "does nothing", "uses"),
    ("name: a\ntasks:\n  §t: {needs: [b]}\n", "does nothing", "uses"),
    ("name: a\ntasks:\n  §t:\n", "Expected a mapping", ""),
    ("name: a\n§tasks: [t]\n", "`tasks` must be a mapping", ""),
    ("name: a\ntasks:\n  t: {uses: x, §workflow: y}\n", "cannot stand together", ""),
    ("name: a\ntasks:\n  t: {uses: x, needs: [§1]}\n", "Expected a name", ""),
    ("name: a\ntasks:\n  t: {uses: x, §max_parallel: 2}\n", "no effect", ""),
    ("name: a\ntasks:\n  t: {uses: x, §join: all_done}\n", "no effect", ""),
    ("name: a\ntasks:\n  t: {approval: ok, §timeout: 1s}\n", "no effect", ""),
    ("name: a\ntasks:\n  t: {approval: ok, §with: {a: 1}}\n", "no effect", ""),
    ("name: a\ntasks:\n  t: {§approval: {expires: 1h}}\n", "message", ""),
    ("name: a\ntasks:\n  t: {uses: x, §foreach: 7}\n", "list or a template", ""),
    ("name: a\ntasks:\n  t: {uses: x, §foreach: []}\n", "never runs", ""),
    ("name: a\ntasks:\n  t: {uses: x, §undo: {with: {}}}\n", "`uses`", ""),
    ("name: a\ntasks:\n  t: {uses: x, retry: {§attempts: 0}}\n", "1 to 20", ""),
    ("name: a\ntasks:\n  t: {uses: x, retry: {on: [§bug]}}\n", "`bug`", "transient"),
    ("name: a\ntasks:\n  t: {§repeat: {tasks: {b: {uses: x}}}}\n", "needs `max`", ""),
    ("name: a\n§kind: chore\ntasks:\n  t: {uses: x}\n", "chore", "custom"),
    ("name: a\n§branch_prefix: ../x\ntasks:\n  t: {uses: x}\n", "branch", ""),
    ("§tasks:\n  t: {uses: x}\n", "`name` is missing", ""),
    ("name: a\ninputs:\n  n: {§type: int}\ntasks: {t: {uses: x}}\n", "int", "integer"),
    (
        "name: a\ninputs:\n  n: {type: integer, §default: x}\ntasks: {t: {uses: x}}\n",
        "expected an integer, found text",
        "",
    ),
    (
        "name: a\ninputs:\n  n: {§default: '{{ x }}'}\ntasks: {t: {uses: x}}\n",
        "not a template",
        "",
    ),
    (
        "name: a\ninputs:\n  n: {§required: yes}\ntasks: {t: {uses: x}}\n",
        "true or false, found text",
        "true",
    ),
    ("name: a\ninputs:\n  §n-m: {}\ntasks: {t: {uses: x}}\n", "not a valid input", ""),
]


@pytest.mark.parametrize(("text", "says", "hints"), MISTAKES)
def test_a_problem_names_its_place(text: str, says: str, hints: str) -> None:
    before = text[: text.index("§")]
    place = (before.count("\n") + 1, len(before) - before.rfind("\n"))
    problem = only(text.replace("§", ""))
    assert (problem.line, problem.column) == place, str(problem)
    assert says in problem.message
    assert hints in problem.hint
    assert problem.file == "w.yaml"


@pytest.mark.fault("L7")
@pytest.mark.parametrize(
    "task",
    [
        "{repeat: {max: 101, tasks: {b: {uses: x}}}}",
        "{repeat: {max: 0, tasks: {b: {uses: x}}}}",
        "{uses: x, foreach: [" + "1," * 1_001 + "]}",
        "{uses: x, foreach: [1], max_parallel: 1001}",
    ],
)
def test_loops_and_fan_outs_have_caps(task: str) -> None:
    assert only(f"name: a\ntasks:\n  t: {task}\n").line == 3


def test_many_problems_are_told_at_once_in_the_order_of_the_file() -> None:
    found = problems("""
        name: a
        colour: red
        tasks:
          one: {uses: x, timeout: soon}
          two:
            repeat:
              max: many
              tasks:
                inner: {usse: x}
    """)
    assert [problem.line for problem in found] == [2, 4, 7, 9, 9]
    assert found[2].path == "tasks.two.repeat.max"
    assert found[1].path == "tasks.one.timeout"


@pytest.mark.fault("L1")
@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("a: &x [1]\nb: [*x, *x]\n", (1, 4), "Anchors"),
        ("a: 1\nb: !!python/object:os.system x\n", (2, 4), "Tags"),
        ("a: 1\nb: !secret x\n", (2, 4), "Tags"),
        ("name: a\ntasks: {}\nname: b\n", (3, 1), "twice"),
        ("a:\n\t- b\n", (2, 1), "Not valid YAML"),
        ("a: [1, 2\nb: 3\n", (2, 2), "Not valid YAML"),
        ("a: 1\n---\nb: 2\n", (2, 1), "second document"),
        ("a: 1\n? [b]\n: 2\n", (2, 3), "key must be plain text"),
        ("a: " + "[" * 100 + "]" * 100, (1, 67), "Nested deeper"),
        ("a: 1\nb: " + "9" * 5_000 + "\n", (2, 4), "too large"),
        ("a: .inf\n", (1, 4), "not a JSON number"),
        ("a: 1\nb: \x07\n", (2, 4), "Not valid YAML"),
        ("a: 1\nb: \ud800\n", (2, 4), "half a character"),
        ("a: {{ inputs.x }}\n", (1, 5), ""),
    ],
)
def test_hostile_or_broken_yaml_is_refused_with_its_line(
    text: str, place: tuple[int, int], says: str
) -> None:
    first = problems(text)[0]
    assert says in first.message
    assert (first.line, first.column) == place, str(first)


@pytest.mark.fault("L1")
def test_an_alias_bomb_is_refused_before_it_grows() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{name}: &{name} [{', '.join(['*' + before] * 9)}]")
    found = problems("\n".join(lines))
    assert any("Aliases" in problem.message and problem.line == 2 for problem in found)


@pytest.mark.fault("L1")
def test_an_anchor_that_contains_itself_is_refused() -> None:
    assert "Anchors" in problems("a: &a [*a]\n")[0].message


@pytest.mark.fault("L1")
def test_ten_megabytes_are_refused() -> None:
    text = "name: a\ntasks:\n" + "# filler\n" * 1_200_000
    assert "limit" in only(text).message


@pytest.mark.fault("L1")
def test_tabs_and_unquoted_templates_get_a_hint() -> None:
    assert "spaces" in problems("name: a\ntasks:\n\tt: {uses: x}\n")[0].hint
    assert "quotes" in problems("name: a\ntasks:\n  t: {with: {a: {{ x }} y}}\n")[0].hint


@pytest.mark.fault("L1")
def test_words_of_yaml_1_1_are_text() -> None:
    loaded = yaml_source.load("on: no\nyes: off\nn: 0o17\no: 010\nt: 12:30\nv: ~\n", "x")
    assert loaded == {"on": "no", "yes": "off", "n": 15, "o": 10, "t": "12:30", "v": None}


def test_quoted_and_block_scalars_stay_text() -> None:
    loaded = yaml_source.load("a: '5'\nb: \"true\"\nc: |\n  7\nd: >-\n  null\n", "x")
    assert loaded == {"a": "5", "b": "true", "c": "7\n", "d": "null"}


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufeff\x85")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("abc\"'{} :#", max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON)
def test_json_reads_as_itself(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert yaml_source.load(text, "x") == value


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    try:
        parse(text, "w.yaml")
    except DefinitionError as error:
        assert error.problems
        assert all(problem.line >= 1 and problem.column >= 1 for problem in error.problems)


def test_an_empty_file_says_what_it_needs() -> None:
    for text in ("", "# nothing\n", "{}"):
        assert "name" in only(text).hint or "mapping" in only(text).message


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("500ms", 0.5), ("1s", 1), ("30m", 1_800), ("24h", 86_400), ("1.5h", 5_400), ("7d", 604_800)],
)
def test_durations(text: str, seconds: float) -> None:
    assert duration_s(text) == seconds


@pytest.mark.parametrize("text", ["", "5", "-1s", "1 s", "s", "1w", "1e3s", "١s", "9999d"])
def test_what_is_no_duration(text: str) -> None:
    assert duration_s(text) is None


def test_the_error_carries_its_problems_as_plain_data() -> None:
    with pytest.raises(DefinitionError) as caught:
        read("name: a\n")
    (problem,) = caught.value.context["problems"]
    assert problem["file"] == "w.yaml" and problem["line"] == 1

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable

import pytest

from agent_work_orders.workflow_engine import plan as plans
from agent_work_orders.workflow_engine.catalogue import Catalogue
from agent_work_orders.workflow_engine.compiler import compile_workflow, plan_hash
from agent_work_orders.workflow_engine.definition import Definition, DefinitionError, parse
from agent_work_orders.workflow_engine.plan import Plan
from agent_work_orders.workflow_engine.risk import RiskPolicy
from agent_work_orders.workflow_engine.yaml_source import Problem


def read(text: str, file: str = "w.yaml") -> Definition:
    return parse(textwrap.dedent(text).lstrip("\n"), file)


Compile = Callable[..., Plan]


@pytest.fixture
def build(catalogue: Catalogue) -> Compile:
    def run(text: str, *others: str, policy: RiskPolicy | None = None) -> Plan:
        known = [read(other, f"child{at}.yaml") for at, other in enumerate(others)]
        names = {name: found for found in known for name in (found.name, *found.aliases)}
        return compile_workflow(read(text), catalogue, children=names.get, policy=policy)

    return run


@pytest.fixture
def problems(build: Compile) -> Callable[..., tuple[Problem, ...]]:
    def run(text: str, *others: str) -> tuple[Problem, ...]:
        with pytest.raises(DefinitionError) as caught:
            build(text, *others)
        assert caught.value.code == "workflow_invalid"
        return caught.value.problems

    return run


LOOP = """
    name: fix
    inputs:
      services: {type: list, items: string, default: []}
    defaults: {timeout: 10m}
    outputs: {rounds: "{{ tasks.fix.outputs.iterations }}"}
    tasks:
      plan: {uses: agent.command, phase: planning, with: {command: plan}}
      fix:
        needs: [plan]
        phase: implementing
        repeat:
          max: 3
          until: tasks.check.outputs.passed
          tasks:
            build:
              uses: agent.command
              with:
                command: build
                feedback: "{{ previous.check.outputs.summary | default(tasks.plan.outputs.text) }}"
            check: {needs: [build], uses: tests.run, phase: testing, timeout: 1h}
      smoke:
        needs: [fix]
        foreach: "{{ inputs.services }}"
        max_parallel: 4
        uses: sandbox.exec
        with: {argv: [make, "S={{ item }}", "N={{ tasks.fix.outputs.iterations }}"]}
      push: {needs: [smoke], uses: git.push}
"""


def test_a_loop_and_a_fan_out_become_scopes(build: Compile) -> None:
    plan = build(LOOP)
    assert list(plan.body.tasks) == ["plan", "fix", "smoke", "push"]
    assert plan.body.dependants["plan"] == ("fix",)
    fix, smoke = plan.body.tasks["fix"], plan.body.tasks["smoke"]
    assert (fix.kind, fix.max_iterations, fix.until) == ("repeat", 3, "tasks.check.outputs.passed")
    assert fix.each is not None and fix.each.kind == "group" and fix.each.body is not None
    inner = fix.each.body.tasks
    assert inner["build"].refs == ("plan",)
    assert inner["build"].phase == "implementing"
    assert inner["check"].phase == "testing"
    assert (smoke.kind, smoke.parallel, smoke.needs) == ("foreach", 4, ("fix",))
    assert smoke.each is not None
    assert (smoke.each.kind, smoke.each.refs, smoke.each.needs) == ("tool", ("fix",), ())
    assert plan.output_refs == ("fix",)
    assert "smoke[]" in plans.by_pattern(plan) and "fix[].check" in plans.by_pattern(plan)


AGENTS = """
    name: a
    tasks:
      each:
        foreach: [1, 2]§
        tasks:
          look: {uses: sandbox.exec, with: {argv: [pwd]}}
          deeper:
            repeat:
              max: 2
              tasks: {work: {uses: agent.prompt, with: {prompt: Go}}}
"""


def test_agents_of_a_fan_out_go_one_after_another(build: Compile) -> None:
    fan = build(AGENTS.replace("§", "")).body.tasks["each"]
    assert fan.parallel == 1
    assert build(AGENTS.replace("§", "\n        max_parallel: 1")).body.tasks["each"].parallel == 1
    without = AGENTS.replace("§", "").replace("agent.prompt, with: {prompt: Go}", "tests.run")
    assert build(without).body.tasks["each"].parallel == plans.MAX_FANOUT


def test_agents_that_could_not_work_at_once_are_refused(build: Compile) -> None:
    with pytest.raises(DefinitionError) as refused:
        build(AGENTS.replace("§", "\n        max_parallel: 2"))
    (problem,) = refused.value.problems
    assert problem.message == (
        "`agent.prompt` has the order's workspace to itself: one item after another"
    )
    assert "start an order for each item" in problem.hint and problem.line == 5


def test_the_timeout_is_the_tasks_then_the_workflows_then_the_tools(build: Compile) -> None:
    inner = build(LOOP).body.tasks["fix"].each
    assert inner is not None and inner.body is not None
    assert inner.body.tasks["check"].timeout_s == 3_600
    assert inner.body.tasks["build"].timeout_s == 600
    plain = build("name: a\ntasks: {t: {uses: tests.run}}")
    assert plain.body.tasks["t"].timeout_s == 1_800


def test_undo_is_frozen_with_what_the_outputs_answer(build: Compile) -> None:
    plan = build(LOOP)
    undo = plan.body.tasks["push"].undo
    assert undo is not None
    assert undo.uses == "git.delete_branch"
    assert undo.with_ == {"branch": "{{ outputs.branch }}", "head": "{{ outputs.head }}"}


def test_a_task_may_say_how_it_is_undone(build: Compile) -> None:
    plan = build("""
        name: a
        tasks:
          look: {uses: sandbox.exec, with: {argv: [pwd]}}
          make:
            needs: [look]
            uses: sandbox.exec
            with: {argv: [make]}
            undo:
              uses: sandbox.exec
              with: {argv: [rm, "{{ outputs.stdout }}", "{{ tasks.look.outputs.stdout }}"]}
    """)
    made = plan.body.tasks["make"]
    assert made.undo is not None and made.undo.refs == ("look",)
    assert made.refs == ("look",), "the machine reads a task's refs for its undo too"


def test_agents_take_prompts(build: Compile) -> None:
    assert build(LOOP).body.tasks["plan"].takes_prompts
    assert not build(LOOP).body.tasks["push"].takes_prompts


def test_a_plan_survives_its_encoding_and_its_hash_is_its_content(build: Compile) -> None:
    plan = build(LOOP)
    again = plans.decode(plans.encode(plan))
    assert again == plan
    assert plan_hash(again) == plan_hash(plan) == plan_hash(build(LOOP))
    assert plan_hash(build(LOOP.replace("max: 3", "max: 4"))) != plan_hash(plan)


HIGH = "name: a\ntasks:\n  go: {uses: deploy.release, with: {service: x}}\n"


def test_a_high_risk_tool_waits_for_a_person(build: Compile) -> None:
    approval = build(HIGH).body.tasks["go"].approval
    assert approval is not None and approval.because == "risk"
    assert build(HIGH).body.tasks["go"].risk == "high"


def test_policy_may_exempt_or_add(build: Compile) -> None:
    assert (
        build(HIGH, policy=RiskPolicy(exempt=("deploy.release",))).body.tasks["go"].approval is None
    )
    assert build(HIGH, policy=RiskPolicy(ask=())).body.tasks["go"].approval is None
    low = "name: a\ntasks:\n  go: {uses: git.push}\n"
    assert build(low).body.tasks["go"].approval is None
    assert build(low, policy=RiskPolicy(always=("git.push",))).body.tasks["go"].approval


def test_a_declared_approval_is_enough_but_not_one_around_many(build: Compile) -> None:
    own = build(HIGH.replace("}}", "}, approval: Deploy?}")).body.tasks["go"]
    assert own.approval is not None and own.approval.because == "declared"
    many = build(
        "name: a\ntasks:\n  go: {foreach: [x, y], approval: 'All?', uses: deploy.release,"
        " with: {service: '{{ item }}'}}\n"
    ).body.tasks["go"]
    assert many.approval is not None and many.approval.because == "declared"
    assert many.with_ == {"foreach": ["x", "y"]}, "the list is part of what is approved"
    assert many.each is not None and many.each.approval is not None
    assert many.each.approval.because == "risk"


def test_a_gate_is_a_task_that_only_asks(build: Compile) -> None:
    plan = build("""
        name: a
        tasks:
          ask: {approval: {message: "Go, {{ order.title }}?", expires: 1h}}
          go:
            needs: [ask]
            uses: sandbox.exec
            with: {argv: ["{{ tasks.ask.outputs.approved_by }}"]}
    """)
    assert plan.body.tasks["ask"].kind == "gate"


# One problem each; the line is marked with §.
REFUSED = [
    ("  §t: {uses: test.run}", "no tool `test.run`", "tests.run"),
    ("  §t: {uses: agent.command}", "needs `command`", "with"),
    ("  §t: {uses: git.push, with: {force: true}}", "no input `force`", ""),
    ("  §t: {uses: agent.command, with: {comand: x, command: y}}", "`comand`", "`command`"),
    ("  §t: {uses: agent.command, with: {command: 5}}", "expected text, found an int", "quotes"),
    ("  §t: {uses: tests.run, with: {at: tip}}", "not one of head, base", ""),
    ("  §t: {uses: tests.run, with: {require: 'true'}}", "expected true or false", ""),
    ("  §t: {uses: sandbox.exec, with: {argv: make all}}", "expected a list", ""),
    (
        "  t:\n    uses: sandbox.exec\n    with:\n      argv:\n      - a\n      §- 5",
        "`1`: expected",
        "",
    ),
    ("  §t: {uses: sandbox.exec, with: {argv: 'x {{ inputs.n }}'}}", "template gives text", ""),
    ("  §t: {uses: sandbox.exec, with: {argv: '{{ inputs.n }}'}}", "gives an integer", ""),
    ("  §t: {uses: sandbox.exec, with: {argv: ['{{ inputs.n | upper }}']}}", "`upper`", ""),
    ("  §t: {uses: sandbox.exec, with: {argv: '{{ inputs.n ~ \"a\" }}'}}", "gives text", ""),
    ("  §t: {uses: sandbox.exec, with: {argv: ['{{ order.promt }}']}}", "no `promt`", "`prompt`"),
    ("  §t: {uses: sandbox.exec, with: {argv: ['{{ order.prompt.x }}']}}", "is text", ""),
    ("  §t: {when: 'order.nothing == \"b\"', uses: git.push}", "no `nothing`", ""),
    ("  §t: {foreach: '{{ 2000 | range }}', uses: git.push}", "takes 1,000 items", ""),
    (
        "  §t: {foreach: '{{ 3 | range }}', uses: sandbox.exec, with: {argv: ['{{ item }}']}}",
        "gives an integer",
        "",
    ),
    (
        "  §t: {foreach: [1, 2], uses: sandbox.exec, with: {argv: ['{{ item }}']}}",
        "gives an integer",
        "",
    ),
    ("  §t: {uses: sandbox.exec, with: {argv: ['{{ inputs.m }}']}}", "no `m`", ""),
    ("  §t: {uses: sandbox.exec, with: {argv: ['{{ input.n }}']}}", "`input`", "`inputs`"),
    ("  §t: {uses: sandbox.exec, with: {argv: ['{{ inputs.n']}}", "not closed", ""),
    ("  §t: {uses: sandbox.exec, with: {argv: ['{% if x %}a{% endif %}']}}", "Statements", ""),
    ("  §t: {uses: sandbox.exec, with: {argv: ['{{ item }}']}}", "only inside `foreach`", ""),
    ("  §t: {uses: sandbox.exec, with: {argv: ['{{ iteration }}']}}", "inside `repeat`", ""),
    ("  §t: {uses: sandbox.exec, with: {argv: ['{{ previous.a }}']}}", "inside `repeat`", ""),
    ("  §t: {uses: sandbox.exec, with: {argv: ['{{ outputs.a }}']}}", "inside `undo`", ""),
    ("  §t: {uses: sandbox.exec, with: {argv: ['{{ tasks.t.state }}']}}", "itself", ""),
    ("  §t: {needs: [u], uses: git.push}", "`u`, which does not exist", ""),
    ("  §t: {needs: [t], uses: git.push}", "`t` waits for itself", "Remove"),
    ("  a: {uses: git.push}\n  §t: {needs: [a, a], uses: git.push}", "listed twice", ""),
    ("  §t: {when: 'tasks.x.state == 1', uses: git.push}", "no task `x`", ""),
    ("  §t: {when: 'inputs.n >', uses: git.push}", "cannot be read", "CEL"),
    ("  §t: {when: 'inputs.n + 1 == \"a\" + 1', uses: git.push}", "cannot be read", ""),
    ("  §t: {when: '{{ inputs.n }} == 1', uses: git.push}", "contains a template", ""),
    ("  §t: {when: false, uses: git.push}", "never runs", ""),
    ("  §t: {when: '1 > 2', uses: git.push}", "never runs", ""),
    ("  §t: {workflow: other}", "no workflow `other`", ""),
    ("  §t: {foreach: '{{ inputs.n }}', uses: git.push}", "gives an integer", ""),
    ("  §t: {foreach: 'a {{ inputs.n }}', uses: git.push}", "gives text", ""),
    ("  §t: {uses: git.push, undo: {uses: git.deleet_branch}}", "no tool", "delete_branch"),
    ("  §t: {uses: tests.run, undo: {uses: git.delete_branch}}", "needs `branch`", ""),
    ("  §t: {approval: 'Go {{ inputs.z }}?'}", "no `z`", ""),
    ("  §t: {approval: {}}", "needs a `message`", ""),
    (
        "  a: {uses: tests.run}\n"
        "  §t: {uses: sandbox.exec, with: {argv: ['{{ tasks.a.outputs.summary }}']}}",
        "`t` reads `a`, but does not wait for it",
        "Add `a` to the `needs` of `t`",
    ),
    (
        "  a: {uses: tests.run}\n  §t: {needs: [a], when: tasks.a.outputs.pased, uses: git.push}",
        "`tasks.a.outputs` has no `pased`",
        "`passed`",
    ),
    (
        "  a: {uses: tests.run}\n  §t: {needs: [a], when: tasks.a.output.passed, uses: git.push}",
        "`tasks.a` has no `output`",
        "`outputs`",
    ),
    (
        "  a: {uses: tests.run}\n"
        "  §t: {needs: [a], uses: tests.run, with: {require: '{{ tasks.a.outputs.total }}'}}",
        "expected true or false, the template gives an integer",
        "",
    ),
    (
        "  a: {uses: tests.run}\n"
        "  §t: {needs: [a], uses: tests.run, with: {junit: '{{ tasks.a.outputs.total.x }}'}}",
        "cannot exist",
        "",
    ),
    (
        "  f:\n    repeat:\n      max: 2\n      §until: tasks.chek.outputs.passed\n"
        "      tasks: {check: {uses: tests.run}}",
        "no task `chek`",
        "`check`",
    ),
    (
        "  f:\n    repeat:\n      max: 2\n      tasks:\n"
        "        §t: {uses: tests.run, with: {junit: '{{ previous.t.outputs.summary }}'}}",
        "may be missing",
        "default",
    ),
    (
        "  g:\n    tasks:\n      a: {uses: tests.run}\n"
        "  §t: {needs: [g], when: tasks.a.outputs.passed, uses: git.push}",
        "no task `a`",
        "",
    ),
    (
        "  a: {uses: tests.run}\n  g:\n    needs: [a]\n    tasks:\n      §a: {uses: tests.run}",
        "already has a task `a`",
        "",
    ),
    (
        "  f: {foreach: [1], uses: git.push}\n"
        "  §t: {needs: [f], when: tasks.f.outputs.branch == 'x', uses: git.push}",
        "has no `branch`",
        "count",
    ),
]


@pytest.mark.parametrize(("tasks", "says", "hints"), REFUSED)
def test_what_cannot_work_is_refused_before_it_runs(
    problems: Callable[..., tuple[Problem, ...]], tasks: str, says: str, hints: str
) -> None:
    text = f"name: w\ninputs: {{n: {{type: integer}}}}\ntasks:\n{tasks}\n"
    line = text[: text.index("§")].count("\n") + 1
    (problem,) = problems(text.replace("§", ""))
    assert problem.line == line, str(problem)
    assert says in problem.message, str(problem)
    assert hints in problem.hint, str(problem)


@pytest.mark.fault("L4")
def test_a_cycle_is_shown_with_its_way(problems: Callable[..., tuple[Problem, ...]]) -> None:
    (problem,) = problems("""
        name: a
        tasks:
          ok: {uses: git.push}
          one: {needs: [ok, three], uses: git.push}
          two: {needs: [one], uses: git.push}
          three: {needs: [two], uses: git.push}
          after: {needs: [three], uses: git.push}
    """)
    assert "one -> three -> two -> one" in problem.message
    assert (problem.line, problem.column) == (4, 9)


@pytest.mark.fault("L4")
def test_every_problem_of_a_file_is_told(problems: Callable[..., tuple[Problem, ...]]) -> None:
    found = problems("""
        name: a
        tasks:
          one: {needs: [two], uses: git.push, with: {x: 1}}
          two: {needs: [one], uses: nothing}
          three: {needs: [four], uses: git.push}
    """)
    assert [problem.line for problem in found] == [3, 3, 4, 5]


def test_an_inner_task_reads_what_its_group_waits_for(build: Compile) -> None:
    text = """
        name: a
        tasks:
          first: {uses: tests.run}
          group:
            needs: [first]
            tasks:
              x: {uses: tests.run, when: tasks.first.outputs.passed}
              y: {needs: [x], uses: tests.run, when: tasks.x.outputs.passed}
          last: {needs: [group], uses: git.push, when: tasks.group.outputs.tasks.y.passed}
    """
    assert build(text).body.tasks["last"].refs == ("group",)
    with pytest.raises(DefinitionError, match="`group` reads `first`"):
        build(text.replace("            needs: [first]\n", ""))


def test_items_have_the_type_of_their_list(problems: Callable[..., tuple[Problem, ...]]) -> None:
    (problem,) = problems("""
        name: a
        inputs: {xs: {type: list, items: integer}}
        tasks:
          t: {foreach: "{{ inputs.xs }}", uses: tests.run, with: {junit: "{{ item }}"}}
    """)
    assert "the template gives an integer" in problem.message


CHILD = """
    name: child
    aliases: [kid]
    inputs: {service: {type: string, required: true}, count: {type: integer, default: 2}}
    outputs: {url: "{{ tasks.t.outputs.branch }}"}
    tasks: {t: {uses: git.push}}
"""


def test_a_child_is_compiled_into_the_plan(build: Compile) -> None:
    plan = build(
        """
        name: a
        tasks:
          c: {workflow: kid, with: {service: x}}
          d: {needs: [c], uses: sandbox.exec, with: {argv: ["{{ tasks.c.outputs.url }}"]}}
        """,
        CHILD,
    )
    task = plan.body.tasks["c"]
    assert (task.kind, task.uses, task.with_) == ("workflow", "child", {"service": "x", "count": 2})
    assert list(plan.children) == ["child"]
    assert plans.decode(plans.encode(plan)) == plan


@pytest.mark.parametrize(
    ("task", "says"),
    [
        ("{workflow: child}", "child needs `service`"),
        ("{workflow: child, with: {service: x, n: 1}}", "child has no input `n`"),
        ("{workflow: child, with: {service: 5}}", "expected text"),
    ],
)
def test_a_childs_inputs_are_checked(
    problems: Callable[..., tuple[Problem, ...]], task: str, says: str
) -> None:
    (problem,) = problems(f"name: a\ntasks:\n  c: {task}\n", CHILD)
    assert says in problem.message and problem.line == 3


def test_a_problem_in_a_child_is_shown_in_the_childs_file(
    problems: Callable[..., tuple[Problem, ...]],
) -> None:
    (problem,) = problems(
        "name: a\ntasks: {c: {workflow: child}}", "name: child\ntasks:\n  t: {uses: nope}\n"
    )
    assert (problem.file, problem.line) == ("child0.yaml", 3)


@pytest.mark.fault("L7")
def test_a_workflow_cannot_start_itself(problems: Callable[..., tuple[Problem, ...]]) -> None:
    (problem,) = problems(
        "name: a\ntasks: {c: {workflow: b}}",
        "name: b\ntasks:\n  c: {workflow: c}\n",
        "name: c\ntasks:\n  d: {workflow: b}\n",
    )
    assert "b -> c -> b" in problem.message
    assert (problem.file, problem.line) == ("child1.yaml", 3)


@pytest.mark.fault("L7")
def test_children_and_groups_nest_only_so_deep(
    problems: Callable[..., tuple[Problem, ...]], build: Compile
) -> None:
    def chain(size: int) -> list[str]:
        below = [f"name: w{n}\ntasks: {{c: {{workflow: w{n + 1}}}}}" for n in range(size)]
        return [*below, f"name: w{size}\ntasks: {{t: {{uses: git.push}}}}"]

    build(*chain(plans.MAX_CHILD_DEPTH))
    assert "nested deeper" in problems(*chain(plans.MAX_CHILD_DEPTH + 1))[0].message

    def group(depth: int) -> str:
        inner = "{uses: git.push}"
        for level in range(depth):
            inner = f"{{tasks: {{g{level}: {inner}}}}}"
        return f"name: a\ntasks: {{t: {inner}}}"

    build(group(plans.MAX_DEPTH))
    assert "nested deeper" in problems(group(plans.MAX_DEPTH + 1))[0].message


def _large(count: int, name: str = "big") -> str:
    tasks = [f"  t{n}: {{needs: [t{n - 1}], uses: git.push}}\n" for n in range(1, count)]
    return f"name: {name}\ntasks:\n  t0: {{uses: git.push}}\n" + "".join(tasks)


@pytest.mark.fault("L7")
def test_more_tasks_than_the_cap_are_refused(
    problems: Callable[..., tuple[Problem, ...]], build: Compile
) -> None:
    assert "limit" in problems(_large(plans.MAX_TASKS + 1))[0].message
    parent = "name: a\ntasks:\n  c: {workflow: one}\n  d: {workflow: two}\n"
    halves = (_large(5_000, "one"), _large(5_000, "two"))
    assert "child workflows" in problems(parent, *halves)[0].message


@pytest.mark.fault("L7")
@pytest.mark.fault("N9")
@pytest.mark.parametrize(
    "tasks",
    [
        "a: {repeat: {max: 100, tasks: {b: {repeat: {max: 100, tasks: "
        "{c: {repeat: {max: 100, tasks: {d: {uses: git.push}}}}}}}}}}",
        f"a: {{foreach: {list(range(200))}, tasks: {{b: {{foreach: {list(range(200))}, "
        "uses: git.push}}}",
    ],
    ids=["loops", "lists"],
)
def test_what_grows_beyond_the_cap_at_run_time_is_refused(
    problems: Callable[..., tuple[Problem, ...]], tasks: str
) -> None:
    assert "at run time" in problems(f"name: x\ntasks:\n  {tasks}\n")[0].message


def test_a_task_without_a_name_is_refused(
    problems: Callable[..., tuple[Problem, ...]],
) -> None:
    """Its path would be that of the workflow itself, and it would never end."""
    assert "not a valid name" in problems('name: x\ntasks:\n  "": {uses: git.push}\n')[0].message


@pytest.mark.fault("L4")
def test_ten_thousand_tasks_load_in_linear_time(build: Compile) -> None:
    """The cost is counted, not timed: a second walk over all ancestors would be quadratic."""

    def calls(count: int) -> int:
        text = _large(count)
        found = 0

        def count_call(frame: object, event: str, arg: object) -> None:
            nonlocal found
            found += event == "call"

        sys.setprofile(count_call)
        try:
            build(text)
        finally:
            sys.setprofile(None)
        return found

    small, large = calls(100), calls(10_000)
    assert large < small * 110


@pytest.mark.fault("L4")
def test_a_cycle_through_ten_thousand_tasks_is_found(
    problems: Callable[..., tuple[Problem, ...]],
) -> None:
    text = _large(10_000).replace("t0: {uses", "t0: {needs: [t9999], uses")
    found = problems(text)
    assert len(found) == 1 and "in a circle" in found[0].message
    assert len(found[0].message) < 1_000

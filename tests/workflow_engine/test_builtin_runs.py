"""The built-in workflows, compiled and driven through the machine with made-up answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent_work_orders.tools.toolbox import CATALOGUE
from agent_work_orders.workflow_engine import builtin
from agent_work_orders.workflow_engine.catalogue import Catalogue
from agent_work_orders.workflow_engine.compiler import compile_workflow, plan_hash
from agent_work_orders.workflow_engine.effects import Finish, Perform
from agent_work_orders.workflow_engine.events import (
    Failure,
    Submitted,
    TaskFailed,
    TaskSucceeded,
)
from agent_work_orders.workflow_engine.inputs import accept
from agent_work_orders.workflow_engine.machine import advance
from agent_work_orders.workflow_engine.run import fresh

Answer = Callable[[Perform], dict[str, Any] | Failure]

CHANGED = {"text": "done", "commit": "c0ffee", "changed": True, "no_changes": False}
UNCHANGED = {"text": "nothing", "commit": None, "changed": False, "no_changes": True}
PASSED = {"passed": True, "found": True, "verdict": "passed", "summary": "3 passed"}
FAILED = {"passed": False, "found": True, "verdict": "failed", "summary": "test_x failed"}
NONE = {"passed": False, "found": False, "verdict": "unverified", "summary": "no tests"}
CANNOT = Failure(
    category="environmental", code="tests_cannot_run", message="pytest is missing", hint="install"
)
NOT_PASSED = Failure(category="permanent", code="tests_failed", message="no", hint="mend")
PULL_REQUEST = {"number": 1, "url": "local:1", "branch": "b", "head": "h", "draft": False}


def drive(name: str, catalogue: Catalogue, answer: Answer) -> tuple[list[Perform], Finish]:
    plan = compile_workflow(builtin.definitions()[name], catalogue, children=builtin.find)
    run = fresh("wo-aaaaaaaaaaaaaaaa", plan, plan_hash(plan))
    inputs = accept(plan.inputs, {})
    step = advance(
        run,
        Submitted(at_ms=1, plan_hash=plan_hash(plan), inputs=inputs, order={"prompt": "{{ x }}"}),
    )
    done: list[Perform] = []
    waiting = list(step.effects)
    while waiting:
        effect = waiting.pop(0)
        if isinstance(effect, Finish):
            return done, effect
        if isinstance(effect, Perform):
            done.append(effect)
            step = advance(step.run, _answered(effect, len(done) + 1, answer(effect)))
            waiting += step.effects
    raise AssertionError("the run waits for something")


def _answered(
    effect: Perform, at_ms: int, given: dict[str, Any] | Failure
) -> TaskSucceeded | TaskFailed:
    if isinstance(given, Failure):
        return TaskFailed(at_ms=at_ms, path=effect.path, attempt=effect.attempt, failure=given)
    return TaskSucceeded(at_ms=at_ms, path=effect.path, attempt=effect.attempt, outputs=given)


def scripted(*tests: dict[str, Any] | Failure, agent: dict[str, Any] = CHANGED) -> Answer:
    """Results of tests.run in their order, the baseline first."""
    results = list(tests)

    def answer(effect: Perform) -> dict[str, Any] | Failure:
        if effect.uses == "tests.run":
            return results.pop(0)
        if effect.uses == "tests.require":
            given = effect.input["tests"]
            accepted = given["passed"] or given["verdict"] == "unverified"
            return {"passed": given["passed"], "summary": ""} if accepted else NOT_PASSED
        return PULL_REQUEST if effect.uses == "forge.open_pull_request" else agent

    return answer


def paths(done: list[Perform]) -> list[str]:
    return [effect.path for effect in done]


def test_plan_build_test_tries_again_with_the_failure_as_feedback(catalogue: Catalogue) -> None:
    answer = scripted(FAILED, FAILED, PASSED)
    done, end = drive("agent_workflow_plan_build_test", catalogue, answer)
    assert paths(done) == [
        "baseline",
        "plan",
        "draft",
        "implement[1].build",
        "implement[1].check",
        "implement[2].build",
        "implement[2].check",
        "publish",
    ]
    assert done[0].input == {"at": "base", "command": []}
    assert done[2].input == {"draft": True, "needs_draft": True}
    assert done[3].input == {"command": "build", "feedback": ""}
    assert done[4].input == {"command": [], "baseline": FAILED, "tests_may_change": False}
    assert done[5].input["feedback"] == "test_x failed"
    phases = [effect.phase for effect in done[:5]]
    assert phases == ["testing", "planning", None, "implementing", "testing"]
    assert end.outcome == "completed"
    assert end.outputs == {
        "iterations": 2,
        "passed": True,
        "verdict": "passed",
        "summary": "3 passed",
        "pull_request": "local:1",
    }


@pytest.mark.parametrize("baseline", [PASSED, FAILED, NONE])
def test_plan_build_test_gives_up_after_three(
    baseline: dict[str, Any], catalogue: Catalogue
) -> None:
    answer = scripted(baseline, FAILED, FAILED, FAILED)
    done, end = drive("agent_workflow_plan_build_test", catalogue, answer)
    assert end.outcome == "failed"
    assert end.failure is not None and end.failure.code == "loop_exhausted"
    assert "publish" not in paths(done)


@pytest.mark.fault("N3")
@pytest.mark.parametrize("baseline", [PASSED, FAILED])
def test_tests_that_are_gone_are_no_pass(baseline: dict[str, Any], catalogue: Catalogue) -> None:
    """Whatever tests.run says of it: where the base had tests, none is not enough."""
    answer = scripted(baseline, NONE, NONE, NONE)
    done, end = drive("agent_workflow_plan_build_test", catalogue, answer)
    assert end.outcome == "failed"
    assert "publish" not in paths(done)


def test_without_a_plan_nothing_is_built(catalogue: Catalogue) -> None:
    failed = Failure(category="permanent", code="agent_failed", message="no plan", hint="")

    def answer(effect: Perform) -> dict[str, Any] | Failure:
        return failed if effect.path == "plan" else PASSED

    done, end = drive("agent_workflow_plan_build_test", catalogue, answer)
    assert [effect.path for effect in done] == ["baseline", "plan"]
    assert end.outcome == "failed" and end.failure is not None
    assert end.failure.code == "agent_failed"


def test_a_plan_that_changed_nothing_is_built_without_a_draft(catalogue: Catalogue) -> None:
    given = scripted(PASSED, PASSED)

    def answer(effect: Perform) -> dict[str, Any] | Failure:
        return UNCHANGED if effect.path == "plan" else given(effect)

    done, end = drive("agent_workflow_plan_build_test", catalogue, answer)
    assert paths(done) == [
        "baseline",
        "plan",
        "implement[1].build",
        "implement[1].check",
        "publish",
    ]
    assert end.outcome == "completed"


def test_plan_build_test_without_any_tests_completes_and_says_unverified(
    catalogue: Catalogue,
) -> None:
    done, end = drive("agent_workflow_plan_build_test", catalogue, scripted(NONE, NONE))
    assert end.outcome == "completed" and done[-1].path == "publish"
    assert end.outputs["verdict"] == "unverified"
    assert done[-1].input == {"tests": NONE}


TESTING = ["agent_workflow_plan_build_test", "agent_workflow_test", "test-pipeline"]


@pytest.mark.parametrize("name", TESTING)
def test_tests_that_cannot_run_fail_the_order_before_any_agent(
    name: str, catalogue: Catalogue
) -> None:
    done, end = drive(name, catalogue, scripted(CANNOT))
    assert paths(done) == ["baseline"]
    assert end.outcome == "failed"
    assert end.failure is not None and end.failure.code == "tests_cannot_run"


@pytest.mark.parametrize(
    ("name", "tests"),
    [
        ("agent_workflow_plan", []),
        ("agent_workflow_build", []),
        ("agent_workflow_plan_build", []),
        ("agent_workflow_test", [PASSED, PASSED]),
        ("agent_workflow_plan_build_test", [PASSED, PASSED]),
        ("test-pipeline", [FAILED, PASSED]),
    ],
)
def test_each_ends_with_a_pull_request(
    name: str, tests: list[dict[str, Any]], catalogue: Catalogue
) -> None:
    done, end = drive(name, catalogue, scripted(*tests))
    assert end.outcome == "completed"
    assert "forge.open_pull_request" in [effect.uses for effect in done[-2:]]
    assert end.outputs["pull_request"] == "local:1"


def test_the_evidence_of_the_last_tests_goes_with_the_pull_request(catalogue: Catalogue) -> None:
    answer = scripted(PASSED, FAILED, PASSED)
    done, _ = drive("agent_workflow_plan_build_test", catalogue, answer)
    assert done[-1].input == {"tests": PASSED}


def test_a_test_run_that_changed_nothing_publishes_nothing(catalogue: Catalogue) -> None:
    done, end = drive("agent_workflow_test", catalogue, scripted(PASSED, PASSED, agent=UNCHANGED))
    assert paths(done) == ["baseline", "test", "check", "judge"]
    assert end.outcome == "completed" and end.outputs["pull_request"] == ""


@pytest.mark.parametrize("agent", [CHANGED, UNCHANGED])
def test_failing_tests_make_a_draft_and_fail_the_order(
    agent: dict[str, Any], catalogue: Catalogue
) -> None:
    done, end = drive("agent_workflow_test", catalogue, scripted(PASSED, FAILED, agent=agent))
    assert end.outcome == "failed"
    assert end.failure is not None and end.failure.code == "tests_failed"
    offered = [effect.input for effect in done if effect.path == "publish"]
    assert offered == ([{"draft": True, "tests": FAILED}] if agent["changed"] else [])


def test_a_test_run_without_tests_completes_unverified(catalogue: Catalogue) -> None:
    done, end = drive("agent_workflow_test", catalogue, scripted(NONE, NONE))
    assert end.outcome == "completed"
    assert end.outputs["verdict"] == "unverified"
    assert [one.input["draft"] for one in done if one.path == "publish"] == [True]


def test_the_test_pipeline_has_nothing_to_repair_where_tests_pass(catalogue: Catalogue) -> None:
    done, end = drive("test-pipeline", catalogue, scripted(PASSED))
    assert paths(done) == ["baseline"]
    assert end.outcome == "completed"
    assert end.outputs["summary"] == "nothing to repair: 3 passed"
    assert end.outputs["pull_request"] == ""


def test_the_test_pipeline_says_that_there_are_no_tests(catalogue: Catalogue) -> None:
    done, end = drive("test-pipeline", catalogue, scripted(NONE))
    assert paths(done) == ["baseline"]
    assert end.outcome == "completed"
    assert end.outputs["verdict"] == "unverified"
    assert end.outputs["summary"] == "nothing to repair: no tests"


def test_the_test_pipeline_repairs_what_is_broken(catalogue: Catalogue) -> None:
    second = {**FAILED, "summary": "test_y failed"}
    done, end = drive("test-pipeline", catalogue, scripted(FAILED, second, PASSED))
    assert paths(done) == [
        "baseline",
        "repair[1].fix",
        "repair[1].check",
        "repair[2].fix",
        "repair[2].check",
        "publish",
    ]
    assert "require" not in done[0].input and "require" not in done[2].input
    assert [done[1].input["feedback"], done[3].input["feedback"]] == [
        "test_x failed",
        "test_y failed",
    ]
    assert end.outcome == "completed"
    assert end.outputs["summary"] == "3 passed"


def test_the_test_pipeline_repairs_tests_that_say_nothing_sure(catalogue: Catalogue) -> None:
    """A run whose exit code and report disagree is no pass: it must not be called done."""
    error = {"passed": False, "found": True, "verdict": "error", "summary": "left no report"}
    done, end = drive("test-pipeline", catalogue, scripted(error, PASSED))
    assert [effect.path for effect in done][:3] == ["baseline", "repair[1].fix", "repair[1].check"]
    assert (end.outcome, end.outputs["verdict"]) == ("completed", "passed")


def test_the_test_pipeline_gives_up_after_three(catalogue: Catalogue) -> None:
    done, end = drive("test-pipeline", catalogue, scripted(*[FAILED] * 4))
    assert end.outcome == "failed"
    assert "publish" not in paths(done)


READ = {
    "number": 7,
    "title": "T",
    "body": "B",
    "head_sha": "c0ffee",
    "url": "https://github.com/a/b/pull/7",
    "files": [{"path": "a.py", "status": "added", "patch": "+x"}],
}
FOUND = {
    "valid": True,
    "problem": "",
    "summary": "S",
    "findings": [{"path": "a.py", "line": 1, "severity": "error", "message": "No"}],
    "errors": 1,
    "event": "REQUEST_CHANGES",
    "conclusion": "failure",
}


def reviewing(*reviews: dict[str, Any]) -> Answer:
    results = list(reviews)

    def answer(effect: Perform) -> dict[str, Any] | Failure:
        if effect.uses == "agent.review":
            return results.pop(0)
        return READ if effect.uses == "github.read_pull_request" else {}

    return answer


def test_a_review_is_posted_with_its_check_when_it_can_be_read() -> None:
    unreadable = {**FOUND, "valid": False, "problem": "no JSON", "findings": []}
    done, end = drive("pr-review", CATALOGUE, reviewing(unreadable, FOUND))
    assert end.outcome == "completed"
    by_path = {effect.path: effect.input for effect in done}
    assert by_path["look[1].review"]["feedback"] == ""
    assert by_path["look[2].review"]["feedback"] == "no JSON"
    assert by_path["look[2].review"]["files"] == READ["files"]
    assert by_path["post"] == {
        "number": 7,
        "head_sha": "c0ffee",
        "event": "REQUEST_CHANGES",
        "body": "S",
        "findings": FOUND["findings"],
    }
    assert by_path["check"]["title"] == "1 errors, 1 findings"
    assert by_path["check"]["name"] == "AI Code Review"
    assert by_path["check"]["conclusion"] == "failure"


def test_a_review_that_cannot_be_read_is_not_posted() -> None:
    unreadable = {**FOUND, "valid": False}
    done, end = drive("pr-review", CATALOGUE, reviewing(unreadable, unreadable))
    assert end.outcome == "failed"
    assert "post" not in [effect.path for effect in done]

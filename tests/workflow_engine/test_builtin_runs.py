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
from agent_work_orders.workflow_engine.events import Submitted, TaskSucceeded
from agent_work_orders.workflow_engine.inputs import accept
from agent_work_orders.workflow_engine.machine import advance
from agent_work_orders.workflow_engine.run import fresh

Answer = Callable[[Perform], dict[str, Any]]

CHANGED = {"text": "done", "commit": "c0ffee", "changed": True, "no_changes": False}
UNCHANGED = {"text": "nothing", "commit": None, "changed": False, "no_changes": True}
PASSED = {"passed": True, "found": True, "summary": "3 passed"}
FAILED = {"passed": False, "found": True, "summary": "test_x failed"}
NONE = {"passed": False, "found": False, "summary": "no tests"}
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
            event = TaskSucceeded(
                at_ms=len(done) + 1,
                path=effect.path,
                attempt=effect.attempt,
                outputs=answer(effect),
            )
            step = advance(step.run, event)
            waiting += step.effects
    raise AssertionError("the run waits for something")


def scripted(*tests: dict[str, Any], agent: dict[str, Any] = CHANGED) -> Answer:
    results = list(tests)

    def answer(effect: Perform) -> dict[str, Any]:
        if effect.uses == "tests.run":
            return results.pop(0)
        return PULL_REQUEST if effect.uses == "forge.open_pull_request" else agent

    return answer


def test_plan_build_test_tries_again_with_the_failure_as_feedback(catalogue: Catalogue) -> None:
    done, end = drive("agent_workflow_plan_build_test", catalogue, scripted(FAILED, PASSED))
    assert [effect.path for effect in done] == [
        "plan",
        "draft",
        "implement[1].build",
        "implement[1].check",
        "implement[2].build",
        "implement[2].check",
        "publish",
    ]
    assert done[1].input == {"draft": True, "needs_draft": True}
    assert done[2].input == {"command": "build", "feedback": ""}
    assert done[4].input["feedback"] == "test_x failed"
    phases = [effect.phase for effect in done[:4]]
    assert phases == ["planning", None, "implementing", "testing"]
    assert end.outcome == "completed"
    assert end.outputs == {
        "iterations": 2,
        "passed": True,
        "summary": "3 passed",
        "pull_request": "local:1",
    }


def test_plan_build_test_gives_up_after_three(catalogue: Catalogue) -> None:
    answer = scripted(FAILED, FAILED, FAILED)
    done, end = drive("agent_workflow_plan_build_test", catalogue, answer)
    assert end.outcome == "failed"
    assert end.failure is not None and end.failure.code == "loop_exhausted"
    assert "publish" not in [effect.path for effect in done]


def test_a_plan_that_changed_nothing_is_built_without_a_draft(catalogue: Catalogue) -> None:
    def answer(effect: Perform) -> dict[str, Any]:
        return UNCHANGED if effect.path == "plan" else scripted(PASSED)(effect)

    done, end = drive("agent_workflow_plan_build_test", catalogue, answer)
    assert [effect.path for effect in done] == [
        "plan",
        "implement[1].build",
        "implement[1].check",
        "publish",
    ]
    assert end.outcome == "completed"


def test_plan_build_test_is_content_without_tests(catalogue: Catalogue) -> None:
    done, end = drive("agent_workflow_plan_build_test", catalogue, scripted(NONE))
    assert end.outcome == "completed" and done[-1].path == "publish"


@pytest.mark.parametrize(
    ("name", "tests"),
    [
        ("agent_workflow_plan", []),
        ("agent_workflow_build", []),
        ("agent_workflow_plan_build", []),
        ("agent_workflow_test", [PASSED]),
        ("agent_workflow_plan_build_test", [PASSED]),
    ],
)
def test_each_ends_with_a_pull_request(
    name: str, tests: list[dict[str, Any]], catalogue: Catalogue
) -> None:
    done, end = drive(name, catalogue, scripted(*tests))
    assert end.outcome == "completed"
    assert done[-1].uses == "forge.open_pull_request"
    assert end.outputs["pull_request"] == "local:1"


def test_the_evidence_of_the_last_tests_goes_with_the_pull_request(catalogue: Catalogue) -> None:
    done, _ = drive("agent_workflow_plan_build_test", catalogue, scripted(FAILED, PASSED))
    assert done[-1].input == {"tests": PASSED}


def test_a_test_run_that_changed_nothing_publishes_nothing(catalogue: Catalogue) -> None:
    done, end = drive("agent_workflow_test", catalogue, scripted(PASSED, agent=UNCHANGED))
    assert [effect.path for effect in done] == ["test", "check"]
    assert end.outcome == "completed" and end.outputs["pull_request"] == ""


def test_failing_tests_make_a_draft(catalogue: Catalogue) -> None:
    done, _ = drive("agent_workflow_test", catalogue, scripted(FAILED))
    assert done[-1].input == {"draft": True}


def test_the_test_pipeline_repairs_only_what_is_broken(catalogue: Catalogue) -> None:
    done, end = drive("test-pipeline", catalogue, scripted(PASSED))
    assert [effect.path for effect in done] == ["baseline"]
    assert end.outcome == "completed"
    done, end = drive("test-pipeline", catalogue, scripted(FAILED, FAILED, PASSED))
    assert [effect.path for effect in done][-1] == "publish"
    assert done[1].input["feedback"] == "test_x failed"
    assert end.outcome == "completed"


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

    def answer(effect: Perform) -> dict[str, Any]:
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

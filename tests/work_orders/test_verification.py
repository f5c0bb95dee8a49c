"""Whether tests stand behind what an order changed, and where that is said."""

from __future__ import annotations

from typing import Any

import pytest

from agent_work_orders.tools.toolbox import CATALOGUE
from agent_work_orders.work_orders.outgoing import progress_view
from agent_work_orders.work_orders.read_side import projection
from agent_work_orders.workflow_engine.compiler import compile_workflow, plan_hash
from agent_work_orders.workflow_engine.definition import parse
from agent_work_orders.workflow_engine.effects import Perform
from agent_work_orders.workflow_engine.events import Submitted, TaskSucceeded
from agent_work_orders.workflow_engine.machine import advance
from agent_work_orders.workflow_engine.run import Run, fresh

BUILD = "  build: {uses: agent.prompt, with: {prompt: x}}\n"
CHECK = "  check: {needs: [build], uses: tests.run}\n"
AGAIN = "  again: {needs: [check], uses: agent.prompt, with: {prompt: y}}\n"
BASE = "  build: {uses: tests.run, with: {at: base}}\n"
ORDER = {
    "order_id": "wo-1",
    "base_branch": None,
    "agent": {},
    "repository_url": "/r",
    "repository": "r",
    "branch": "b",
    "sandbox_type": "git_worktree",
    "workflow": "w",
}
PASSED = {"passed": True, "found": True, "verdict": "passed", "total": 2, "skipped": 0}
COMMIT = {"commit": "c0ffee", "changed": True}


def ended(tasks: str, **outputs: dict[str, Any]) -> Run:
    plan = compile_workflow(parse(f"name: w\ntasks:\n{tasks}", "w.yaml"), CATALOGUE)
    run = fresh("wo-aaaaaaaaaaaaaaaa", plan, plan_hash(plan))
    step = advance(run, Submitted(at_ms=1, plan_hash=plan_hash(plan), inputs={}, order=ORDER))
    waiting = list(step.effects)
    while waiting:
        effect = waiting.pop(0)
        if isinstance(effect, Perform) and effect.path in outputs:
            given = outputs[effect.path]
            event = TaskSucceeded(at_ms=2, path=effect.path, attempt=effect.attempt, outputs=given)
            step = advance(step.run, event)
            waiting += step.effects
    return step.run


@pytest.mark.parametrize(
    ("tests", "state", "reason"),
    [
        ({**PASSED, "summary": "2 tests passed"}, "verified", "2 tests passed"),
        (
            {"passed": False, "found": True, "verdict": "failed", "summary": "1 failed\nx"},
            "failed",
            "1 failed",
        ),
        (
            {"passed": False, "found": False, "verdict": "unverified", "summary": "none"},
            "unverified",
            "none",
        ),
        (
            {"passed": False, "found": True, "verdict": "unverified", "summary": "all skipped"},
            "unverified",
            "all skipped",
        ),
        # As older versions wrote them.
        ({"passed": True, "found": True, "total": 2, "skipped": 0}, "verified", ""),
        ({"passed": True, "found": True, "total": 1, "skipped": 1}, "unverified", "no tests"),
        ({"passed": True, "found": True, "total": 0}, "unverified", "no tests"),
        ({"passed": False, "found": False}, "unverified", "no tests"),
    ],
)
def test_the_last_tests_decide(tests: dict[str, Any], state: str, reason: str) -> None:
    record = projection.record(ended(BUILD + CHECK, build=COMMIT, check=tests), 1)
    assert record.verification == state
    assert (record.verification_reason or "").startswith(reason)


def test_what_changed_nothing_has_nothing_to_verify() -> None:
    assert projection.record(ended(BUILD, build={"commit": None}), 1).verification is None


def test_without_tests_an_order_is_unverified() -> None:
    record = projection.record(ended(BUILD, build=COMMIT), 1)
    assert (record.verification, record.verification_reason) == ("unverified", "no tests were run")


def test_tests_of_the_base_verify_nothing() -> None:
    tasks = BASE + "  fix: {needs: [build], uses: agent.prompt, with: {prompt: x}}\n"
    record = projection.record(ended(tasks, build=PASSED, fix=COMMIT), 1)
    assert record.verification == "unverified"


def test_what_was_changed_after_its_tests_is_unverified() -> None:
    run = ended(BUILD + CHECK + AGAIN, build=COMMIT, check=PASSED, again=COMMIT)
    record = projection.record(run, 1)
    assert record.verification == "unverified"
    assert record.verification_reason == "it was changed after its tests ran"


def test_while_tests_are_to_come_nothing_is_said() -> None:
    assert projection.record(ended(BUILD + CHECK, build=COMMIT), 1).verification is None


def test_the_check_of_an_unverified_order_is_neutral_and_says_so() -> None:
    drawn = progress_view.draw(ended(BUILD, build=COMMIT))
    assert drawn.conclusion == "neutral"
    assert "unverified" in drawn.title
    assert "**Unverified**: no tests were run" in drawn.comment
    assert "✅ done" not in drawn.comment


def test_the_check_of_a_verified_order_is_a_success() -> None:
    tests = {**PASSED, "summary": "2 tests passed"}
    drawn = progress_view.draw(ended(BUILD + CHECK, build=COMMIT, check=tests))
    assert drawn.conclusion == "success"
    assert "**Verified**: 2 tests passed" in drawn.comment


@pytest.mark.parametrize(
    ("failed", "told"),
    [
        (0, "tests did not pass: the command ended with 3"),
        (1, "tests did not pass (1 of 2 failed): the command ended with 3"),
    ],
)
def test_no_failures_are_counted_where_there_are_none(failed: int, told: str) -> None:
    tests = {**PASSED, "passed": False, "total": 2, "failed": failed}
    tests |= {"summary": "the command ended with 3", "verdict": "failed"}
    comment = progress_view.draw(ended(BUILD + CHECK, build=COMMIT, check=tests)).comment
    assert told in comment and "0 failed" not in comment

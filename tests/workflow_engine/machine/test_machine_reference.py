"""The machine against a second interpreter that computes everything anew from the events."""

from __future__ import annotations

from random import Random
from typing import Any

import generated
import pytest
from driver import Script, World, replay
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference import Found, Reference

from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine.plan import Plan
from agent_work_orders.workflow_engine.run import ROOT, Run

QUICK = settings(max_examples=200, suppress_health_check=list(HealthCheck))
PLANS = generated.plans_of(generated.QUIET_POLICIES)
SEEDS = st.integers(0, 2**32 - 1)


def told(failure: on.Failure | None) -> Any:
    """Messages are for people: two interpreters need not find the same words."""
    return failure and (failure.code, failure.category, failure.context)


def as_run(run: Run) -> dict[str, Any]:
    return {
        path: (
            task.state,
            task.wait,
            task.live,
            task.tolerated,
            told(task.failure),
            task.outputs,
        )
        for path, task in run.tasks.items()
        if path != ROOT and (task.state, task.wait) != ("pending", "needs")
    }


def as_reference(tasks: dict[str, Found]) -> dict[str, Any]:
    return {
        path: (
            found.state,
            found.wait,
            found.live,
            found.tolerated,
            told(found.failure),
            found.outputs,
        )
        for path, found in tasks.items()
    }


def compare(run: Run, events: list[on.AnyEvent]) -> None:
    found = Reference(run.run_id, run.plan, events)
    if run.stage != "rolling_back" and run.rollback == "":
        assert as_run(run) == as_reference(found.tasks)
    assert found.ending.stage == run.stage
    assert found.ending.outcome == run.outcome
    assert found.ending.outputs == run.outputs
    if run.stage != "active":
        ours, theirs = run.failure, found.ending.failure
        assert (ours and ours.code) == (theirs and theirs.code)
        assert ours is None or ours.code == "rollback_incomplete" or told(ours) == told(theirs)
    undone = {path: task.undone for path, task in run.tasks.items() if task.undone}
    assert undone == found.undone


def reference_agrees(plan: Plan, script: Script, seed: int) -> None:
    chance = Random(seed)
    world = World(plan, script)
    world.drive(chance)
    for run_id, events in world.journal.items():
        own = world.runs[run_id].plan
        if any(isinstance(event, on.CancelAsked | on.RollbackAsked) for event in events):
            continue
        some = {1, len(events), *(chance.randrange(1, len(events) + 1) for _ in range(6))}
        for cut in sorted(some):
            compare(replay(own, events[:cut], run_id), events[:cut])


@QUICK
@given(PLANS, generated.scripts(), SEEDS)
def test_the_reference_agrees_after_any_number_of_events(
    plan: Plan, script: Script, seed: int
) -> None:
    reference_agrees(plan, script, seed)


@pytest.mark.slow
@settings(QUICK, max_examples=5_000)
@given(PLANS, generated.scripts(), SEEDS)
def test_the_reference_agrees_in_a_long_campaign(plan: Plan, script: Script, seed: int) -> None:
    reference_agrees(plan, script, seed)

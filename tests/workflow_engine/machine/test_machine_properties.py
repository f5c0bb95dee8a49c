"""What holds for every workflow, every answer of the world and every order of events."""

from __future__ import annotations

from random import Random
from typing import Any

import generated
import pytest
from driver import MAIN, Script, World, replay
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from invariants import Watcher
from msgspec.structs import replace

from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine import run as runs
from agent_work_orders.workflow_engine.machine import advance
from agent_work_orders.workflow_engine.plan import Plan
from agent_work_orders.workflow_engine.run import Run

QUICK = settings(max_examples=150, suppress_health_check=list(HealthCheck))
LONG = settings(QUICK, max_examples=4_000)

PLANS = generated.plans_of(generated.ALL_POLICIES)
QUIET_PLANS = generated.plans_of(generated.QUIET_POLICIES)
SEEDS = st.integers(0, 2**32 - 1)


def result(world: World) -> dict[str, Any]:
    """What people see in the end: without times, and without who came first."""
    return {run_id: _result(run) for run_id, run in sorted(world.runs.items())}


def _result(run: Run) -> Any:
    tasks = {
        path: (
            task.state,
            task.wait,
            task.outputs,
            task.failure,
            task.tolerated,
            task.generation,
            task.attempt,
            task.input,
            task.undone,
            task.items,
        )
        for path, task in run.tasks.items()
        if task.state != "pending" or task.wait != "needs"
    }
    return run.stage, run.outcome, run.outputs, run.failure, run.usage, tasks


def settle(world: World, chance: Random) -> None:
    """To the very end; whoever paused a run resumes it, and in the end gives up."""
    world.drive(chance)
    for _ in range(8):
        for run_id in world.paused():
            world.post(on.ResumeAsked(at_ms=world.now_ms), run_id)
        world.drive(chance)
    while paused := world.paused():
        world.post(on.CancelAsked(at_ms=world.now_ms), paused[0])
        world.drive(chance)
    assert {run.stage for run in world.runs.values()} == {"ended"}


def every_run_ends(plan: Plan, script: Script, seed: int) -> None:
    world = World(plan, script, Watcher())
    settle(world, Random(seed))


@QUICK
@given(PLANS, generated.scripts(), SEEDS)
def test_every_run_ends_and_keeps_its_books(plan: Plan, script: Script, seed: int) -> None:
    every_run_ends(plan, script, seed)


def order_does_not_matter(plan: Plan, script: Script, seeds: list[int]) -> None:
    results = []
    for seed in seeds:
        world = World(plan, script)
        settle(world, Random(seed))
        results.append(result(world))
    assert results[1:] == results[:-1]


@QUICK
@given(QUIET_PLANS, generated.scripts(), st.lists(SEEDS, min_size=2, max_size=3))
def test_any_order_of_answers_leads_to_the_same_end(
    plan: Plan, script: Script, seeds: list[int]
) -> None:
    order_does_not_matter(plan, script, seeds)


def replay_is_equal(plan: Plan, script: Script, seed: int) -> None:
    chance = Random(seed)
    world = World(plan, script)
    settle(world, chance)
    for run_id, events in world.journal.items():
        own = world.runs[run_id].plan
        assert replay(own, events, run_id) == world.runs[run_id]
        cut = chance.randrange(len(events) + 1)
        kept = runs.encode(replay(own, events[:cut], run_id))
        resumed = runs.decode(kept, run_id, own)
        assert resumed == replay(own, events[:cut], run_id)
        for event in events[cut:]:
            resumed = advance(resumed, on.decode(on.encode(event))).run
        assert resumed == world.runs[run_id]


@pytest.mark.fault("A3")
@QUICK
@given(PLANS, generated.scripts(), SEEDS)
def test_replaying_the_events_from_any_snapshot_gives_an_equal_run(
    plan: Plan, script: Script, seed: int
) -> None:
    replay_is_equal(plan, script, seed)


ONCE = (
    on.Submitted,
    on.TaskStarted,
    on.TaskSucceeded,
    on.TaskFailed,
    on.TaskParked,
    on.TaskLost,
    on.TimerFired,
    on.ApprovalDecided,
    on.PromptReceived,
    on.CancelAsked,
    on.RollbackAsked,
    on.Undone,
    on.ChildFinished,
)


def duplicates_change_nothing(plan: Plan, script: Script, seed: int) -> None:
    chance = Random(seed)
    world = World(plan, script, Watcher())
    for _ in range(400):
        choices = world.choices()
        if not choices:
            break
        world.take(choices[chance.randrange(len(choices))])
        if chance.random() < 0.1:
            world.post(somebody_wants(chance, world.run), MAIN)
        for run_id, events in world.journal.items():
            for event in (events[-1], events[chance.randrange(len(events))]):
                if isinstance(event, ONCE):
                    run = world.runs[run_id]
                    step = advance(run, replace(event, at_ms=world.now_ms))
                    assert step.run is run and step.effects == (), event


@pytest.mark.fault("B4")
@QUICK
@given(PLANS, generated.scripts(), SEEDS)
def test_events_that_come_twice_or_late_change_nothing(
    plan: Plan, script: Script, seed: int
) -> None:
    duplicates_change_nothing(plan, script, seed)


def somebody_wants(chance: Random, run: Run) -> on.AnyEvent:
    """Anything that a person may ask for, of any task there is or could be."""
    at_ms = 5_000_000
    paths = sorted(path for path in run.tasks if path)
    paths += list(run.plan.body.tasks)
    path = chance.choice(paths)
    decide = on.TaskOverridden(
        at_ms=at_ms,
        path=path,
        action=chance.choice(["skip", "succeed", "retry", "retry"]),
        by="ann",
        outputs={"ok": True, "n": 2, "path": path},
    )
    prompt = on.PromptReceived(at_ms=at_ms, prompt_id=str(chance.randrange(50)), text="Hello")
    wishes: list[tuple[int, on.AnyEvent]] = [
        (6, on.PauseAsked(at_ms=at_ms)),
        (9, on.ResumeAsked(at_ms=at_ms)),
        (4, on.CancelAsked(at_ms=at_ms)),
        (9, on.RetryAsked(at_ms=at_ms)),
        (12, on.RetryAsked(at_ms=at_ms, path=path)),
        (15, decide),
        (3, prompt),
        # The end of the story: nothing is accepted after it.
        (1, on.RollbackAsked(at_ms=at_ms)),
    ]
    return chance.choices([wish for _, wish in wishes], [weight for weight, _ in wishes])[0]


def people_never_break_a_run(plan: Plan, script: Script, seed: int) -> None:
    chance = Random(seed)
    world = World(plan, script, Watcher())
    for _ in range(120):
        choices = world.choices()
        if choices and chance.random() < 0.7:
            world.take(choices[chance.randrange(len(choices))])
        else:
            run_id = chance.choice(sorted(world.runs))
            world.post(somebody_wants(chance, world.runs[run_id]), run_id)
    settle(world, chance)
    for run_id, events in world.journal.items():
        assert replay(world.runs[run_id].plan, events, run_id) == world.runs[run_id]


@pytest.mark.fault("K15")
@QUICK
@given(PLANS, generated.scripts(), SEEDS)
def test_whatever_people_ask_and_whenever_the_run_stays_sound(
    plan: Plan, script: Script, seed: int
) -> None:
    people_never_break_a_run(plan, script, seed)

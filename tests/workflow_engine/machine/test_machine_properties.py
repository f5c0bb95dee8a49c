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

QUICK = settings(max_examples=120, suppress_health_check=list(HealthCheck))
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
REOPENING = (on.RetryAsked, on.ResumeAsked, on.TaskOverridden)


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
            for at in (len(events) - 1, chance.randrange(len(events))):
                event = events[at]
                # Cancelling what was reopened since is a new wish, not the old one again.
                reopened = any(isinstance(later, REOPENING) for later in events[at:])
                if isinstance(event, on.CancelAsked) and reopened:
                    continue
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


# Paths that exist, that could, and that never will.
PATHS = st.sampled_from(
    """
    t1 t2 t3 t1[1] t1[2] t2[1].t3 t1.t2 x ] t1[ [1] t1[01] t1. .t1 t1[-1] t1[9999999999] t1:t2
    t1[\u0663]
    """.split()
) | st.just("")
NUMBERS = st.integers(-1, 4)
FAILURES = st.builds(
    on.Failure,
    category=st.sampled_from(["transient", "permanent", "environmental", "unknown"]),
    code=st.sampled_from(["oops", "rollback_incomplete"]),
    message=st.just("x"),
    retry_after_s=st.sampled_from([None, 0.0, -5.0, 1e300, float("inf"), float("nan")]),
)
TIMERS = st.builds(
    lambda kind, number, path: f"{kind}:{number}:{path}",
    st.sampled_from(["retry", "parked", "approval", "undo", "", "x"]),
    NUMBERS,
    PATHS,
) | st.sampled_from(["", ":", "::", "retry", "undo:"])
AT = st.integers(-1_000, 10**13)
JSON = st.dictionaries(st.sampled_from(["ok", "n", "tasks"]), st.integers() | st.none())
OUTCOMES = st.sampled_from(["completed", "failed", "cancelled", "rolled_back"])
CHILDREN = st.sampled_from(["", "wo-main/t1", "wo-main/t2", "wo-main/t1~2", "wo-main/t2[1]"])
ANYTHING: Any = st.one_of(
    st.builds(on.Submitted, at_ms=AT, plan_hash=st.just("h"), inputs=JSON, order=JSON),
    st.builds(on.TaskStarted, at_ms=AT, path=PATHS, attempt=NUMBERS),
    st.builds(on.TaskSucceeded, at_ms=AT, path=PATHS, attempt=NUMBERS, outputs=JSON),
    st.builds(on.TaskFailed, at_ms=AT, path=PATHS, attempt=NUMBERS, failure=FAILURES),
    st.builds(
        on.TaskParked, at_ms=AT, path=PATHS, attempt=NUMBERS, reason=st.just("r"), until_ms=AT
    ),
    st.builds(on.TaskLost, at_ms=AT, path=PATHS, attempt=NUMBERS),
    st.builds(on.TimerFired, at_ms=AT, timer=TIMERS),
    st.builds(
        on.ApprovalDecided,
        at_ms=AT,
        path=PATHS,
        approved=st.booleans(),
        by=st.just("ann"),
        subject_hash=st.just(""),
    ),
    st.builds(on.PromptReceived, at_ms=AT, prompt_id=st.text(max_size=1), text=st.just("x")),
    st.builds(on.PauseAsked, at_ms=AT),
    st.builds(on.ResumeAsked, at_ms=AT),
    st.builds(on.CancelAsked, at_ms=AT),
    st.builds(on.RetryAsked, at_ms=AT, path=st.none() | PATHS),
    st.builds(on.RollbackAsked, at_ms=AT),
    st.builds(
        on.TaskOverridden,
        at_ms=AT,
        path=PATHS,
        action=st.sampled_from(["skip", "succeed", "retry"]),
        by=st.just("ann"),
        outputs=JSON,
    ),
    st.builds(on.Undone, at_ms=AT, path=PATHS, failure=st.none() | FAILURES, attempt=NUMBERS),
    st.builds(
        on.ChildFinished,
        at_ms=AT,
        path=PATHS,
        child_run_id=CHILDREN,
        outcome=OUTCOMES,
        failure=st.none() | FAILURES,
    ),
)


@QUICK
@given(PLANS, st.lists(ANYTHING, max_size=60), st.booleans())
def test_any_event_in_any_state_has_an_answer(
    plan: Plan, events: list[on.AnyEvent], submitted: bool
) -> None:
    run = runs.fresh(MAIN, plan, "hash")
    if submitted:
        run = advance(run, on.Submitted(at_ms=0, plan_hash="h", inputs={}, order={})).run
    watch = Watcher()
    for event in events:
        step = advance(run, event)
        watch(run, event, step)
        run = step.run


CAMPAIGNS = [
    every_run_ends,
    replay_is_equal,
    duplicates_change_nothing,
    people_never_break_a_run,
]


@pytest.mark.slow
@pytest.mark.fault("A30")
@pytest.mark.parametrize("campaign", CAMPAIGNS, ids=lambda campaign: campaign.__name__)
def test_the_properties_hold_in_a_long_campaign(campaign: Any) -> None:
    @LONG
    @given(PLANS, generated.scripts(), SEEDS)
    def run(plan: Plan, script: Script, seed: int) -> None:
        campaign(plan, script, seed)

    run()


@pytest.mark.slow
@LONG
@given(QUIET_PLANS, generated.scripts(), st.lists(SEEDS, min_size=2, max_size=4))
def test_any_order_leads_to_the_same_end_in_a_long_campaign(
    plan: Plan, script: Script, seeds: list[int]
) -> None:
    order_does_not_matter(plan, script, seeds)

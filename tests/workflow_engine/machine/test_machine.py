"""What a run does by itself, event by event. The properties prove the rest."""

from __future__ import annotations

import pytest
from driver import failure
from plans import ONCE, child, foreach, group, plan, repeat, tool
from story import USED, Story, a_chain, a_fan_out, a_loop, turn

from agent_work_orders.workflow_engine import effects as ask
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine import machine, phases
from agent_work_orders.workflow_engine import run as runs

# -- a chain, a fork, joins


def test_a_task_starts_when_its_needs_have_ended_and_the_run_ends_with_the_last() -> None:
    story = a_chain()
    assert story.performing() == ["a"]
    assert story.succeed("a", x=1)
    assert story.performing() == ["b"]
    story.succeed("b")
    assert story.run.outcome == "completed"
    assert [type(effect) for effect in story.asked] == [ask.Finish]


def test_the_key_of_a_task_is_what_it_is_and_never_the_attempt() -> None:
    story = a_chain()
    first = story.effects(ask.Perform)[0]
    story.lose("a")
    again = story.effects(ask.Perform)[0]
    assert (first.key, first.attempt) == ("wo-1:a:1", 1)
    assert (again.key, again.attempt) == ("wo-1:a:1", 2)


def test_a_failure_stops_only_what_depends_on_it() -> None:
    story = Story(plan(tool("a"), tool("b", "a"), tool("c"), tool("d", "c")))
    story.fail("a")
    assert story.states("a", "b", "c") == ["failed", "skipped", "pending"]
    story.succeed("c")
    story.succeed("d")
    assert (story.run.outcome, story.state("d")) == ("failed", "succeeded")


def test_the_run_fails_with_the_first_failure_in_the_order_of_the_file() -> None:
    story = Story(plan(tool("a"), tool("b")))
    story.fail("b")
    story.fail("a")
    assert story.run.failure is not None
    assert story.run.failure.context == {"task": "a"}


@pytest.mark.parametrize(
    ("join", "after_failure", "after_success"),
    [
        ("all_succeeded", "skipped", "skipped"),
        ("any_succeeded", "skipped", "pending"),
        ("all_done", "pending", "pending"),
    ],
)
def test_joins(join: str, after_failure: str, after_success: str) -> None:
    def ended(one: bool) -> str:
        story = Story(plan(tool("a"), tool("b"), tool("c", "a", "b", join=join)))
        story.fail("a")
        assert story.wait("c") == "needs"
        _ = story.succeed("b") if one else story.fail("b")
        return story.state("c")

    assert ended(False) == after_failure
    assert ended(True) == after_success


def test_a_tolerated_failure_counts_as_success_and_is_reported() -> None:
    story = Story(plan(tool("a", on_failure="continue"), tool("b", "a")))
    story.fail("a")
    assert story.performing() == ["b"]
    story.succeed("b")
    assert story.run.outcome == "completed"
    assert phases.warnings(story.run) == ["a: Oops (oops)"]


def test_when_decides_and_an_error_in_it_is_a_failure() -> None:
    asked = tool("b", "a", when="tasks.a.outputs.go")
    no, yes, wrong = (Story(plan(tool("a"), asked)) for _ in range(3))
    no.succeed("a", go=False)
    yes.succeed("a", go=True)
    wrong.succeed("a")
    assert [no.state("b"), yes.state("b"), wrong.state("b")] == ["skipped", "pending", "failed"]
    assert wrong.run.failure is not None and wrong.run.failure.code == "condition_error"


def test_a_template_that_cannot_be_rendered_fails_the_task() -> None:
    story = Story(plan(tool("a", with_={"x": "{{ inputs.nothing }}"})))
    assert story.run.outcome == "failed"
    assert story.run.failure is not None and story.run.failure.code == "template_error"


def test_outputs_of_the_run_are_rendered_and_a_broken_one_is_a_failure() -> None:
    good = Story(plan(tool("a"), outputs={"x": "{{ tasks.a.outputs.x }}"}))
    good.succeed("a", x=[1])
    bad = Story(plan(tool("a"), outputs={"x": "{{ tasks.a.outputs.x }}"}))
    bad.succeed("a")
    assert (good.run.outcome, good.run.outputs) == ("completed", {"x": [1]})
    assert (bad.run.outcome, bad.run.failure and bad.run.failure.code) == (
        "failed",
        "template_error",
    )


@pytest.mark.fault("A22")
def test_a_run_keeps_the_plan_it_was_started_with() -> None:
    story = a_chain()
    kept = runs.encode(story.run)
    assert b'"tasks"' in kept and b'"uses"' not in kept
    assert runs.decode(kept, "wo-1", story.run.plan) == story.run


# -- late, twice, lost, parked, retried


@pytest.mark.fault("B4")
def test_answers_of_another_attempt_or_a_second_time_change_nothing() -> None:
    story = a_chain()
    story.lose("a")
    assert not story.succeed("a", attempt=1)
    assert story.succeed("a", attempt=2)
    assert not story.succeed("a", attempt=2)
    assert not story.fail("a")


def test_started_is_advisory() -> None:
    story = a_chain()
    started = on.TaskStarted(at_ms=5_000, path="a", attempt=1)
    assert story.tell(started) and not story.tell(started)
    assert (story.state("a"), story.run.started_ms) == ("running", 5_000)


def test_a_transient_failure_is_tried_again_after_a_backoff() -> None:
    story = a_chain()
    story.fail("a", "transient")
    timer = story.effects(ask.SetTimer)[0]
    assert timer.timer == "retry:1:a"
    assert 750 <= timer.at_ms - story.now_ms + 1 <= 1_250
    assert story.fire("retry:1:a")
    story.fail("a", "transient")
    assert 1_500 <= story.effects(ask.SetTimer)[0].at_ms - story.now_ms + 1 <= 2_500
    story.fire("retry:2:a")
    story.fail("a", "transient")
    assert story.state("a") == "failed"
    assert story.task("a").tries == 3


@pytest.mark.fault("D1")
def test_retry_after_is_kept_but_not_for_ever() -> None:
    polite, absurd = a_chain(), a_chain()
    polite.fail("a", "transient", retry_after_s=90.0)
    absurd.fail("a", "transient", retry_after_s=float("inf"))
    assert polite.effects(ask.SetTimer)[0].at_ms == polite.now_ms - 1 + 90_000
    assert absurd.effects(ask.SetTimer)[0].at_ms <= absurd.now_ms + 7 * 86_400_000


def test_a_timer_that_fires_late_or_for_an_earlier_wait_means_nothing() -> None:
    story = a_chain()
    story.fail("a", "transient")
    story.fire("retry:1:a")
    story.fail("a", "transient")
    assert not story.fire("retry:1:a")
    assert not story.fire("parked:2:a")
    assert not story.fire("nonsense")
    assert not story.fire("retry:2:nowhere")
    assert story.fire("retry:2:a")


@pytest.mark.fault("G12")
def test_a_parked_task_waits_for_its_hour_and_it_is_no_try() -> None:
    story = a_chain(retry=ONCE)
    story.park("a", until_ms=77_000)
    waiting = phases.waiting(story.run)
    assert waiting is not None and (waiting.reason, waiting.until_ms) == ("model_quota", 77_000)
    assert story.effects(ask.SetTimer) == [ask.SetTimer(timer="parked:1:a", at_ms=77_000)]
    assert story.fire("parked:1:a") and story.performing() == ["a"]
    assert story.task("a").tries == 0


@pytest.mark.fault("N6")
def test_parks_in_a_row_are_counted_and_the_outage_is_new_when_something_moved() -> None:
    """What a tool waits for grows with it, also when each try gets a little further and is paid
    for: the circuit's waits and others' tries do not count."""
    story = a_chain()

    def park(reason: str, *, turns: int = 0) -> tuple[int, int | None]:
        event = on.TaskParked(
            at_ms=story.now_ms,
            path="a",
            attempt=story.task("a").attempt,
            reason=reason,
            until_ms=99_000,
            usage=on.Usage(turns=turns),
        )
        assert story.tell(event)
        assert story.fire(f"parked:{event.attempt}:a")
        return story.task("a").stalls, story.task("a").stalled_ms

    first_ms = story.now_ms
    assert park("model_unavailable") == (1, first_ms)
    story.now_ms += 5
    assert park("circuit_open") == (1, first_ms)
    assert park("model_quota") == (2, first_ms)
    moved_ms = story.now_ms
    assert park("model_unavailable", turns=3) == (3, moved_ms)
    assert park("model_unavailable") == (4, moved_ms)
    story.fail("a", "transient")
    assert (story.task("a").stalls, story.task("a").stalled_ms) == (0, None)


@pytest.mark.fault("N6")
def test_a_task_knows_what_it_used_and_a_lost_attempt_is_unknown_until_found() -> None:
    story = a_chain(takes_prompts=True)
    story.lose("a")
    assert story.run.usage.unpriced_turns == 1 and story.task("a").lost == (1,)
    parked = on.TaskParked(
        at_ms=story.now_ms, path="a", attempt=2, reason="circuit_open", until_ms=9_000
    )
    assert story.tell(parked) and story.fire("parked:2:a")
    assert story.task("a").lost == (1,), "nobody looked"
    found = on.Usage(cost_usd=0.5, estimated_usd=0.5, turns=2, unpriced_turns=-1, model="m")
    failed = on.TaskFailed(
        at_ms=story.now_ms,
        path="a",
        attempt=3,
        failure=on.Failure(category="transient", code="x", message="x"),
        usage=found,
        denials=("Bash(rm)",) * 80,
        recovered=(1,),
    )
    assert story.tell(failed) and story.fire("retry:3:a")
    task = story.task("a")
    assert task.lost == () and len(task.denials) == machine.MAX_DENIALS
    assert task.usage == story.run.usage
    assert (task.usage.unpriced_turns, task.usage.cost_usd) == (0, 0.5)
    story.fail("a", "permanent")
    story.tell(on.RetryAsked(at_ms=story.now_ms, by="ann"))
    assert story.task("a").usage == story.run.usage, "a retry forgets nothing that was paid"


def test_parking_and_losing_are_bounded() -> None:
    parked, lost = a_chain(), a_chain()
    for count in range(machine.MAX_PARKS + 1):
        parked.park("a")
        parked.fire(f"parked:{count + 1}:a")
    for _ in range(machine.MAX_LOSSES + 1):
        lost.lose("a")
    assert parked.run.failure is not None and parked.run.failure.code == "parked_too_often"
    assert lost.run.failure is not None and lost.run.failure.code == "lost_too_often"


@pytest.mark.fault("G18")
def test_what_was_spent_counts_also_when_it_failed_was_cancelled_or_given_up() -> None:
    story = Story(plan(tool("a"), tool("b"), tool("c")))
    story.fail("a")
    story.override("b", "skip")
    assert story.succeed("b", attempt=1)
    assert not story.succeed("b", attempt=1)
    assert story.state("b") == "skipped"
    story.cancel()
    story.fail("c")
    assert story.run.usage == on.Usage(cost_usd=4.5, input_tokens=30, output_tokens=6, turns=3)


# -- groups, loops, fan-outs


def test_a_group_ends_with_its_tasks_and_shows_their_outputs() -> None:
    story = Story(plan(group("g", tool("a"), tool("b", "a")), tool("c", "g")))
    story.succeed("g.a", x=1)
    story.succeed("g.b", y=2)
    assert story.task("g").outputs == {"tasks": {"a": {"x": 1}, "b": {"y": 2}}}
    assert story.performing() == ["c"]


def test_a_loop_goes_on_until_it_is_satisfied() -> None:
    story = a_loop()
    turn(story, 1, ok=False)
    assert story.performing() == ["fix[2].build"]
    turn(story, 2, ok=True)
    outputs = story.task("fix").outputs
    assert outputs is not None and (outputs["iterations"], outputs["satisfied"]) == (2, True)
    assert outputs["tasks"]["check"] == {"ok": True, "n": 2}
    assert story.performing() == ["after"]


@pytest.mark.fault("L7")
def test_a_loop_is_bounded() -> None:
    story = a_loop(max_iterations=2)
    turn(story, 1, ok=False)
    turn(story, 2, ok=False)
    assert story.run.failure is not None and story.run.failure.code == "loop_exhausted"
    outputs = story.task("fix").outputs
    assert outputs is not None and (outputs["iterations"], outputs["satisfied"]) == (2, False)


def test_a_loop_fails_at_once_when_an_iteration_fails() -> None:
    story = a_loop()
    story.fail("fix[1].build")
    assert story.states("fix[1].check", "fix[1]", "fix", "after") == [
        "skipped",
        "failed",
        "failed",
        "skipped",
    ]
    assert story.run.failure is not None
    assert story.run.failure.context == {"task": "fix[1].build"}


def test_a_fan_out_does_every_item_and_keeps_the_outputs_in_their_order() -> None:
    story = a_fan_out(["x", "y"])
    assert [effect.input for effect in story.effects(ask.Perform)] == [
        {"of": "x", "at": 1},
        {"of": "y", "at": 2},
    ]
    story.succeed("s[2]", v=2)
    story.succeed("s[1]", v=1)
    assert story.task("s").outputs == {"count": 2, "failed": 0, "items": [{"v": 1}, {"v": 2}]}


def test_a_fan_out_of_nothing_succeeds_and_of_nonsense_fails() -> None:
    nothing, nonsense = a_fan_out([]), a_fan_out("{{ inputs }}")
    assert nothing.task("s").outputs == {"count": 0, "failed": 0, "items": []}
    assert nonsense.run.failure is not None
    assert nonsense.run.failure.code == "foreach_invalid"


@pytest.mark.fault("L7")
def test_a_fan_out_is_bounded() -> None:
    story = Story(plan(foreach("s", "{{ inputs.all }}", tool("s"))), {"all": [0] * 1_001})
    assert story.run.failure is not None and story.run.failure.code == "foreach_invalid"


@pytest.mark.fault("L7")
def test_nested_fan_outs_and_loops_cannot_grow_a_run_without_end() -> None:
    inner = foreach("b", [1, 2, 3, 4, 5], tool("b"))
    fans = Story(plan(foreach("a", [1, 2, 3, 4], group("a", inner)), max_tasks=20))
    assert fans.run.live == 10
    for path in [path for path, task in fans.run.tasks.items() if task.live]:
        fans.succeed(path)
    assert fans.run.failure is not None and fans.run.failure.code == "too_many_tasks"
    loop = Story(plan(repeat("r", tool("x"), until="false", max_iterations=100), max_tasks=20))
    for index in range(1, 101):
        loop.succeed(f"r[{index}].x")
    assert loop.run.failure is not None and loop.run.failure.code == "too_many_tasks"
    assert len(loop.run.tasks) <= 20


def test_no_more_items_are_under_way_than_may_be() -> None:
    story = a_fan_out([1, 2, 3], parallel=1)
    assert story.performing() == ["s[1]"]
    story.fail("s[1]")
    assert story.performing() == ["s[2]"]
    story.succeed("s[2]")
    story.succeed("s[3]")
    assert story.task("s").outputs == {"count": 3, "failed": 1, "items": [None, {}, {}]}
    assert story.retry() and story.performing() == ["s[1]"]


# -- children


def test_a_child_is_a_run_of_its_own_and_a_retry_starts_another() -> None:
    story = Story(plan(child("c", "inner", with_={"x": 1}), tool("b", "c")))
    assert story.effects(ask.StartChild) == [
        ask.StartChild(path="c", run_id="wo-1/c", workflow="inner", inputs={"x": 1})
    ]
    story.child_ends("c", "failed", failure=failure("transient"), usage=USED)
    assert (story.run.outcome, story.run.usage) == ("failed", USED)
    story.retry()
    assert story.effects(ask.StartChild)[0].run_id == "wo-1/c~2"
    assert not story.child_ends("c", "completed")
    assert story.child_ends("c", "completed", run_id="wo-1/c~2", outputs={"y": 2})
    assert story.task("c").outputs == {"y": 2}
    assert not story.child_ends("c", "failed", run_id="wo-1/c~2")


@pytest.mark.parametrize("outcome", ["failed", "cancelled", "rolled_back"])
def test_a_child_that_did_not_complete_failed(outcome: str) -> None:
    story = Story(plan(child("c", "inner")))
    story.child_ends("c", outcome)
    assert story.run.failure is not None and story.run.failure.code == "child_failed"


def test_a_run_that_has_only_children_is_running() -> None:
    assert phases.status(Story(plan(child("c", "inner"))).run) == "running"

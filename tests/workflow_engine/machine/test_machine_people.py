"""What people may ask of a run, and what comes of it, in every stage."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from driver import failure
from plans import ASK, UNDO, child, foreach, gate, group, plan, tool
from story import Story, a_chain, a_fan_out, a_loop, turn

from agent_work_orders.workflow_engine import effects as ask
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine import phases, template
from agent_work_orders.workflow_engine import prompts as prompting
from agent_work_orders.workflow_engine import run as runs
from agent_work_orders.workflow_engine.plan import Retry, Task

# -- approvals


def test_an_approval_stands_before_the_work_and_is_about_exactly_what_is_shown() -> None:
    story = Story(plan(tool("a", approval=ASK, with_={"x": "{{ inputs.x }}"})), {"x": 5})
    assert story.performing() == []
    shown = story.effects(ask.AskApproval)[0]
    assert shown.subject["input"] == {"x": 5}
    assert phases.status(story.run) == "waiting"
    assert story.decide("a")
    assert story.effects(ask.ClearTimer) == [ask.ClearTimer(timer="approval:1:a")]
    assert story.effects(ask.Perform)[0].input == {"x": 5}


@pytest.mark.fault("J8")
def test_a_decision_about_something_else_is_void() -> None:
    story = Story(plan(tool("a", approval=ASK)))
    assert not story.decide("a", subject_hash="0" * 64)
    assert story.state("a") == "awaiting_approval"


@pytest.mark.fault("J8")
def test_an_approval_of_an_earlier_generation_is_void() -> None:
    story = Story(plan(tool("a", approval=ASK)))
    gone = story.task("a").gate
    assert gone is not None
    story.decide("a", approved=False)
    story.retry()
    assert not story.decide("a", subject_hash=gone.subject_hash)
    assert story.decide("a")


@pytest.mark.fault("A6")
@pytest.mark.fault("J9")
def test_one_decision_wins() -> None:
    story = Story(plan(tool("a", approval=ASK)))
    assert story.decide("a")
    assert not story.decide("a")
    assert not story.decide("a", approved=False)
    assert story.performing() == []
    rejected = Story(plan(tool("a", approval=ASK)))
    assert rejected.decide("a", approved=False, comment="Too soon")
    assert not rejected.decide("a")
    assert rejected.run.failure is not None
    assert rejected.run.failure.code == "approval_rejected"
    assert "Too soon" in rejected.run.failure.message


@pytest.mark.fault("J9")
def test_approve_against_cancel() -> None:
    first, second = (Story(plan(tool("a", approval=ASK))) for _ in range(2))
    assert first.cancel() and not first.decide("a")
    assert first.run.outcome == "cancelled"
    assert second.decide("a") and second.cancel()
    assert second.effects(ask.CancelRunning) == [ask.CancelRunning(path="a", attempt=1)]


@pytest.mark.fault("J11")
def test_nobody_decided_in_time_means_no_and_can_be_asked_again() -> None:
    story = Story(plan(gate("g"), tool("a", "g")))
    expires_ms = story.effects(ask.SetTimer)[0].at_ms
    assert not story.decide("g", at_ms=expires_ms)
    assert story.fire("approval:1:g", expires_ms)
    assert story.run.failure is not None and story.run.failure.code == "approval_expired"
    assert not story.decide("g")
    story.retry()
    assert len(story.effects(ask.AskApproval)) == 1
    assert not story.fire("approval:1:g")
    assert story.decide("g") and story.performing() == ["a"]
    assert story.task("g").outputs == {"approved_by": "ann", "comment": ""}


def test_an_approved_group_cannot_be_entered_by_another_door() -> None:
    story = Story(plan(group("g", tool("a"), approval=ASK)))
    story.decide("g", approved=False)
    assert not story.override("g.a", "succeed")
    assert not story.override("g.a", "retry")
    assert not story.retry("g.a")


def test_what_was_retried_cancelled_and_retried_again_is_asked_for_again() -> None:
    story = Story(plan(group("g", tool("a"), approval=ASK)))
    story.decide("g")
    story.fail("g.a")
    story.retry("g")
    assert story.state("g") == "awaiting_approval"
    story.cancel()
    story.retry()
    assert (story.state("g"), story.performing()) == ("awaiting_approval", [])


# -- pause and resume


def test_a_pause_lets_what_runs_end_and_holds_the_rest() -> None:
    story = a_chain()
    assert story.pause() and not story.pause()
    story.succeed("a")
    assert (story.wait("b"), phases.status(story.run)) == ("held", "paused")
    assert story.resume() and story.performing() == ["b"]
    assert not story.resume()


@pytest.mark.parametrize("how", ["retry", "parked", "lost"])
def test_what_would_be_dispatched_in_a_pause_is_held(how: str) -> None:
    story = a_chain()
    story.pause()
    if how == "lost":
        story.lose("a")
    else:
        _ = story.fail("a", "transient") if how == "retry" else story.park("a")
        story.fire(f"{how}:1:a")
    assert (story.wait("a"), story.performing()) == ("held", [])
    story.resume()
    assert story.performing() == ["a"]


def test_a_failure_can_pause_the_run_until_a_person_decides() -> None:
    story = Story(plan(tool("a", on_failure="pause"), tool("b"), tool("c", "b")))
    story.fail("a")
    story.succeed("b")
    assert (story.state("a"), story.wait("c")) == ("failed", "held")
    waiting = phases.waiting(story.run)
    assert waiting is not None and waiting.reason == "failure: oops"
    story.resume()
    assert sorted(story.performing()) == ["a", "c"]
    assert story.task("a").generation == 2


def test_a_persons_pause_outlives_the_failure_that_came_after_it() -> None:
    story = Story(plan(tool("a", on_failure="pause"), tool("b", "a")))
    story.pause()
    story.fail("a")
    story.override("a", "succeed")
    assert (story.run.paused, story.wait("b")) == ("asked", "held")
    later = Story(plan(tool("a", on_failure="pause"), tool("b", "a")))
    later.fail("a")
    assert later.pause()
    later.override("a", "succeed")
    assert later.wait("b") == "held"


@pytest.mark.parametrize("action", ["skip", "succeed", "retry"])
def test_overriding_what_halted_the_run_lets_it_go_on(action: str) -> None:
    story = Story(plan(tool("a", on_failure="pause"), tool("b", "a", join="all_done")))
    story.fail("a")
    assert story.override("a", action)
    assert story.run.paused == ""
    assert story.performing() == (["a"] if action == "retry" else ["b"])


# -- cancel


@pytest.mark.fault("K15")
def test_cancel_tells_what_runs_to_stop_and_ends_when_it_has() -> None:
    story = Story(plan(tool("a"), child("c", "inner"), tool("d"), gate("g")))
    story.fail("d", "transient")
    story.cancel()
    assert story.effects(ask.CancelRunning) == [ask.CancelRunning(path="a", attempt=1)]
    assert story.effects(ask.CancelChild) == [ask.CancelChild(path="c", run_id="wo-1/c")]
    timers = {effect.timer for effect in story.effects(ask.ClearTimer)}
    assert timers == {"retry:1:d", "approval:1:g"}
    assert not story.fire("retry:1:d")
    story.fail("a", "transient")
    assert story.run.stage == "cancelling"
    story.child_ends("c", "cancelled")
    assert story.run.outcome == "cancelled"
    assert set(story.states("a", "c", "d", "g")) == {"cancelled"}


@pytest.mark.fault("K15")
def test_wishes_of_people_in_every_stage() -> None:
    def wishes(story: Story) -> list[bool]:
        kept = story.run
        answers = []
        for wish in (story.pause, story.resume, story.cancel, story.retry, story.roll_back):
            story.run = kept
            answers.append(wish())
        story.run = kept
        return answers

    story = Story(plan(tool("a", undo=UNDO), tool("b", "a")))
    new = Story(plan(tool("a")))
    new.run = runs.fresh("wo-1", new.run.plan, "hash")
    assert wishes(new) == [False, False, False, False, False]
    assert wishes(story) == [True, False, True, False, True]
    story.succeed("a", path="a")
    story.pause()
    assert wishes(story) == [False, True, True, False, True]
    story.resume()
    story.cancel()
    assert wishes(story) == [False, False, False, False, True]
    story.lose("b")
    assert wishes(story) == [False, False, False, True, True]
    story.roll_back()
    assert story.run.stage == "rolling_back"
    assert wishes(story) == [False, False, False, False, False]
    story.undone("a")
    assert story.run.outcome == "rolled_back"
    assert wishes(story) == [False, False, False, False, False]


def test_a_result_that_comes_in_while_cancelling_is_kept_and_the_run_can_go_on_from_it() -> None:
    story = Story(plan(group("g", tool("a"), tool("b", "a")), tool("c", "g")))
    story.cancel()
    story.succeed("g.a", x=1)
    assert (story.state("g.a"), story.run.outcome) == ("succeeded", "cancelled")
    assert story.retry()
    assert (story.performing(), story.state("g.a")) == (["g.b"], "succeeded")
    story.succeed("g.b")
    story.succeed("c")
    assert story.run.outcome == "completed"


def test_a_cancelled_run_whose_last_task_succeeded_completes_when_it_is_opened_again() -> None:
    story = Story(plan(group("g", tool("a"))))
    story.cancel()
    story.succeed("g.a")
    assert story.retry()
    assert story.run.outcome == "completed"


def test_going_on_after_a_cancel_takes_everything_up_again_whatever_was_asked_for() -> None:
    story = Story(plan(tool("a"), tool("b"), tool("c", "b")))
    story.succeed("a")
    story.cancel()
    story.fail("b")
    assert story.retry("a")
    assert sorted(story.performing()) == ["a", "b"]
    decided = Story(plan(tool("a"), tool("b")))
    decided.cancel()
    decided.lose("a")
    decided.lose("b")
    assert decided.override("a", "succeed")
    assert decided.performing() == ["b"]


# -- rollback


def two_to_undo(**fields: Any) -> Story:
    story = Story(
        plan(
            tool("a", undo=UNDO),
            tool("b", "a", undo=UNDO),
            tool("c", "b", on_failure="rollback", **fields),
        )
    )
    story.succeed("a", path="a")
    story.succeed("b", path="b")
    return story


def test_a_failure_can_roll_the_run_back_last_first() -> None:
    story = two_to_undo()
    story.fail("c")
    assert [(effect.path, effect.input) for effect in story.effects(ask.Undo)] == [
        ("b", {"what": "b"})
    ]
    assert not story.undone("a")
    story.undone("b")
    assert story.effects(ask.Undo)[0].key == "wo-1:a:1:undo"
    story.undone("a")
    assert story.run.outcome == "rolled_back"
    assert story.run.failure is not None and story.run.failure.context == {"task": "c"}
    assert phases.status(story.run) == "failed"


def test_rollback_by_policy_waits_until_everything_has_ended() -> None:
    story = Story(plan(tool("a", on_failure="rollback"), tool("b", undo=UNDO)))
    story.fail("a")
    assert story.run.stage == "active"
    story.succeed("b", path="b")
    assert [effect.path for effect in story.effects(ask.Undo)] == ["b"]


def test_a_failure_that_is_tolerated_around_it_rolls_nothing_back() -> None:
    inner = group("g", tool("a", on_failure="rollback"), on_failure="continue")
    story = Story(plan(tool("b", undo=UNDO), inner))
    story.fail("g.a")
    story.succeed("b", path="b")
    assert story.run.outcome == "completed"
    assert story.roll_back() and story.run.stage == "rolling_back"


def test_a_tolerated_wish_for_rollback_does_not_come_true_through_another_failure() -> None:
    inner = group("g", tool("a", on_failure="rollback"), on_failure="continue")
    story = Story(plan(inner, tool("b")))
    story.fail("g.a")
    story.fail("b")
    assert story.run.outcome == "failed"


def test_a_policy_that_was_made_good_again_rolls_nothing_back() -> None:
    inner = group("g", tool("a", on_failure="rollback"), on_failure="pause")
    story = Story(plan(inner, tool("b")))
    story.fail("g.a")
    story.resume()
    story.succeed("g.a")
    story.fail("b")
    assert story.run.outcome == "failed"


@pytest.mark.parametrize("stage", ["active", "cancelling", "ended"])
def test_a_person_can_ask_for_rollback_in_every_stage(stage: str) -> None:
    story = two_to_undo()
    if stage == "cancelling":
        story.cancel()
    if stage == "ended":
        story.succeed("c")
    assert story.roll_back() and not story.roll_back()
    if stage != "ended":
        story.lose("c")
    story.undone("b")
    story.undone("a")
    assert story.run.outcome == "rolled_back"
    assert phases.status(story.run) == "cancelled"


def test_an_undo_that_fails_is_tried_again_then_listed_and_the_rest_is_undone() -> None:
    story = two_to_undo()
    story.fail("c")
    for tries in range(1, 5):
        assert story.undone("b", failure("transient"))
        assert not story.undone("b", failure("transient"))
        assert not story.undone("b")
        assert story.fire(f"undo:{tries}:b")
        assert [effect.attempt for effect in story.effects(ask.Undo)] == [tries + 1]
        assert not story.fire(f"undo:{tries}:b")
    story.undone("b", failure("transient"))
    assert story.task("b").undone == "failed"
    assert [effect.path for effect in story.effects(ask.Undo)] == ["a"]
    story.undone("a")
    assert story.run.outcome == "failed"
    assert story.run.failure is not None
    assert story.run.failure.code == "rollback_incomplete"
    assert story.run.failure.message == "Could not undo b"


def test_an_undo_that_cannot_be_rendered_is_passed() -> None:
    story = Story(plan(tool("a", undo=UNDO), tool("b", undo=UNDO)))
    story.succeed("a", path="a")
    story.succeed("b")
    story.roll_back()
    assert story.task("b").undone == "failed"
    assert [effect.path for effect in story.effects(ask.Undo)] == ["a"]


@pytest.mark.parametrize(
    ("outcome", "code", "ends"),
    [("rolled_back", "", "rolled_back"), ("failed", "rollback_incomplete", "failed")],
)
def test_a_child_is_rolled_back_with_its_parent(outcome: str, code: str, ends: str) -> None:
    story = Story(plan(child("c", "inner")))
    story.child_ends("c")
    story.roll_back()
    assert story.effects(ask.RollbackChild) == [ask.RollbackChild(path="c", run_id="wo-1/c")]
    assert not story.child_ends("c")
    broken = on.Failure(category="permanent", code=code, message="") if code else None
    assert story.child_ends("c", outcome, failure=broken)
    assert story.run.outcome == ends


# -- retry


def test_retry_repeats_what_failed_and_what_depends_on_it_only() -> None:
    story = Story(plan(tool("a"), tool("b"), tool("c", "a", "b"), tool("d", "b")))
    story.succeed("b")
    story.succeed("d")
    story.fail("a")
    assert story.run.outcome == "failed"
    assert story.retry() and story.performing() == ["a"]
    assert story.states("b", "c", "d") == ["succeeded", "pending", "succeeded"]
    assert story.effects(ask.Perform)[0].key == "wo-1:a:2"
    assert not story.retry()
    story.succeed("a")
    story.succeed("c")
    assert story.run.outcome == "completed"


def test_retry_from_a_chosen_task() -> None:
    story = Story(plan(tool("a"), tool("b", "a"), tool("c", "b"), tool("d")))
    for path in ("a", "b", "c", "d"):
        story.succeed(path)
    assert story.retry("b") and story.performing() == ["b"]
    assert story.states("a", "c", "d") == ["succeeded", "pending", "succeeded"]


@pytest.mark.parametrize("path", ["", "nowhere", "a.b", "a[1]", "c", "]", "[1]", "a[x]"])
def test_retry_of_what_is_not_there_or_has_not_ended_changes_nothing(path: str) -> None:
    story = Story(plan(tool("a"), tool("b"), tool("c", "b")))
    story.fail("a")
    assert not story.retry(path)


def test_nothing_is_reset_under_a_live_task() -> None:
    story = a_chain()
    story.succeed("a")
    assert not story.retry("a")
    assert not story.override("a", "skip")


def test_a_retry_in_a_loop_forgets_the_iterations_after_it() -> None:
    story = a_loop()
    turn(story, 1, ok=False)
    story.succeed("fix[2].build")
    story.fail("fix[2].check")
    assert story.retry("fix[1].check") and story.performing() == ["fix[1].check"]
    assert (story.task("fix").index, story.state("fix[2]")) == (1, "pending")
    story.succeed("fix[1].check", ok=False, n=1)
    assert story.performing() == ["fix[2].build"]
    assert story.effects(ask.Perform)[0].key == "wo-1:fix[2].build:2"
    assert not story.override("fix[3].build", "skip")


def test_forgotten_iterations_do_not_come_back_after_a_cancel() -> None:
    story = a_loop()
    turn(story, 1, ok=False)
    story.fail("fix[2].build")
    story.retry("fix[1].build")
    story.cancel()
    story.lose("fix[1].build")
    assert story.states("fix[1].build", "fix[2].build") == ["cancelled", "pending"]
    story.retry()
    assert story.performing() == ["fix[1].build"]
    assert story.task("fix").index == 1


def test_a_cancelled_iteration_does_not_go_on_beside_the_one_that_is_retried() -> None:
    story = a_loop()
    turn(story, 1, ok=False)
    story.cancel()
    story.succeed("fix[2].build")
    assert story.retry("fix[1].check")
    assert (story.performing(), story.task("fix").index) == (["fix[1].check"], 1)


def test_retry_in_nested_scopes_opens_every_scope_around_it() -> None:
    inner = group("g", tool("x"), tool("y", "x"))
    story = Story(plan(foreach("s", ["p", "q"], inner), tool("z", "s")))
    story.fail("s[1].x")
    story.succeed("s[2].x")
    story.succeed("s[2].y")
    assert story.states("s[1].y", "s[1]", "s", "z") == ["skipped", "failed", "failed", "skipped"]
    story.retry()
    assert story.performing() == ["s[1].x"]
    assert story.states("s[1]", "s", "s[2]", "z") == [
        "running",
        "running",
        "succeeded",
        "pending",
    ]
    story.succeed("s[1].x")
    story.succeed("s[1].y")
    story.succeed("z")
    assert story.run.outcome == "completed"


def test_a_retry_clears_the_timers_of_what_it_resets() -> None:
    story = a_chain()
    story.succeed("a")
    story.fail("b", "transient")
    assert story.retry("a")
    assert story.effects(ask.ClearTimer) == [ask.ClearTimer(timer="retry:1:b")]


# -- override


def test_a_task_that_waits_can_be_decided_before_its_needs_have_ended() -> None:
    story = Story(plan(tool("a"), tool("b", "a"), tool("c", "b")))
    assert story.override("b", "succeed", x=1)
    assert story.performing() == ["c"]
    story.succeed("a")
    story.succeed("c")
    assert (story.run.outcome, story.task("b").outputs) == ("completed", {"x": 1})


def test_a_running_task_can_be_taken_away_from_its_performer() -> None:
    story = a_chain()
    assert story.override("a", "retry")
    assert story.effects(ask.CancelRunning) == [ask.CancelRunning(path="a", attempt=1)]
    assert [effect.attempt for effect in story.effects(ask.Perform)] == [2]
    story.succeed("a", attempt=1, late=True)
    assert story.state("a") == "pending"
    story.succeed("a", attempt=2)
    assert story.performing() == ["b"]


def test_a_failed_task_can_be_called_done_after_the_end() -> None:
    story = a_chain()
    story.fail("a")
    assert story.run.outcome == "failed"
    assert story.override("a", "succeed", x=1) and story.performing() == ["b"]
    assert not story.override("a", "skip")


def test_a_whole_group_can_be_skipped_while_it_runs() -> None:
    story = Story(plan(group("g", tool("a"), gate("q")), tool("z", "g", join="all_done")))
    assert story.override("g", "skip")
    assert story.effects(ask.CancelRunning) == [ask.CancelRunning(path="g.a", attempt=1)]
    assert story.effects(ask.ClearTimer) == [ask.ClearTimer(timer="approval:1:g.q")]
    assert story.performing() == ["z"]


def test_an_item_of_a_fan_out_can_be_skipped_and_the_next_has_its_turn() -> None:
    story = a_fan_out([1, 2, 3], parallel=1)
    assert not story.override("s[2]", "skip")
    assert story.override("s[1]", "skip") and story.performing() == ["s[2]"]


def test_override_in_a_loop() -> None:
    story = a_loop()
    story.fail("fix[1].build")
    assert story.override("fix[1].build", "succeed")
    assert story.performing() == ["fix[1].check"]
    assert not story.override("fix[2].build", "skip")
    assert not story.override("fix[2]", "skip")


# -- prompts


def test_a_prompt_goes_to_the_agent_at_work_or_waits_for_the_next() -> None:
    story = Story(plan(tool("a"), tool("b", "a", takes_prompts=True)))
    assert story.prompt("p1") and not story.prompt("p1")
    assert story.run.prompts[0].target is None
    story.succeed("a")
    assert story.run.prompts[0].target == "b"
    story.prompt("p2")
    assert story.effects(ask.DeliverPrompt) == [ask.DeliverPrompt(path="b", prompt_id="p2")]


def test_a_prompt_that_its_agent_did_not_get_goes_to_the_next_one() -> None:
    agent = {"takes_prompts": True}
    story = Story(plan(tool("a", **agent), tool("b", "a", **agent), tool("c", "b", **agent)))
    story.prompt("p1")
    story.prompt("p2")
    story.tell(on.TaskSucceeded(at_ms=9_000, path="a", attempt=1, outputs={}, prompts=("p1",)))
    assert [(p.delivered, p.target) for p in story.run.prompts] == [(True, "a"), (False, "b")]
    story.override("b", "skip")
    assert story.run.prompts[1].target is None
    assert story.run.outcome == "completed"
    assert phases.warnings(story.run) == [
        "prompt p2 was not delivered: no agent was left to get it"
    ]


def test_what_is_said_with_a_retry_opens_the_next_agents_turn() -> None:
    agent = {"takes_prompts": True, "retry": Retry(attempts=1)}
    story = Story(plan(tool("a", **agent), tool("b", "a", **agent)))
    story.run = msgspec.structs.replace(
        story.run, order={"order_id": "wo-1", "agent_timeout_s": 5.0}
    )
    said = on.RetryAsked(at_ms=9_000, prompt_id="p1", text="Tabs", by="ann", agent_timeout_s=60.0)
    # Where nothing can be retried nothing is kept.
    assert not story.tell(said)
    assert story.run.prompts == () and story.run.order["agent_timeout_s"] == 5.0
    story.fail("a")
    assert story.tell(said)
    [prompt] = story.run.prompts
    assert (prompt.text, prompt.target, prompt.opening) == ("Tabs", "a", True)
    assert story.run.order == {"order_id": "wo-1", "agent_timeout_s": 60.0}
    assert story.effects(ask.DeliverPrompt) == []
    # A retry without a word leaves the timeout as it was.
    story.fail("a")
    story.retry()
    assert len(story.run.prompts) == 1 and story.run.order["agent_timeout_s"] == 60.0


def test_prompts_are_bounded_and_end_with_the_run() -> None:
    story = a_chain()
    for count in range(prompting.MAX_PROMPTS):
        assert story.prompt(str(count))
    assert not story.prompt("one more")
    story.cancel()
    assert not story.prompt("late")


# -- phases


def test_phases_follow_the_tasks() -> None:
    told = plan(tool("a", phase="planning"), tool("b", "a", phase="implementing"))
    story = Story(told)
    assert phases.current_phase(story.run) is None
    story.tell(on.TaskStarted(at_ms=2_000, path="a", attempt=1))
    assert phases.current_phase(story.run) == "planning"
    story.succeed("a")
    story.tell(on.TaskStarted(at_ms=3_000, path="b", attempt=1))
    assert [span.phase for span in phases.history(story.run)] == ["planning", "implementing"]
    story.succeed("b")
    assert phases.current_phase(story.run) == "completed"


def test_templates_are_rendered_once_and_what_was_approved_is_what_is_done() -> None:
    story = a_chain(with_={"x": "{{ inputs.x | default('-') }}"}, retry=Retry())
    first = story.effects(ask.Perform)[0].input
    story.fail("a", "transient")
    story.fire("retry:1:a")
    assert story.effects(ask.Perform)[0].input is first
    assert first == template.render({"x": "-"}, {})


# -- what a person's decision keeps from being published


def publishing(*before: str, **more: Any) -> Task:
    return tool("publish", *before, uses="forge.open_pull_request", **more)


def test_skipping_a_publication_is_said() -> None:
    story = Story(plan(tool("build"), publishing("build")))
    story.succeed("build")
    story.override("publish", "skip")
    assert story.run.outcome == "completed"
    [warning] = phases.warnings(story.run)
    assert (
        warning.startswith("publish: nothing was published, because ") and "skipped it" in warning
    )


def test_skipping_what_a_publication_needs_is_said() -> None:
    story = Story(plan(group("g", tool("a")), tool("build", "g"), publishing("build")))
    story.fail("g.a")
    story.override("g", "skip")
    assert story.states("build", "publish") == ["skipped", "skipped"]
    [warning] = phases.warnings(story.run)
    assert "skipped g" in warning


def test_saying_that_a_publication_is_done_is_said() -> None:
    story = Story(plan(tool("build"), publishing("build")))
    story.succeed("build")
    story.override("publish", "succeed")
    [warning] = phases.warnings(story.run)
    assert "this order published nothing" in warning


def test_a_publication_that_was_not_wanted_is_no_warning() -> None:
    """Its own condition, or a decision about something else."""
    other = Story(plan(tool("a"), tool("other"), publishing("a", when="false")))
    other.override("other", "skip")
    other.succeed("a")
    assert other.state("publish") == "skipped"
    assert phases.warnings(other.run) == []
    again = Story(plan(tool("build"), publishing("build")))
    again.succeed("build")
    again.override("publish", "skip")
    again.retry("publish")
    again.succeed("publish")
    assert phases.warnings(again.run) == [], "a retry takes the decision back"

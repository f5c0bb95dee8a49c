"""A question is about what is shown with it; when that changes, it is another question."""

from __future__ import annotations

import pytest
from plans import ASK, plan, tool
from story import Story

from agent_work_orders.workflow_engine import approval, phases
from agent_work_orders.workflow_engine import effects as ask
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine.run import Gate

ONE, TWO = {"head_sha": "1" * 40}, {"head_sha": "2" * 40}


def asked(**facts: str) -> Story:
    story = Story(plan(tool("a", approval=ASK)))
    if facts:
        assert show(story, facts)
    return story


def show(story: Story, facts: dict[str, str], *, generation: int = 1) -> bool:
    event = on.ApprovalShown(at_ms=story.now_ms, path="a", generation=generation, facts=dict(facts))
    return story.tell(event)


def gate(story: Story) -> Gate:
    found = story.task("a").gate
    assert found is not None
    return found


def test_the_first_showing_completes_the_question() -> None:
    story = asked()
    before = gate(story)
    assert show(story, ONE)
    assert gate(story).subject == {**before.subject, "shown": ONE}
    assert gate(story).subject_hash != before.subject_hash
    assert (gate(story).round, gate(story).expires_ms) == (1, before.expires_ms)
    assert not show(story, ONE), "the same again is no news"
    assert not story.decide("a", subject_hash=before.subject_hash)
    assert story.decide("a")
    assert story.effects(ask.Perform)[-1].approved == ONE


@pytest.mark.fault("N10")
def test_what_changed_is_asked_anew_and_the_old_answer_counts_nothing() -> None:
    story = asked(**ONE)
    old = gate(story)
    story.now_ms += 60_000
    assert show(story, TWO)
    new = gate(story)
    assert (new.round, new.subject["shown"], new.decision) == (2, TWO, "")
    assert new.expires_ms - new.asked_ms == old.expires_ms - old.asked_ms
    assert new.asked_ms >= old.asked_ms + 60_000
    assert story.effects(ask.AskApproval)[-1].subject_hash == new.subject_hash
    for answer in (True, False):
        assert not story.decide("a", approved=answer, subject_hash=old.subject_hash)
    assert story.state("a") == "awaiting_approval"
    assert story.decide("a") and story.effects(ask.Perform)[-1].approved == TWO


@pytest.mark.fault("N10")
def test_going_back_does_not_make_the_old_answer_good_again_unless_it_is_the_same() -> None:
    """The hash is of what is shown: who looked at exactly that may answer."""
    story = asked(**ONE)
    first = gate(story).subject_hash
    show(story, TWO)
    show(story, ONE)
    assert gate(story).round == 3 and gate(story).subject_hash == first


@pytest.mark.fault("N10")
def test_an_approval_that_came_too_late_for_the_world_is_asked_again() -> None:
    story = asked(**ONE)
    story.decide("a")
    moved = on.Failure(category="permanent", code=approval.OUTDATED, message="moved")
    attempt = story.task("a").attempt
    assert story.tell(on.TaskFailed(at_ms=story.now_ms, path="a", attempt=attempt, failure=moved))
    assert story.state("a") == "awaiting_approval" and phases.status(story.run) == "waiting"
    assert (gate(story).round, gate(story).decision, gate(story).facts) == (2, "", None)
    assert story.task("a").tries == 0
    assert show(story, TWO) and story.decide("a")
    assert story.succeed("a") and story.run.outcome == "completed"


def test_nothing_is_shown_where_nothing_is_asked() -> None:
    story = asked(**ONE)
    assert not show(story, TWO, generation=2)
    story.decide("a")
    assert not show(story, TWO)
    done = Story(plan(tool("a")))
    assert not show(done, ONE)


def test_journals_from_before_commits_were_shown_still_replay() -> None:
    story = asked()
    assert story.decide("a")
    assert story.effects(ask.Perform)[-1].approved is None
    old = b'{"kind":"perform","path":"a","attempt":1,"key":"k","uses":"u","input":{},"timeout_s":1}'
    effect = ask.decode(old)
    assert isinstance(effect, ask.Perform) and effect.approved is None


def test_a_task_that_fails_at_once_had_begun() -> None:
    """Its start is news that may be lost; its answer is not."""
    story = Story(plan(tool("a", phase="testing")))
    story.fail("a")
    assert story.task("a").started_ms == story.task("a").ended_ms
    assert [span.phase for span in phases.history(story.run)] == ["testing"]
    assert story.run.started_ms is not None

"""Commands in comments: an exact grammar, by people who may, about what they looked at."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from intake_bench import NOW, Desk, base, comment, labeled

from agent_work_orders.repositories import url
from agent_work_orders.repositories.refname import order_ref
from agent_work_orders.work_orders.incoming import comment_command
from agent_work_orders.work_orders.incoming.comment_command import CommentCommand, Malformed
from agent_work_orders.work_orders.incoming.comment_verbs import Verbs

FIRST = "0123456789abcdef" * 4


@pytest.fixture
async def desk(folder: Path) -> AsyncIterator[Desk]:
    async with Desk(folder).opened() as opened:
        opened.hub.put_issue()
        opened.hub.put_pull()
        yield opened


async def gated(desk: Desk, by: str = "ann") -> tuple[str, str]:
    """An order that asks, and the hash of what it asks for."""
    await desk.deliver("issue_comment", comment("/awo run gated", by, comment_id=100))
    return await asking(desk)


async def asking(desk: Desk) -> tuple[str, str]:
    order_id = (await desk.orders())[-1].agent_work_order_id
    while not (found := await desk.house.context.store.approvals.of_order(order_id)):
        await desk.house.context.store.deliveries.held(0)  # the recorder writes behind the engine
    return order_id, found[0].subject_hash


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/awo run", CommentCommand(verb="run")),
        (
            "/awo run gated \r\nPlease.",
            CommentCommand(verb="run", workflow="gated", more="Please."),
        ),
        ("/awo\treview", CommentCommand(verb="review")),
        ("/awo test", CommentCommand(verb="test")),
        ("/awo", CommentCommand(verb="help")),
        ("/awo cancel wo-abcd", CommentCommand(verb="cancel", order="wo-abcd")),
        ("/awo retry", CommentCommand(verb="retry")),
        (f"/awo approve {FIRST}", CommentCommand(verb="approve", subject_hash=FIRST)),
        (
            f"/awo reject {FIRST[:12]} not  now",
            CommentCommand(verb="reject", subject_hash=FIRST[:12], reason="not now"),
        ),
        ("awo run", None),
        (" /awo run", None),
        ("> /awo run", None),
        ("/awoo run", None),
        ("Please\n/awo run", None),
        ("LGTM", None),
        ("", None),
    ],
)
def test_the_grammar(text: str, expected: Any) -> None:
    assert comment_command.parse(text) == expected


@pytest.mark.fault("J10")
@pytest.mark.parametrize(
    "text",
    [
        "/awo approve", "/awo approve yes", "/awo approve please", "/awo approve 0123",
        f"/awo approve {FIRST} and also", f"/awo approve {FIRST.upper()}", "/awo Approve",
        "/awo approved", "/awo run two words", "/awo run ../x", "/awo run --force",
        "/awo cancel 7", "/awo review now", "/awo " + "x" * 2_000, "/awo ship it",
    ],
)  # fmt: skip
def test_what_does_not_fit_is_never_guessed(text: str) -> None:
    assert isinstance(comment_command.parse(text), Malformed)


@pytest.mark.fault("J10")
@pytest.mark.parametrize("text", ["Approved!", "yes", "LGTM 👍", "ok /awo approve", "/awo approve"])
async def test_free_text_is_not_an_approval(desk: Desk, text: str) -> None:
    order_id, _ = await gated(desk)
    await desk.deliver("issue_comment", comment(text, "bob", comment_id=2))
    [asked] = await desk.house.context.store.approvals.of_order(order_id)
    assert asked.state == "asked"


async def test_a_writer_approves_what_is_named(desk: Desk) -> None:
    order_id, subject_hash = await gated(desk)
    text = f"/awo approve {subject_hash[:12]}"
    found = await desk.deliver("issue_comment", comment(text, "bob", comment_id=2))
    assert found.state == "handled"
    run = await desk.run_of(order_id)
    assert run.tasks["ask"].gate.decision == "approved"
    assert run.tasks["ask"].gate.by == "github:bob"
    assert ("github:bob", "approval.approve") in await desk.audited()
    assert "approved" in desk.heard.said[-1][2]
    assert (7, 2, "eyes") in desk.heard.reactions


async def test_who_lost_access_a_moment_ago_decides_nothing(desk: Desk) -> None:
    order_id, subject_hash = await gated(desk)
    await desk.deliver("issue_comment", comment("/awo help", "bob", comment_id=2))
    desk.hub.permissions["bob"] = "read"
    said = comment(f"/awo approve {subject_hash[:12]}", "bob", comment_id=3)
    assert (await desk.deliver("issue_comment", said)).state == "ignored"
    assert (await desk.run_of(order_id)).tasks["ask"].gate.decision == ""


async def test_reject_tells_why(desk: Desk) -> None:
    order_id, subject_hash = await gated(desk)
    text = f"/awo reject {subject_hash} too risky"
    await desk.deliver("issue_comment", comment(text, "bob", comment_id=2))
    run = await desk.run_of(order_id)
    assert (run.stage, run.tasks["ask"].gate.comment) == ("ended", "too risky")
    again = await desk.deliver("issue_comment", comment("/awo retry", "bob", comment_id=3))
    assert again.state == "handled"
    assert (await desk.run_of(order_id)).stage == "active"


@pytest.mark.fault("J7")
@pytest.mark.fault("J8")
@pytest.mark.parametrize("who", ["eve", "awo[bot]", "other[bot]", "stranger"])
async def test_nobody_else_approves(desk: Desk, who: str) -> None:
    order_id, subject_hash = await gated(desk)
    payload = comment(f"/awo approve {subject_hash}", who, comment_id=2)
    if who.endswith("[bot]"):
        desk.hub.permissions[who] = "admin"
    found = await desk.deliver("issue_comment", payload)
    assert found.state == "ignored"
    [asked] = await desk.house.context.store.approvals.of_order(order_id)
    assert asked.state == "asked"


@pytest.mark.fault("J7")
async def test_only_who_is_named_approves(desk: Desk) -> None:
    workflow = desk.folder / "home" / "workflows" / "gated.yaml"
    named = workflow.read_text().replace("expires: 1h", "expires: 1h, approvers: ['github:Bob']")
    workflow.write_text(named)
    order_id, subject_hash = await gated(desk)
    said = comment(f"/awo approve {subject_hash}", "ann", comment_id=2)
    await desk.deliver("issue_comment", said)
    [asked] = await desk.house.context.store.approvals.of_order(order_id)
    assert asked.state == "asked"
    assert "names who decides this: github:Bob" in desk.heard.said[-1][2]
    said = comment(f"/awo approve {subject_hash}", "bob", comment_id=3)
    await desk.deliver("issue_comment", said)
    assert (await desk.run_of(order_id)).tasks["ask"].gate.decision == "approved"


@pytest.mark.fault("J8")
async def test_another_hash_decides_nothing(desk: Desk) -> None:
    order_id, _ = await gated(desk)
    await desk.deliver("issue_comment", comment(f"/awo approve {FIRST}", "bob", comment_id=2))
    [asked] = await desk.house.context.store.approvals.of_order(order_id)
    assert asked.state == "asked"
    assert "not what you named" in desk.heard.said[-1][2]


@pytest.mark.fault("J7")
@pytest.mark.parametrize(("eyes", "state"), [("true", "asked"), ("false", "approved")])
async def test_four_eyes(folder: Path, eyes: str, state: str) -> None:
    async with Desk(folder).opened(AWO_FOUR_EYES=eyes) as desk:
        desk.hub.put_issue()
        order_id, subject_hash = await gated(desk, "ann")
        said = comment(f"/awo approve {subject_hash}", "ann", comment_id=2)
        await desk.deliver("issue_comment", said)
        run = await desk.run_of(order_id)
        assert (run.tasks["ask"].gate.decision or "asked") == state
        renamed = comment(f"/awo approve {subject_hash}", "ann", comment_id=3)
        renamed["sender"]["login"] = renamed["comment"]["user"]["login"] = "ann-new"
        desk.hub.permissions["ann-new"] = "write"
        await desk.deliver("issue_comment", renamed)
        run = await desk.run_of(order_id)
        assert (run.tasks["ask"].gate.decision or "asked") == state, "the same person"
        await desk.deliver(
            "issue_comment", comment(f"/awo approve {subject_hash}", "bob", comment_id=4)
        )
        assert (await desk.run_of(order_id)).tasks["ask"].gate.decision == "approved"


@pytest.mark.fault("J7")
@pytest.mark.parametrize("event", ["push", "check_run"])
async def test_who_pushed_does_not_approve_what_the_rules_made_of_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, event: str
) -> None:
    async with Desk(folder).opened(AWO_FOUR_EYES="true") as desk:
        desk.hub.files[".awo/config.yaml"] = (
            b"github: {push: [{workflow: gated}], check_failure: [{workflow: gated}]}"
        )
        push = {**base("ann", "completed"), "ref": "refs/heads/main", "after": "b" * 40}
        push["check_run"] = {
            "id": 5, "name": "ci", "head_sha": "b" * 40, "conclusion": "failure",
            "check_suite": {"head_branch": "main"}, "app": {"slug": "ci"}, "updated_at": NOW,
        }  # fmt: skip
        await desk.deliver(event, push)
        order_id, subject_hash = await asking(desk)

        # As if this pull request was what the order had opened.
        async def orders(*_: Any) -> list[str]:
            return [order_id]

        monkeypatch.setattr(Verbs, "_orders", orders)
        renamed = comment(f"/awo approve {subject_hash}", "ann", number=9, pull=True)
        renamed["sender"]["login"] = renamed["comment"]["user"]["login"] = "ann-new"
        desk.hub.permissions["ann-new"] = "write"
        await desk.deliver("issue_comment", renamed)
        assert (await desk.run_of(order_id)).tasks["ask"].gate.decision == ""
        said = comment(f"/awo approve {subject_hash}", "bob", number=9, comment_id=2, pull=True)
        await desk.deliver("issue_comment", said)
        assert (await desk.run_of(order_id)).tasks["ask"].gate.decision == "approved"


async def test_a_subject_decides_only_about_its_own_orders(desk: Desk) -> None:
    order_id, subject_hash = await gated(desk)
    desk.hub.put_issue(8)
    text = f"/awo approve {subject_hash}"
    await desk.deliver("issue_comment", comment(text, "bob", number=8, comment_id=2))
    assert (await desk.run_of(order_id)).tasks["ask"].gate.decision == ""


async def test_cancel_reaches_only_orders_of_the_repository(desk: Desk, folder: Path) -> None:
    await desk.deliver("issues", labeled())
    [order] = await desk.orders()
    order_id = order.agent_work_order_id
    elsewhere = comment(f"/awo cancel {order_id}", comment_id=2)
    elsewhere["repository"] = {"id": 2, "full_name": "acme/other", "default_branch": "main"}
    await desk.deliver("issue_comment", elsewhere)
    assert (await desk.run_of(order_id)).stage == "active"
    await desk.deliver("issue_comment", comment(f"/awo cancel {order_id[:8]}", comment_id=3))
    assert (await desk.run_of(order_id)).stage == "ended"


@pytest.mark.fault("C4")
async def test_a_command_under_two_ids_is_done_once(desk: Desk) -> None:
    _, subject_hash = await gated(desk)
    text = f"/awo reject {subject_hash}"
    await desk.deliver("issue_comment", comment(text, "bob", comment_id=2))
    for _ in range(2):
        await desk.deliver("issue_comment", comment("/awo retry", "bob", comment_id=3))
    retried = [what for _, what in await desk.audited() if what == "order.retry"]
    assert len(retried) == 1
    assert len([said for said in desk.heard.said if said[1].endswith("comment:3")]) == 1


async def killed(desk: Desk, monkeypatch: pytest.MonkeyPatch, said: Any) -> None:
    """The command is done, and the server ends before it could tell."""

    async def kill(*_: Any, **__: Any) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(desk.heard, "react", kill)
        await desk.deliver("issue_comment", said)
    desk.clock.at_ms += 60_000
    desk.fresh()


@pytest.mark.fault("A2")
@pytest.mark.parametrize("verb", ["approve", "reject", "cancel", "retry"])
async def test_a_verb_that_was_killed_before_its_receipt_answers_as_done(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    order_id, subject_hash = await gated(desk)
    text = f"/awo {verb}"
    if verb in ("approve", "reject"):
        text += f" {subject_hash[:12]}"
    if verb == "retry":
        rejected = comment(f"/awo reject {subject_hash}", "bob", comment_id=2)
        await desk.deliver("issue_comment", rejected)
    await killed(desk, monkeypatch, comment(text, "bob", comment_id=3))
    await desk.intake.sweep()
    [answer] = [said for _, key, said in desk.heard.said if key.endswith("comment:3")]
    done = {"approve": "approved.", "reject": "rejected.", "cancel": "cancelled."}
    assert answer.endswith(done.get(verb, "tried again.")) and order_id in answer


@pytest.mark.fault("A2")
async def test_what_was_not_done_is_not_answered_as_done_later(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed after it was refused: another had decided, or they themselves before."""
    _, subject_hash = await gated(desk)
    text = f"/awo approve {subject_hash}"
    await desk.deliver("issue_comment", comment(text, "bob", comment_id=2))
    desk.clock.at_ms += 1_000
    for who, number in (("ann", 3), ("bob", 4)):
        await killed(desk, monkeypatch, comment(text, who, comment_id=number))
        await desk.intake.sweep()
        assert desk.heard.said[-1][2].startswith("Not done"), who


async def test_a_killed_cancel_is_for_the_order_that_was_meant(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = await gated(desk)
    await killed(desk, monkeypatch, comment("/awo cancel", comment_id=3))
    monkeypatch.setattr(desk.intake, "_verbs", None)  # It is tried in vain meanwhile.
    await desk.deliver("issue_comment", comment("/awo run gated", comment_id=101))
    desk.fresh()
    await desk.intake.sweep()
    stages = {
        one.agent_work_order_id: (await desk.run_of(one.agent_work_order_id)).stage
        for one in await desk.orders()
    }
    assert stages.pop(first) == "ended"
    assert list(stages.values()) == ["active"]


async def test_nothing_to_cancel_is_told(desk: Desk) -> None:
    found = await desk.deliver("issue_comment", comment("/awo cancel"))
    assert found.state == "handled"
    assert "no work order" in desk.heard.said[0][2]


async def test_help_and_nonsense_are_answered_to_writers(desk: Desk) -> None:
    await desk.deliver("issue_comment", comment("/awo help"))
    await desk.deliver("issue_comment", comment("/awo dance", comment_id=2))
    assert all("/awo run" in text for _, _, text in desk.heard.said)
    assert len(desk.heard.said) == 2


async def test_the_button_beside_a_check_tries_its_order_again(desk: Desk) -> None:
    order_id, subject_hash = await gated(desk)
    await desk.deliver("issue_comment", comment(f"/awo reject {subject_hash}", "bob", comment_id=2))
    check = {
        "id": 5, "name": "awo", "head_sha": "b" * 40, "external_id": f"{order_id}:check",
        "check_suite": {"head_branch": "x"}, "app": {"slug": "awo"}, "updated_at": NOW,
    }  # fmt: skip
    for who in ("eve", "ann"):
        await desk.deliver("check_run", {**base(who, "rerequested"), "check_run": check})
        assert (await desk.run_of(order_id)).stage == ("ended" if who == "eve" else "active")
    foreign = {**check, "id": 6, "external_id": "something else"}
    found = await desk.deliver("check_run", {**base("ann", "rerequested"), "check_run": foreign})
    assert found.state == "ignored"


@pytest.mark.fault("N10")
async def test_an_answer_to_what_the_branch_was_before_is_refused(desk: Desk) -> None:
    order_id, old_hash = await gated(desk)
    context = desk.house.context
    row = await context.store.records.get(order_id)
    assert row is not None
    mirror = await context.mirrors.ensure(url.again(row.repository_url))
    base = mirror.resolve_base(None).sha
    await mirror.set_ref(order_ref(order_id, "head"), base, old=None)
    for number in (2, 3):
        answer = comment(f"/awo approve {old_hash[:12]}", "bob", comment_id=number)
        await desk.deliver("issue_comment", answer)
        assert "Not done" in desk.heard.said[-1][2]
    await context.backlog.settled()
    old, new = sorted(
        await context.store.approvals.of_order(order_id), key=lambda one: one.approval_id
    )
    assert (old.subject_hash, old.state, new.state) == (old_hash, "void", "asked")
    answer = comment(f"/awo approve {new.subject_hash[:12]}", "bob", comment_id=4)
    await desk.deliver("issue_comment", answer)
    run = await desk.run_of(order_id)
    assert run.tasks["ask"].gate.decision == "approved"

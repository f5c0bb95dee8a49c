"""One decision counts, about exactly what was shown, by somebody who may."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from site_bench import Site

from agent_work_orders.errors import Conflict, Forbidden, NotFound, Refused
from agent_work_orders.security.roles import LOCAL_OPERATOR, Caller
from agent_work_orders.state_manager.approvals import ApprovalRecord
from agent_work_orders.work_orders import approvals, steer

GATED = """
name: gated
tasks:
  ask:
    approval: {message: "Go on?", expires: %s}
    uses: sandbox.exec
    with: {argv: [echo, went]}
"""
APPROVER = Caller(name="ann", role="approver")


async def asked(site: Site, expires: str = "1h") -> tuple[str, ApprovalRecord]:
    order_id = await site.submit(workflow_source=GATED % expires)
    await site.until(order_id, "waiting", "failed")
    return order_id, await question(site, order_id)


async def question(site: Site, order_id: str) -> ApprovalRecord:
    async with asyncio.timeout(10):
        while not (found := await approvals.of_order(site.context, order_id, LOCAL_OPERATOR)):
            await asyncio.sleep(0.01)
        return found[-1]


async def settled(site: Site, approval_id: str) -> ApprovalRecord:
    async with asyncio.timeout(10):
        while (
            one := await approvals.get(site.context, approval_id, LOCAL_OPERATOR)
        ).state == "asked":
            await asyncio.sleep(0.01)
        return one


async def test_yes_runs_what_was_shown(site: Site) -> None:
    order_id, one = await asked(site)
    assert (one.message, one.state, one.path) == ("Go on?", "asked", "ask")
    assert one.subject["input"] == {"argv": ["echo", "went"]}
    assert await approvals.asked(site.context, APPROVER) == [one]
    decided = await approvals.decide(
        site.context, one.approval_id, APPROVER, approved=True, comment="fine",
        subject_hash=one.subject_hash,
    )  # fmt: skip
    assert (decided.state, decided.decided_by, decided.comment) == ("approved", "ann", "fine")
    await site.until(order_id, "completed")
    kept = await settled(site, one.approval_id)
    assert (kept.state, kept.decided_by, kept.comment) == ("approved", "ann", "fine")
    assert await approvals.asked(site.context, APPROVER) == []
    [entry] = [
        e
        for e in await site.context.store.audit.page(order_id=order_id)
        if e.what == "approval.approve"
    ]
    assert entry.who == "ann" and entry.details["subject_hash"] == one.subject_hash


async def test_no_fails_the_order(site: Site) -> None:
    order_id, one = await asked(site)
    await approvals.decide(site.context, one.approval_id, APPROVER, approved=False)
    record = await site.until(order_id, "failed")
    assert record.error_code == "approval_rejected" and record.error_hint
    assert (await settled(site, one.approval_id)).state == "rejected"
    # A retry asks again: another question, open until somebody answers.
    await steer.retry(site.context, order_id, LOCAL_OPERATOR)
    await site.until(order_id, "waiting")
    async with asyncio.timeout(10):
        while (again := await question(site, order_id)).approval_id == one.approval_id:
            await asyncio.sleep(0.01)
    assert again.state == "asked"


async def test_nobody_else_decides(site: Site) -> None:
    _, one = await asked(site)
    before = site.written()
    for role in ("viewer", "operator"):
        with pytest.raises(Forbidden):
            await approvals.decide(
                site.context, one.approval_id, Caller(name="x", role=role), approved=True
            )
    stranger = Caller(name="x", role="admin", repositories=("other-1",))
    with pytest.raises(NotFound):
        await approvals.decide(site.context, one.approval_id, stranger, approved=True)
    assert await approvals.asked(site.context, stranger) == []
    with pytest.raises(NotFound):
        await approvals.decide(site.context, "no-such", APPROVER, approved=True)
    assert site.written() == before


@pytest.mark.fault("J8")
async def test_a_decision_about_something_else_is_void(site: Site) -> None:
    order_id, one = await asked(site)
    with pytest.raises(Conflict) as changed:
        await approvals.decide(
            site.context, one.approval_id, APPROVER, approved=True, subject_hash="0" * 64
        )
    assert changed.value.code == "approval_subject_changed"
    assert (await site.show(order_id)).status == "waiting"


@pytest.mark.fault("J9")
async def test_of_many_decisions_one_wins_and_the_others_are_told(site: Site) -> None:
    order_id, one = await asked(site)
    results = await asyncio.gather(
        *(
            approvals.decide(
                site.context,
                one.approval_id,
                Caller(name=f"p{number}", role="approver"),
                approved=number % 2 == 0,
            )
            for number in range(6)
        ),
        steer.cancel(site.context, order_id, LOCAL_OPERATOR),
        return_exceptions=True,
    )
    told = [result for result in results if isinstance(result, Conflict)]
    won = [result for result in results if isinstance(result, ApprovalRecord)]
    assert len(won) == 1 and len(told) == 5
    assert {error.code for error in told} == {"approval_settled"}
    assert all(won[0].decided_by in error.message for error in told if won[0].decided_by)
    assert (await settled(site, one.approval_id)).decided_by == won[0].decided_by


@pytest.mark.fault("J9")
async def test_a_cancelled_question_cannot_be_answered(site: Site) -> None:
    order_id, one = await asked(site)
    await steer.cancel(site.context, order_id, LOCAL_OPERATOR)
    await site.until(order_id, "cancelled")
    assert (await settled(site, one.approval_id)).state == "void"
    with pytest.raises(Conflict):
        await approvals.decide(site.context, one.approval_id, APPROVER, approved=True)


async def test_a_question_expires(site: Site) -> None:
    order_id, one = await asked(site, expires="1s")
    record = await site.until(order_id, "failed")
    assert record.error_code == "approval_expired"
    assert (await settled(site, one.approval_id)).state == "expired"


@pytest.mark.fault("A6")
async def test_questions_are_the_same_after_a_restart(site: Site) -> None:
    order_id, one = await asked(site)
    await site.restart()
    assert await question(site, order_id) == one
    await approvals.decide(site.context, one.approval_id, APPROVER, approved=True)
    await site.until(order_id, "completed")
    await site.restart()
    assert (await question(site, order_id)).state == "approved"


NAMED = GATED.replace("expires: %s", "expires: 1h, approvers: [ann, 'github:Octo-Cat']")


async def test_where_people_are_named_nobody_else_decides(site: Site) -> None:
    order_id = await site.submit(workflow_source=NAMED)
    await site.until(order_id, "waiting")
    one = await question(site, order_id)
    assert one.subject["approvers"] == ["ann", "github:Octo-Cat"], "the hash covers who decides"
    before = site.written()
    for other in (
        Caller(name="bob", role="admin"),
        Caller(name="Ann", role="approver"),
        Caller(name="github:octocat", role="approver"),
        LOCAL_OPERATOR,
    ):
        for approved in (True, False):
            with pytest.raises(Forbidden) as refused:
                await approvals.decide(site.context, one.approval_id, other, approved=approved)
            assert refused.value.code == "approval_not_yours"
            assert "ann, github:Octo-Cat" in str(refused.value)
    assert site.written() == before
    # The name alone is not enough.
    with pytest.raises(Forbidden) as refused:
        viewer = Caller(name="ann", role="viewer")
        await approvals.decide(site.context, one.approval_id, viewer, approved=True)
    assert refused.value.code == "role_insufficient"
    # Nor does calling the task done, or leaving it out, take the place of a decision.
    for action in ("skip", "succeed"):
        with pytest.raises(Forbidden) as refused:
            await steer.override(site.context, order_id, LOCAL_OPERATOR, path="ask", action=action)
        assert refused.value.code == "approval_not_yours"
    octocat = Caller(name="github:octo-cat", role="approver")
    await approvals.decide(site.context, one.approval_id, octocat, approved=True)
    await site.until(order_id, "completed")


@pytest.mark.parametrize(
    ("approvers", "message"),
    [
        ("[]", "Nobody could approve"),
        ("'@ann'", "`@ann` cannot name a person"),
        ("['github:']", "`github:` cannot name a person"),
        ("['{{ inputs.who }}']", "cannot name a person"),
        ("7", "a list of names"),
        ("[7]", "Expected a name here"),
    ],
)
async def test_approvers_that_cannot_be(site: Site, approvers: str, message: str) -> None:
    source = GATED.replace("expires: %s", f"expires: 1h, approvers: {approvers}")
    with pytest.raises(Refused) as refused:
        await site.submit(workflow_source=source)
    assert refused.value.code == "workflow_invalid"
    assert any(message in one["message"] for one in refused.value.context["problems"])


@pytest.mark.parametrize("action", ["skip", "succeed"])
async def test_what_somebody_named_rejected_stays_so(site: Site, action: Any) -> None:
    order_id = await site.submit(workflow_source=NAMED)
    await site.until(order_id, "waiting")
    one = await question(site, order_id)
    await approvals.decide(site.context, one.approval_id, APPROVER, approved=False)
    await site.until(order_id, "failed")
    with pytest.raises(Forbidden) as refused:
        await steer.override(site.context, order_id, LOCAL_OPERATOR, path="ask", action=action)
    assert refused.value.code == "approval_not_yours"

"""Approvals: what people are asked, and their answer to exactly that."""

from __future__ import annotations

import msgspec

from agent_work_orders.errors import Conflict, Forbidden, NotFound
from agent_work_orders.security.roles import Caller
from agent_work_orders.state_manager.approvals import ApprovalRecord
from agent_work_orders.work_orders import find, questions
from agent_work_orders.work_orders.context import Context, LiveContext
from agent_work_orders.work_orders.read_side.open_questions import open_questions
from agent_work_orders.work_orders.submit import check_text
from agent_work_orders.workflow_engine.events import ApprovalDecided
from agent_work_orders.workflow_engine.run import Run

COMMENT_LIMIT_CHARS = 4_000
LOOKED_AT = 10_000


async def asked(context: Context, caller: Caller, limit: int = 100) -> list[ApprovalRecord]:
    """Open ones that the caller may see, oldest first."""
    await context.backlog.settled()
    found = []
    # Who sees only some must not miss theirs behind those of others.
    for one in await context.store.approvals.asked(
        limit if caller.repositories is None else LOOKED_AT
    ):
        row = await context.store.records.get(one.order_id)
        if row is not None and caller.sees(row.repository):
            found.append(one)
    return found[:limit]


async def get(context: Context, approval_id: str, caller: Caller) -> ApprovalRecord:
    found = await context.store.approvals.get(approval_id)
    row = None if found is None else await context.store.records.get(found.order_id)
    if found is None or row is None or not caller.sees(row.repository):
        raise _unknown(approval_id)
    return found


async def of_order(context: Context, wanted: str, caller: Caller) -> list[ApprovalRecord]:
    await context.backlog.settled()
    row = await find.record_of(context, wanted, caller)
    return list(await context.store.approvals.of_order(row.agent_work_order_id))


async def decide(
    context: LiveContext,
    approval_id: str,
    caller: Caller,
    *,
    approved: bool,
    comment: str = "",
    subject_hash: str | None = None,
) -> ApprovalRecord:
    """One decision counts. `subject_hash` is what the person looked at; without it, what is asked
    now. Conflict `approval_settled`, `approval_subject_changed`; NotFound `approval_unknown`;
    Forbidden `approval_four_eyes` for who created the order, where that is asked for;
    `approval_not_yours` where the workflow names others."""
    asked_for = await get(context, approval_id, caller)
    caller.need("approve")
    row = await context.store.records.get(asked_for.order_id)
    if context.policy.four_eyes and row is not None and row.created_by == caller.name:
        raise own_order()
    questions.need_named(asked_for.subject, caller)
    check_text("comment", comment, COMMENT_LIMIT_CHARS)
    if subject_hash is not None and subject_hash != asked_for.subject_hash:
        raise Conflict(
            "approval_subject_changed",
            "What is asked for is not what you were shown",
            hint="Look at it again and decide about that.",
        )
    _need_same(await questions.refresh(context, asked_for.run_id), asked_for)
    now_ms = context.clock.now_ms()
    await context.store.audit.append(
        at_ms=now_ms,
        who=caller.name,
        what="approval.approve" if approved else "approval.reject",
        order_id=asked_for.order_id,
        target=approval_id,
        details={"subject_hash": asked_for.subject_hash, "comment": comment},
    )
    event = ApprovalDecided(
        at_ms=now_ms,
        path=asked_for.path,
        approved=approved,
        by=caller.name,
        subject_hash=asked_for.subject_hash,
        comment=comment,
    )
    accepted = await context.runs.post(asked_for.run_id, event)
    run = await find.run_of(context, asked_for.run_id)
    if not accepted:
        raise _settled(run, asked_for)
    return _as_decided(asked_for, approved, caller, comment, now_ms)


def own_order() -> Forbidden:
    return Forbidden(
        "approval_four_eyes",
        "Who asked for an order does not decide about it",
        hint="Another person must (AWO_FOUR_EYES is on).",
    )


def _need_same(run: Run, asked_for: ApprovalRecord) -> None:
    """The branch may have moved since the question was put."""
    for path, _, gate in open_questions(run):
        if path == asked_for.path and gate.subject_hash != asked_for.subject_hash:
            raise Conflict(
                "approval_subject_changed",
                "What you were shown is not what is there now: the order's branch has moved",
                hint="It is asked again; look at the new question and decide about that.",
            )


def _as_decided(
    asked_for: ApprovalRecord, approved: bool, caller: Caller, comment: str, at_ms: int
) -> ApprovalRecord:
    return msgspec.structs.replace(
        asked_for,
        state="approved" if approved else "rejected",
        decided_by=caller.name,
        comment=comment or None,
        decided_at_ms=at_ms,
    )


def _settled(run: Run, asked_for: ApprovalRecord) -> Conflict:
    task = run.tasks.get(asked_for.path)
    how = "no longer asked"
    if task is not None and task.gate is not None and task.gate.decision:
        by = f" by {task.gate.by}" if task.gate.by else ""
        how = f"already {task.gate.decision}{by}"
    return Conflict(
        "approval_settled",
        f"This approval is {how}",
        hint="Look at the order; a retry asks again.",
    )


def _unknown(approval_id: str) -> NotFound:
    return NotFound(
        "approval_unknown",
        f"There is no approval {approval_id[:120]}",
        hint="`awo approve` without an id lists what is asked.",
    )

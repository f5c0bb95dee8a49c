"""A person's answer, and what it is an answer to."""

from __future__ import annotations

from msgspec.structs import replace

from agent_work_orders.workflow_engine import approval
from agent_work_orders.workflow_engine.descent import start
from agent_work_orders.workflow_engine.events import ApprovalDecided, ApprovalShown, TaskFailed
from agent_work_orders.workflow_engine.work import Work, permanent


def approval_shown(work: Work, event: ApprovalShown) -> bool:
    """What people see with the open question. Unless it is what they saw already."""
    if not work.known(event.path) or work.run.stage != "active":
        return False
    task = work.look(event.path)
    if task.state != "awaiting_approval" or task.gate is None:
        return False
    if task.generation != event.generation or task.gate.facts == event.facts:
        return False
    approval.show(work, event.path, event.facts)
    return True


def decided(work: Work, event: ApprovalDecided) -> bool:
    if not work.known(event.path) or work.run.stage != "active":
        return False
    task = work.look(event.path)
    gate = task.gate
    if task.state != "awaiting_approval" or gate is None:
        return False
    if gate.subject_hash != event.subject_hash or event.at_ms >= gate.expires_ms:
        return False
    answer = "approved" if event.approved else "rejected"
    gate = replace(gate, decision=answer, by=event.by, comment=event.comment)
    work.clear_timers(event.path)
    work.put(event.path, gate=gate, state="pending", wait="held")
    if event.approved:
        start(work, event.path)
    else:
        message = f"{event.by} rejected {event.path}" + (
            f": {event.comment}" if event.comment else ""
        )
        hint = "Change what was asked for and retry the order to ask again."
        work.fail(event.path, permanent("approval_rejected", message, hint))
    return True


def outdated(work: Work, event: TaskFailed) -> bool:
    """The world moved after the person had said yes: nothing was done, and it is asked again."""
    gate = work.look(event.path).gate
    if event.failure.code != approval.OUTDATED or gate is None or gate.decision != "approved":
        return False
    approval.ask(work, event.path, work.run.spec(event.path))
    return True

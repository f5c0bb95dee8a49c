"""From a run to what lists and pages show. The journal is the truth; this can be made again."""

from __future__ import annotations

from typing import Any

from agent_work_orders.state_manager.audit import AuditEntry
from agent_work_orders.state_manager.journal import Beside
from agent_work_orders.state_manager.records import OrderRecord
from agent_work_orders.work_orders.order_facts import PRIORITIES, facts_of
from agent_work_orders.work_orders.read_side import verification
from agent_work_orders.workflow_engine import phases, rollback
from agent_work_orders.workflow_engine.events import Usage
from agent_work_orders.workflow_engine.run import ROOT, Run, TaskRun
from agent_work_orders.workflow_engine.waiting import RATE_LIMIT

_PUSHING = ("git.push", "forge.open_pull_request")


def record(run: Run, seq: int, queue_until_ms: int | None = None) -> OrderRecord:
    order = facts_of(run)
    waiting = phases.waiting(run)
    reason = waiting.reason if waiting is not None else None
    until_ms = waiting.until_ms if waiting is not None else None
    status = phases.status(run)
    if status == "pending" and queue_until_ms is not None:
        reason, until_ms = RATE_LIMIT, queue_until_ms
    failure = run.failure if status in ("failed", "cancelled") else None
    session_id, pull_request_url = _from_outputs(run)
    verified = verification.of(run)
    return OrderRecord(
        agent_work_order_id=run.run_id,
        repository_url=order.repository_url,
        repository=order.repository,
        git_branch_name=order.branch,
        base_branch=order.base_branch,
        sandbox_type=order.sandbox_type,
        sandbox_identifier=f"{order.sandbox_type}-{run.run_id}",
        workflow_type=order.workflow,
        workflow_version=run.plan_hash,
        github_issue_number=order.github_issue_number,
        initial_prompt=order.prompt or None,
        title=order.title or None,
        task_type=order.workflow_kind,
        priority=PRIORITIES[order.priority],
        status=status,
        waiting_reason=reason,
        waiting_until_ms=until_ms,
        current_phase=phases.current_phase(run),
        agent_session_id=session_id,
        agent=_public_agent(order.agent),
        created_by=run.by,
        created_at_ms=run.submitted_ms,
        updated_at_ms=run.updated_ms,
        execution_started_at_ms=run.started_ms,
        execution_completed_at_ms=run.ended_ms,
        github_pull_request_url=pull_request_url,
        error_code=failure.code if failure else None,
        error_message=failure.message if failure else None,
        error_hint=failure.hint if failure else None,
        cost_usd=run.usage.cost_usd,
        warnings=phases.warnings(run),
        run_seq=seq,
        rolled_back=rollback.begun(run),
        verification=verified.state if verified else None,
        verification_reason=verified.reason if verified else None,
        cost_certainty=certainty(run.usage),
        branch_offered=_offered(run),
    )


def first(run: Run) -> Beside:
    """What an order's first event is kept together with, so that who is told of the order can find
    it, and who is told "no" has made none."""
    made = record(run, 1)
    details = {
        "workflow_type": made.workflow_type,
        "workflow_version": made.workflow_version,
        "sandbox_type": made.sandbox_type,
        "github_issue_number": made.github_issue_number,
        "priority": made.priority,
    }
    entry = AuditEntry(
        at_ms=run.submitted_ms,
        who=run.by,
        what="order.create",
        target=made.repository,
        order_id=run.run_id,
        details=details,
    )
    return Beside(record=made, audit=entry)


def _offered(run: Run) -> bool:
    """Whether the branch was pushed, and not taken back."""
    return any(
        task.state == "succeeded" and task.undone != "undone" and run.spec(path).uses in _PUSHING
        for path, task in run.tasks.items()
        if path != ROOT
    )


def certainty(usage: Usage) -> str:
    if usage.unpriced_turns > 0:
        return "at_least"
    return "estimated" if usage.estimated_usd > 1e-9 else "exact"


def _from_outputs(run: Run) -> tuple[str | None, str | None]:
    """The agent's last session, and where the pull request is: as the last task that saw it says,
    for its repository may have moved."""
    session: tuple[int, str] | None = None
    address: tuple[int, str | None] = (-1, None)
    for path, task in run.tasks.items():
        if path == ROOT or task.outputs is None or task.state != "succeeded":
            continue
        uses = run.spec(path).uses
        if uses == "forge.open_pull_request" and task.undone != "undone":
            address = max(address, (task.ending, str(task.outputs.get("url") or "") or None))
        found = task.outputs.get("session_id") if (uses or "").startswith("agent.") else None
        if found and (session is None or task.ending > session[0]):
            session = (task.ending, str(found))
    return (session[1] if session else None), address[1]


def _public_agent(agent: dict[str, Any]) -> dict[str, Any]:
    """The agent without its script, which may be long."""
    return {name: value for name, value in agent.items() if name != "script"}


def _usage_view(task: TaskRun) -> dict[str, Any] | None:
    usage = task.usage
    if usage is None:
        return None
    return {
        "cost_usd": usage.cost_usd,
        "cost_certainty": certainty(usage),
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "turns": usage.turns,
        "model": usage.model or None,
    }


def task_view(run: Run, path: str, task: TaskRun) -> dict[str, Any]:
    spec = run.spec(path)
    failure = task.failure
    return {
        "path": path,
        "kind": spec.kind,
        "uses": spec.uses,
        "phase": spec.phase,
        "needs": list(spec.needs),
        "state": task.state,
        "waiting": task.wait if task.state == "pending" else None,
        "attempt": task.attempt,
        "generation": task.generation,
        "started_at_ms": task.started_ms,
        "ended_at_ms": task.ended_ms,
        "waiting_reason": task.reason or None,
        "waiting_until_ms": task.until_ms,
        "outputs": task.outputs,
        "failure": None
        if failure is None
        else {
            "category": failure.category,
            "code": failure.code,
            "message": failure.message,
            "hint": failure.hint,
        },
        "tolerated": task.tolerated,
        "undone": task.undone or None,
        "iterations": task.index if spec.kind == "repeat" else None,
        "items": len(task.items) if spec.kind == "foreach" else None,
        "risk": spec.risk,
        "usage": _usage_view(task),
        "denials": list(task.denials),
        "approval": None
        if task.gate is None
        else {
            "message": task.gate.message,
            "subject": task.gate.subject,
            "subject_hash": task.gate.subject_hash,
            "head_sha": None if task.gate.facts is None else task.gate.facts.get("head_sha", ""),
            "expires_at_ms": task.gate.expires_ms,
            "decision": task.gate.decision or None,
            "by": task.gate.by or None,
            "comment": task.gate.comment or None,
        },
    }


def tasks(run: Run) -> list[dict[str, Any]]:
    """Every task at the top, and whatever was begun inside them, in reading order."""
    top = [(name, run.task(name)) for name in run.plan.body.tasks]
    begun = [(path, task) for path, task in run.tasks.items() if path not in run.plan.body.tasks]
    rank = {name: number for number, name in enumerate(run.plan.body.tasks)}
    rows = top + [(path, task) for path, task in begun if path != ROOT]

    def reading(row: tuple[str, TaskRun]) -> tuple[Any, ...]:
        path = row[0]
        first = path.split(".")[0].split("[")[0]
        numbers = [
            (int(part), "") if part.isdigit() else (0, part)
            for part in path.replace("]", "").replace("[", ".").split(".")
        ]
        return (rank.get(first, len(rank)), numbers)

    return [task_view(run, path, task) for path, task in sorted(rows, key=reading)]

"""From what the use cases return to what is on the wire. Plain dictionaries, encoded by msgspec:
this is the hot path of lists, creation and live events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from agent_work_orders.clock import iso
from agent_work_orders.github_integration.local_forge import Review, texts
from agent_work_orders.repositories.history import Commit, CommitDetail, Progress
from agent_work_orders.sandbox_manager.sandbox import Execution
from agent_work_orders.sandbox_manager.sandbox_types import PLANNED_TYPES
from agent_work_orders.state_manager.approvals import ApprovalRecord
from agent_work_orders.state_manager.artifacts import Artifact
from agent_work_orders.state_manager.audit import AuditRow
from agent_work_orders.state_manager.deliveries import DeliveryRecord
from agent_work_orders.state_manager.keys import ApiKey
from agent_work_orders.state_manager.logbook import LogEntry
from agent_work_orders.state_manager.records import OrderRecord
from agent_work_orders.state_manager.versions import WorkflowVersion
from agent_work_orders.tools import commit_message
from agent_work_orders.work_orders.sandbox_programs import Inside
from agent_work_orders.work_orders.sandboxes import Destroyed, Seen, Shown, TypeRow
from agent_work_orders.work_orders.sandboxes import Page as SandboxPage
from agent_work_orders.work_orders.transcript_pages import Page
from agent_work_orders.work_orders.workflows import Known
from agent_work_orders.workflow_engine.plan import Body, Plan

if TYPE_CHECKING:
    from starlette.responses import Response

    from agent_work_orders.api.auth import Identity

Json = dict[str, Any]

_TIMES = {
    "waiting_until_ms": "waiting_until",
    "created_at_ms": "created_at",
    "updated_at_ms": "updated_at",
    "execution_started_at_ms": "execution_started_at",
    "execution_completed_at_ms": "execution_completed_at",
}
# (field of the record, its name on the wire, whether it is a time), once for all answers.
_ORDER = tuple(
    (name, _TIMES.get(name, name), name in _TIMES)
    for name in OrderRecord.__struct_fields__
    if name != "run_seq"
)


def answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    # Commands use these views as well, and send no answers: they do not wait for a web framework.
    from starlette.responses import Response

    return Response(
        msgspec.json.encode(value),
        status_code=status,
        headers=headers,
        media_type="application/json",
    )


def when(at_ms: int | None) -> str | None:
    return None if at_ms is None else iso(at_ms)


def summary(record: OrderRecord) -> Json:
    return {
        name: when(getattr(record, field)) if is_time else getattr(record, field)
        for field, name, is_time in _ORDER
    }


def order(record: OrderRecord, progress: Progress) -> Json:
    return {
        "agent_work_order": summary(record) | counts(progress),
        "logs_url": f"/api/agent-work-orders/{record.agent_work_order_id}/logs",
    }


def counts(progress: Progress) -> Json:
    return {
        "git_commit_count": progress.commit_count,
        "git_files_changed": progress.files_changed,
        "git_lines_added": progress.lines_added,
        "git_lines_removed": progress.lines_removed,
    }


def log_entry(entry: LogEntry) -> Json:
    """The fixed fields last: no event can give itself another time or order."""
    return {
        **entry.fields,
        "timestamp": iso(entry.at_ms),
        "level": entry.level,
        "event": entry.event,
        "agent_work_order_id": entry.order_id,
        "n": entry.n,
    }


def task(view: Json) -> Json:
    """The projection's task with times for the wire."""
    shown = _timed(view)
    if shown["approval"] is not None:
        shown["approval"] = _timed(shown["approval"])
    return shown


def _timed(view: Json) -> Json:
    return {
        name.removesuffix("_ms"): when(value) if name.endswith("_ms") else value
        for name, value in view.items()
    }


def commit(one: Commit, detail: CommitDetail | None) -> Json:
    return {
        "sha": one.sha,
        "subject": one.subject,
        "body": "" if detail is None else detail.body,
        "author": one.author_name,
        "at": iso(one.at_ms),
        "phase": one.trailers.get(commit_message.PHASE),
        "task": one.trailers.get(commit_message.TASK),
        "files_changed": None if detail is None else detail.files_changed,
        "lines_added": None if detail is None else detail.lines_added,
        "lines_removed": None if detail is None else detail.lines_removed,
    }


def review(one: Review) -> Json:
    offered = one.proposal
    return {
        "number": one.number,
        "state": one.state,
        "title": offered.title,
        "summary": "\n\n".join(texts(offered)),
        "head_branch": offered.head_branch,
        "base_branch": offered.base_branch,
        "head_sha": offered.head_sha,
        "base_sha": offered.base_sha,
        "closed_because": one.closed_because,
        "evidence": offered.evidence,
    }


def transcript_page(page: Page) -> Json:
    return {
        "agent_work_order_id": page.order_id,
        "task": page.task,
        "tasks": page.tasks,
        "entries": [
            {"cursor": cursor, "kind": entry.kind, "text": entry.text, "data": entry.data}
            for cursor, entry in page.entries
        ],
        "matches": msgspec.to_builtins(page.matches),
        "next_after": page.next_after,
        "has_more": page.has_more,
    }


def artifact(order_id: str, one: Artifact) -> Json:
    return {
        "name": one.name,
        "task": one.path or None,
        "sha256": one.sha256,
        "size_bytes": one.size_bytes,
        "media_type": one.media_type,
        "created_at": iso(one.created_at_ms),
        "url": f"/api/agent-work-orders/{order_id}/artifacts/{one.sha256}",
    }


def approval(one: ApprovalRecord) -> Json:
    return {
        "approval_id": one.approval_id,
        "agent_work_order_id": one.order_id,
        "task": one.path,
        "message": one.message,
        "subject": one.subject,
        "subject_hash": one.subject_hash,
        "head_sha": one.subject.get("shown", {}).get("head_sha"),
        "state": one.state,
        "asked_at": iso(one.asked_at_ms),
        "expires_at": when(one.expires_at_ms),
        "decided_by": one.decided_by,
        "decided_at": when(one.decided_at_ms),
        "comment": one.comment,
    }


def workflow_summary(known: Known) -> Json:
    definition = known.definition
    return {
        "name": definition.name,
        "description": definition.description,
        "kind": definition.kind,
        "origin": known.origin,
        "aliases": list(definition.aliases),
        "inputs": {name: msgspec.to_builtins(one) for name, one in definition.inputs.items()},
    }


def workflow(known: Known, plan: Plan, plan_hash: str) -> Json:
    return {
        **workflow_summary(known),
        "source": known.source,
        "hash": plan_hash,
        "tasks": _steps(plan.body),
    }


def _steps(body: Body, scope: str = "") -> list[Json]:
    """Every task in reading order; one inside a loop, fan-out or group after its scope."""
    found: list[Json] = []
    for one in body.tasks.values():
        inner = one.each or one
        found.append(
            {
                "id": scope + one.id,
                "kind": one.kind,
                "uses": inner.uses,
                "needs": list(one.needs),
                "phase": inner.phase,
                "risk": inner.risk,
                "approval": None if one.approval is None else one.approval.message,
            }
        )
        if inner.body is not None:
            found += _steps(inner.body, f"{scope}{one.id}.")
    return found


def version(one: WorkflowVersion) -> Json:
    return {
        "version": one.version,
        "hash": one.hash,
        "created_at": iso(one.created_at_ms),
        "created_by": one.created_by,
        "origin": one.origin,
        "source": one.source,
    }


def key(one: ApiKey) -> Json:
    return {
        "key_id": one.key_id,
        "name": one.name,
        "role": one.role,
        "repositories": None if one.repositories is None else list(one.repositories),
        "created_at": iso(one.created_at_ms),
        "revoked_at": when(one.revoked_at_ms),
        "last_used_at": when(one.last_used_at_ms),
    }


def session(identity: Identity) -> Json:
    caller, own = identity.caller, identity.session
    return {
        "name": caller.name,
        "role": caller.role,
        "repositories": None if caller.repositories is None else list(caller.repositories),
        "expires_at": None if own is None else iso(own.expires_at_ms),
    }


def sandbox(seen: Seen) -> Json:
    one = seen.record
    address = f"/api/sandboxes/{one.sandbox_identifier}"
    runs_programs = one.status == "ACTIVE" and not one.part
    return {
        "id": one.sandbox_identifier,
        "agent_work_order_id": one.order_id,
        "part": one.part,
        "sandbox_type": one.sandbox_type,
        "repository": seen.repository or None,
        "status": one.status,
        "in_use": seen.in_use,
        "agent_id": one.agent_id,
        "task_id": one.task_id or one.order_id,
        "container_id": one.container_id,
        # Nothing listens inside: programs are run through us.
        "connection_details": {"exec_url": f"{address}/exec"} if runs_programs else {},
        "created_at": iso(one.created_at_ms),
        "expires_at": iso(one.expires_at_ms),
    }


def sandbox_shown(shown: Shown) -> Json:
    more = {"head_sha": shown.head_sha, "disk_bytes": shown.disk_bytes}
    return sandbox(shown.seen) | more


def sandbox_page(page: SandboxPage) -> Json:
    return {
        "sandboxes": [sandbox(one) for one in page.sandboxes],
        "total_count": page.total_count,
        "has_more": page.has_more,
    }


def sandbox_destroyed(done: Destroyed) -> Json:
    said = "Sandbox already terminated" if done.already else "Sandbox terminated successfully"
    return {"message": said, "kept_sha": done.kept_sha, "sandbox": sandbox(done.seen)}


def program_end(inside: Inside, done: Execution) -> Json:
    return {
        "agent_work_order_id": inside.order_id,
        "sandbox_identifier": inside.sandbox.sandbox_identifier,
        "temporary": inside.temporary,
        "ended": done.ended,
        "exit_code": done.exit_code,
        "signal": done.signal,
        "duration_s": round(done.duration_s, 3),
        "left_out_bytes": 0,
    }


def sandbox_types(rows: Sequence[TypeRow], default: str) -> list[Json]:
    """Those that there are, and those that are only named yet."""
    there = [
        {
            "name": row.name,
            "available": True,
            "default": row.name == default,
            "isolation": msgspec.to_builtins(row.isolation),
            "problem": row.problem,
            "hint": row.hint,
        }
        for row in rows
    ]
    missing = dict.fromkeys(("isolation", "problem", "hint"))
    later = [
        {"name": name, "available": False, "default": False, **missing} for name in PLANNED_TYPES
    ]
    return there + later


def delivery(row: DeliveryRecord) -> Json:
    return {
        "n": row.n,
        "delivery_id": row.delivery_id,
        "event": row.event,
        "received_at": iso(row.received_at_ms),
        "attempts": row.attempts,
        "state": row.state,
        "why": row.why,
        "settled_at": when(row.settled_at_ms),
        "can_be_retried": row.state == "failed" and row.has_body,
    }


def audit(row: AuditRow) -> Json:
    return {
        "n": row.n,
        "at": iso(row.at_ms),
        "who": row.who,
        "what": row.what,
        "agent_work_order_id": row.order_id,
        "target": row.target,
        "details": row.details,
    }

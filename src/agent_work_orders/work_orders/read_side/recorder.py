"""The observer that keeps the read side: records, logs, approvals and the feed of changes.

It is behind the journal by at most a moment and never in its way: many changes of a run make one
record. What a crash loses of it is made again at the next start (`catch_up`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import msgspec
from msgspec.structs import replace

from agent_work_orders.clock import iso
from agent_work_orders.engines.engine import Change
from agent_work_orders.engines.replay import set_aside
from agent_work_orders.errors import AgentWorkOrdersError, Conflict
from agent_work_orders.ids import order_of
from agent_work_orders.state_manager.approvals import ApprovalRecord
from agent_work_orders.state_manager.journal import Quarantined
from agent_work_orders.state_manager.records import MAX_LIMIT, OrderFilter, OrderRecord
from agent_work_orders.work_orders.context import Context
from agent_work_orders.work_orders.order_facts import facts_of
from agent_work_orders.work_orders.read_side import open_questions, projection
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine import phases
from agent_work_orders.workflow_engine.run import Run, TaskRun
from agent_work_orders.workflow_engine.waiting import QUARANTINED

SOON_S = 0.05
# Projecting a run walks its tasks: one of thousands is shown once a second.
MANY_TASKS = 1_000
LATER_S = 1.0
OPEN_ORDERS = OrderFilter(status=("pending", "running", "paused", "waiting"))


class Recorder:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._dirty: dict[str, tuple[Run, int, set[str]]] = {}
        self._handle: asyncio.TimerHandle | None = None

    def observe(self, change: Change) -> None:
        """Called by the engine after each commit."""
        touched = _touched(change.event)
        if change.after.parent is None:
            order_id = change.run_id
            before = self._dirty.get(order_id)
            paths = before[2] if before is not None else set()
            paths.update(touched)
            self._dirty[order_id] = (change.after, change.seq, paths)
            if change.after.stage == "ended":
                self._show(order_id)
            elif self._handle is None:
                wait_s = LATER_S if len(change.after.tasks) > MANY_TASKS else SOON_S
                loop = asyncio.get_running_loop()
                self._handle = loop.call_later(wait_s, self.flush)
        self._log(change)
        self._approvals(change)

    def flush(self) -> None:
        self._handle = None
        for order_id in list(self._dirty):
            self._show(order_id)

    async def finish(self) -> None:
        """Write what is still to be written."""
        if self._handle is not None:
            self._handle.cancel()
        self.flush()
        await self._context.backlog.settled()

    async def catch_up(self, open_runs: Iterable[str] = ()) -> None:
        """At start: whatever may be behind the journal is read from it again. That is every order
        that is shown as open, every run that is open, and every question that is shown as asked.

        The record keeps its number: what it shows now is at least that, and whatever happens from
        here on has a larger one.
        """
        records, behind, offset = self._context.store.records, set(open_runs), 0
        while True:
            page = await records.page(OPEN_ORDERS, limit=MAX_LIMIT, offset=offset)
            behind |= {row.agent_work_order_id for row in page.agent_work_orders}
            offset += len(page.agent_work_orders)
            if not page.has_more:
                break
        behind |= {one.run_id for one in await self._context.store.approvals.asked(MAX_LIMIT)}
        for run_id in sorted(behind):
            await self._again(run_id)

    async def _again(self, run_id: str) -> None:
        row = await self._context.store.records.get(run_id)
        try:
            run = await self._context.runs.run(run_id)
        except Conflict as broken:
            if row is not None:
                self._context.store.records.upsert_lazily(_aside(row, broken))
            return
        if run is None and row is not None:
            gone = Quarantined(run_id=run_id, seq=0, reason="it is not there any more")
            self._context.store.records.upsert_lazily(_aside(row, set_aside(gone)))
        if run is not None:
            if run.parent is None:
                known = 0 if row is None else row.run_seq
                self._context.store.records.upsert_lazily(projection.record(run, known))
            await self._questions(run)

    async def _questions(self, run: Run) -> None:
        for path, task in run.tasks.items():
            if task.gate is not None:
                await self._ask(run, path, task)

    async def renew(self, run: Run, seq: int) -> None:
        """Write what the read side knows of a run again, as of its event `seq`."""
        if run.parent is None:
            await self._context.store.records.upsert(projection.record(run, seq))
        await self._questions(run)

    def _show(self, order_id: str) -> None:
        run, seq, paths = self._dirty.pop(order_id)
        context = self._context
        made = projection.record(run, seq, context.runs.held_until_ms(order_id))
        try:
            context.store.records.upsert_lazily(made)
        except AgentWorkOrdersError:
            return  # the journal cannot write; the next start or change shows it
        body = {
            "agent_work_order": msgspec.to_builtins(made),
            "tasks": [
                {"path": path, "state": run.tasks[path].state, "attempt": run.tasks[path].attempt}
                for path in sorted(paths)
                if path in run.tasks
            ],
        }
        at_ms = context.clock.now_ms()
        context.store.feed.publish(order_id, "work_order", at_ms, msgspec.json.encode(body))

    # -- approvals

    def _approvals(self, change: Change) -> None:
        if change.before.tasks is change.after.tasks:
            return
        for path in open_questions.gated(change.after):
            task = change.after.tasks[path]
            old = change.before.tasks.get(path)
            stopped = task.state == "cancelled" and (old is None or old.state != "cancelled")
            if task.gate is not None and (stopped or old is None or old.gate != task.gate):
                self._context.backlog.begin(self._tell(change.after, path, task))

    async def _tell(self, run: Run, path: str, task: TaskRun) -> None:
        with suppress(AgentWorkOrdersError):  # the journal cannot write; the next start mends it
            await self._ask(run, path, task)

    async def _ask(self, run: Run, path: str, task: TaskRun) -> None:
        gate, context = task.gate, self._context
        assert gate is not None
        if gate.facts is None and task.state == "awaiting_approval":
            return  # nobody is asked before it is known what they are shown
        approval_id = open_questions.approval_id_of(run.run_id, path, task.generation, gate.round)
        await self._void_earlier(run.run_id, path, approval_id)
        await context.store.approvals.ask(
            ApprovalRecord(
                approval_id=approval_id,
                order_id=order_of(run.run_id),
                run_id=run.run_id,
                path=path,
                message=gate.message,
                subject=gate.subject,
                subject_hash=gate.subject_hash,
                asked_at_ms=gate.asked_ms,
                expires_at_ms=gate.expires_ms,
            )
        )
        state: Any = gate.decision or ("void" if task.state == "cancelled" else "")
        if state:
            await context.store.approvals.settle(
                approval_id,
                state,
                at_ms=context.clock.now_ms(),
                by=gate.by or None,
                comment=gate.comment or None,
            )
        self._announce(order_of(run.run_id), approval_id, path, state)

    def _announce(self, order_id: str, approval_id: str, path: str, state: str) -> None:
        body = msgspec.json.encode({"approval_id": approval_id, "path": path, "state": state})
        self._context.store.feed.publish(order_id, "approval", self._context.clock.now_ms(), body)

    async def _void_earlier(self, run_id: str, path: str, approval_id: str) -> None:
        """A question of the same task that another has taken the place of."""
        for one in await self._context.store.approvals.of_order(order_of(run_id)):
            same_task = (one.run_id, one.path) == (run_id, path)
            if same_task and one.state == "asked" and one.approval_id != approval_id:
                at_ms = self._context.clock.now_ms()
                await self._context.store.approvals.settle(one.approval_id, "void", at_ms=at_ms)
                self._announce(one.order_id, one.approval_id, path, "void")

    # -- logs

    def _log(self, change: Change) -> None:
        said = _log_line(change)
        if said is not None:
            name, level, fields = said
            self._context.log(order_of(change.run_id), name, level, fields)
        self._log_ending(change)

    def _log_ending(self, change: Change) -> None:
        """The order's own milestones, whatever event brought them."""
        before, after = change.before, change.after
        if after.parent is not None:
            return
        order_id, log = change.run_id, self._context.log
        if before.started_ms is None and after.started_ms is not None:
            log(order_id, "agent_work_order_started", "info", {"workflow_type": after.plan.name})
        if isinstance(change.event, on.TaskStarted) and len(after.tasks) <= MANY_TASKS:
            old, new = phases.current_phase(before), phases.current_phase(after)
            if new is not None and old != new:
                if old is not None:
                    log(order_id, "workflow_phase_completed", "info", _phase(before))
                    fields = {"from_phase": old, "to_phase": new}
                    log(order_id, "workflow_phase_transition", "info", fields)
                log(order_id, "workflow_phase_started", "info", {"phase": new})
        if after.stage == "ended" and before.stage != "ended":
            status, failure = phases.status(after), after.failure
            if status == "completed":
                if phases.history(after):
                    log(order_id, "workflow_phase_completed", "info", _phase(after))
                log(order_id, "agent_work_order_completed", "info", {})
            elif status == "cancelled":
                log(order_id, "agent_work_order_cancelled", "info", {"outcome": after.outcome})
            else:
                fields = {} if failure is None else {"error": failure.message, "code": failure.code}
                log(order_id, "agent_work_order_failed", "error", fields)


def _aside(row: OrderRecord, broken: Conflict) -> OrderRecord:
    return replace(
        row,
        status="waiting",
        waiting_reason=QUARANTINED,
        error_code=broken.code,
        error_message=broken.message,
        error_hint=broken.hint,
    )


def _phase(run: Run) -> dict[str, Any]:
    """The phase that a run was in last, and how long."""
    span = phases.history(run)[-1]
    ended_ms = span.ended_ms if span.ended_ms is not None else run.updated_ms
    return {"phase": span.phase, "duration_seconds": max(0, ended_ms - span.started_ms) / 1000}


def _touched(event: on.AnyEvent) -> set[str]:
    path = getattr(event, "path", None)
    return {path} if isinstance(path, str) else set()


def _log_line(change: Change) -> tuple[str, str, dict[str, Any]] | None:
    """The documented log line of an event, if it has one."""
    event, run = change.event, change.after
    by = {"by": getattr(event, "by", "")}
    match event:
        case on.Submitted():
            order = facts_of(run)
            return (
                "agent_work_order_created",
                "info",
                {
                    "repository_url": order.repository_url,
                    "workflow_type": order.workflow,
                    "sandbox_type": order.sandbox_type,
                    "github_issue_number": order.github_issue_number,
                    **by,
                },
            )
        case on.TaskStarted():
            return "task_started", "info", {"task": event.path, "attempt": event.attempt}
        case on.TaskSucceeded():
            return "task_succeeded", "info", {"task": event.path}
        case on.TaskFailed():
            fields = {
                "task": event.path,
                "error": event.failure.message,
                "code": event.failure.code,
                "category": event.failure.category,
                "hint": event.failure.hint,
            }
            return "task_failed", "warning", fields
        case on.TaskParked():
            until = iso(event.until_ms)
            return (
                "task_parked",
                "warning",
                {"task": event.path, "reason": event.reason, "until": until},
            )
        case on.TaskLost():
            return "task_lost", "warning", {"task": event.path, "attempt": event.attempt}
        case on.ApprovalShown():
            asked = run.tasks[event.path].gate
            if asked is None or asked.round == 1:
                return None
            return "approval_asked_again", "info", {"task": event.path, **event.facts}
        case on.ApprovalDecided():
            if event.approved:
                return "approval_approved", "info", {"task": event.path, **by}
            return "approval_rejected", "info", {"task": event.path, **by}
        case on.PromptReceived():
            return "prompt_received", "info", {"prompt_id": event.prompt_id, **by}
        case on.PauseAsked():
            why = {"reason": event.reason} if event.reason else {}
            return "agent_work_order_paused", "info", {**by, **why}
        case on.ResumeAsked():
            return "agent_work_order_resumed", "info", by
        case on.CancelAsked():
            return "agent_work_order_cancel_asked", "info", by
        case on.RetryAsked():
            return "agent_work_order_retried", "info", {"task": event.path, **by}
        case on.RollbackAsked():
            return "agent_work_order_rollback_asked", "info", by
        case on.TaskOverridden():
            return "task_overridden", "warning", {"task": event.path, "action": event.action, **by}
        case on.Undone():
            return "task_undone", "info", {"task": event.path}
    return None

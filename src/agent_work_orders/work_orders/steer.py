"""Steering an order: prompt, cancel, pause, resume, retry, rollback, override.

Each verb is defined in every state: it is done, or refused with 409 and a reason. Who did what is
in the audit log before it is done.
"""

from __future__ import annotations

from typing import Any, Literal

from agent_work_orders import ids
from agent_work_orders.command_loader import catalogue, typed_prompt
from agent_work_orders.errors import Conflict, NotFound, Refused
from agent_work_orders.security.roles import Caller
from agent_work_orders.state_manager.records import OrderRecord
from agent_work_orders.tools.base_files import base_files
from agent_work_orders.work_orders import find, questions
from agent_work_orders.work_orders.context import LiveContext
from agent_work_orders.work_orders.read_side import projection
from agent_work_orders.work_orders.submit import PROMPT_LIMIT_CHARS, check_text, check_timeout
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine import phases
from agent_work_orders.workflow_engine.plan import pattern
from agent_work_orders.workflow_engine.run import Run

Action = Literal["skip", "succeed", "retry"]


async def prompt(context: LiveContext, wanted: str, text: str, caller: Caller) -> str:
    """Queue a prompt durably; the agent gets it at its next turn. Returns the prompt's id."""
    row = await _mine(context, wanted, caller)
    check_text("prompt_text", text, PROMPT_LIMIT_CHARS)
    run = await find.run_of(context, row.agent_work_order_id)
    if run.stage != "active":
        raise _refuse(run, "prompted", _HINTS["prompt"])
    typed_prompt.resolve(text, catalogue.load(await _commands(context, row)))
    prompt_id = ids.new_id("prompt")
    event = on.PromptReceived(
        at_ms=context.clock.now_ms(), prompt_id=prompt_id, text=text, by=caller.name
    )
    await _post(context, row, caller, "prompt", event, {"prompt_id": prompt_id})
    return prompt_id


async def _commands(context: LiveContext, row: OrderRecord) -> dict[str, bytes]:
    """The repository's own commands, once its mirror is there."""
    entry = await context.store.ledger.find(f"{row.agent_work_order_id}:base")
    if entry is None or entry.receipt is None:
        return {}
    mirror = context.mirrors.at(row.repository)
    return await base_files(mirror, str(entry.receipt["base_sha"]))


async def cancel(context: LiveContext, wanted: str, caller: Caller) -> OrderRecord:
    row = await _mine(context, wanted, caller)
    return await _post(context, row, caller, "cancel", on.CancelAsked(**_by(context, caller)))


async def pause(context: LiveContext, wanted: str, caller: Caller) -> OrderRecord:
    row = await _mine(context, wanted, caller)
    return await _post(context, row, caller, "pause", on.PauseAsked(**_by(context, caller)))


async def resume(context: LiveContext, wanted: str, caller: Caller) -> OrderRecord:
    """Also an order that was left, open, when its process ended: it is taken up again."""
    row = await _mine(context, wanted, caller)
    taken_up = await context.runs.take_up(row.agent_work_order_id)
    run = await find.run_of(context, row.agent_work_order_id)
    if taken_up and not run.paused:
        await _note(context, row, caller, "resume", {})
        return projection.record(run, row.run_seq)
    return await _post(context, row, caller, "resume", on.ResumeAsked(**_by(context, caller)))


async def retry(
    context: LiveContext,
    wanted: str,
    caller: Caller,
    path: str | None = None,
    *,
    text: str = "",
    agent_timeout_s: float | None = None,
) -> OrderRecord:
    """Failed tasks again, or everything from a chosen task on. The next agent is told the text
    with its task; the timeout holds for all agents from then on."""
    row = await _mine(context, wanted, caller)
    if path is not None:
        _need_task(await find.run_of(context, row.agent_work_order_id), path)
    prompt_id = ""
    if text:
        check_text("prompt_text", text, PROMPT_LIMIT_CHARS)
        typed_prompt.resolve(text, catalogue.load(await _commands(context, row)))
        prompt_id = ids.new_id("prompt")
    event = on.RetryAsked(
        **_by(context, caller),
        path=path,
        prompt_id=prompt_id,
        text=text,
        agent_timeout_s=check_timeout(agent_timeout_s),
    )
    details = {"task": path, "prompt_id": prompt_id, "agent_timeout_s": agent_timeout_s}
    given = {name: value for name, value in details.items() if value or name == "task"}
    return await _post(context, row, caller, "retry", event, given)


async def rollback(context: LiveContext, wanted: str, caller: Caller) -> OrderRecord:
    row = await _mine(context, wanted, caller)
    return await _post(context, row, caller, "rollback", on.RollbackAsked(**_by(context, caller)))


async def override(
    context: LiveContext,
    wanted: str,
    caller: Caller,
    *,
    path: str,
    action: Action,
    outputs: dict[str, Any] | None = None,
) -> OrderRecord:
    """A person decides a stuck task: skip it, call it done with a value, or try it again. What
    somebody named has to approve, nobody else decides this way either."""
    row = await _mine(context, wanted, caller)
    run = await find.run_of(context, row.agent_work_order_id)
    _need_task(run, path)
    gate = run.tasks[path].gate if path in run.tasks else None
    if gate is not None and gate.decision != "approved" and action != "retry":
        questions.need_named(gate.subject, caller)
    event = on.TaskOverridden(
        **_by(context, caller), path=path, action=action, outputs=outputs or {}
    )
    details = {"task": path, "action": action}
    return await _post(context, row, caller, "override", event, details)


async def _mine(context: LiveContext, wanted: str, caller: Caller) -> OrderRecord:
    row = await find.record_of(context, wanted, caller)
    caller.need("operate")
    return row


def _by(context: LiveContext, caller: Caller) -> dict[str, Any]:
    return {"at_ms": context.clock.now_ms(), "by": caller.name}


async def _post(
    context: LiveContext,
    row: OrderRecord,
    caller: Caller,
    verb: str,
    event: on.AnyEvent,
    details: dict[str, Any] | None = None,
) -> OrderRecord:
    order_id = row.agent_work_order_id
    await _note(context, row, caller, verb, details or {})
    accepted = await context.runs.post(order_id, event)
    run = await find.run_of(context, order_id)
    if not accepted and not _already(verb, run):
        hint = _HINTS[verb]
        if run.rollback and verb in ("retry", "override"):
            hint = "It was rolled back, and is over: create a new order."
        raise _refuse(run, _PARTICIPLE[verb], hint)
    return projection.record(run, row.run_seq + 1)


async def _note(
    context: LiveContext, row: OrderRecord, caller: Caller, verb: str, details: dict[str, Any]
) -> None:
    await context.store.audit.append(
        at_ms=context.clock.now_ms(),
        who=caller.name,
        what=f"order.{verb}",
        order_id=row.agent_work_order_id,
        details=details,
    )


_PARTICIPLE = {
    "cancel": "cancelled",
    "pause": "paused",
    "resume": "resumed",
    "retry": "retried",
    "rollback": "rolled back",
    "override": "overridden there",
    "prompt": "prompted",
}
_HINTS = {
    "pause": "Only an order that is at work can be paused.",
    "resume": "Only a paused order can be resumed.",
    "retry": "Nothing in it failed or was cancelled, or what depends on it is still running.",
    "rollback": "It is being rolled back, or was.",
    "override": "The task has ended well, or what depends on it is running.",
    "cancel": "It has ended, or is being rolled back.",
    "prompt": "Create a new order, or retry this one.",
}


def _already(verb: str, run: Run) -> bool:
    """Asking twice for what is so, or on its way, is no error."""
    match verb:
        case "cancel":
            return run.stage == "cancelling" or run.outcome == "cancelled"
        case "pause":
            return run.stage == "active" and bool(run.paused)
        case "rollback":
            return run.stage == "rolling_back" or run.outcome == "rolled_back"
    return False


def _need_task(run: Run, path: str) -> None:
    if pattern(path) not in run.specs:
        raise NotFound(
            "task_unknown",
            f"The order has no task {path[:80]!r}",
            hint=f"`awo show {run.run_id}` lists its tasks.",
            field="task",
        )


def _refuse(run: Run, verb: str, hint: str) -> Refused:
    return Conflict(
        "order_state_conflict",
        f"{run.run_id} is {phases.status(run)} and cannot be {verb}",
        hint=hint,
    )

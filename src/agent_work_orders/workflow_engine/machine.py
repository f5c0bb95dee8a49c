"""The machine: `advance(run, event) -> Step`. The one door through which a run changes.

It is total: any event in any state gives a defined answer, and one that comes late, twice or
where it has no meaning gives the same run and no effects. It is pure: time and ids come inside
events, jitter from the task's own name.

A live task is owed exactly one answer (`TaskSucceeded`, `TaskFailed`, `TaskParked`, `TaskLost`,
`ChildFinished`), matched by attempt or child run, so that a late answer of an attempt that was
given up changes nothing. Every run ends, or waits for something named: an answer, a timer, an
approval, a person.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

import msgspec
from msgspec.structs import replace

from agent_work_orders import ids
from agent_work_orders.workflow_engine import (
    decision,
    prompts,
    reopening,
    retry,
    rollback,
    template,
)
from agent_work_orders.workflow_engine import effects as ask
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine.ascent import settle
from agent_work_orders.workflow_engine.descent import dispatch, open_group
from agent_work_orders.workflow_engine.names import visible
from agent_work_orders.workflow_engine.run import ENDED, ROOT, Outcome, Run, TaskRun
from agent_work_orders.workflow_engine.waiting import CIRCUIT_OPEN
from agent_work_orders.workflow_engine.work import Work, permanent, timer_name

# A task whose performer keeps dying would otherwise take the server down for ever.
MAX_LOSSES = 50
# A quota that never opens: at the longest wait of a quarter of an hour this is ten days.
MAX_PARKS = 1000
# A person reads the first few.
MAX_DENIALS = 50


class Step(msgspec.Struct, frozen=True):
    run: Run
    effects: tuple[ask.AnyEffect, ...] = ()


def advance(run: Run, event: on.AnyEvent) -> Step:
    work = Work(run, event.at_ms)
    if not _apply(work, event):
        return Step(run)
    settle(work)
    _conclude(work)
    return Step(work.result(), tuple(work.effects))


def _apply(work: Work, event: on.AnyEvent) -> bool:
    """Take the event in. False when it means nothing here."""
    match event:
        case on.Submitted():
            return _submitted(work, event)
        case on.TaskStarted():
            return _started(work, event)
        case on.TaskSucceeded():
            return _answer(work, event, _succeeded)
        case on.TaskFailed():
            return _answer(work, event, _failed)
        case on.TaskParked():
            return _answer(work, event, _parked)
        case on.TaskLost():
            return _answer(work, event, _lost)
        case on.ChildFinished():
            return _child_finished(work, event)
        case on.TimerFired():
            return _timer_fired(work, event)
        case on.ApprovalShown():
            return decision.approval_shown(work, event)
        case on.ApprovalDecided():
            return decision.decided(work, event)
        case on.PromptReceived():
            return prompts.received(work, event)
        case on.PauseAsked():
            return _pause(work, event.reason)
        case on.ResumeAsked():
            return reopening.resume(work)
        case on.CancelAsked():
            return _cancel(work)
        case on.RollbackAsked():
            return _roll_back(work)
        case on.RetryAsked():
            return reopening.retry(work, event)
        case on.TaskOverridden():
            return reopening.override(work, event)
        case on.Undone():
            return rollback.undone(work, event.path, event.failure, event.attempt)
        case _:
            assert_never(event)


def _submitted(work: Work, event: on.Submitted) -> bool:
    if work.run.stage != "new":
        return False
    run = replace(
        work.run,
        stage="active",
        inputs=event.inputs,
        order=event.order,
        by=event.by,
        parent=event.parent,
        submitted_ms=event.at_ms,
    )
    work.run = run
    open_group(work, ROOT)
    return True


# -- answers


def _answer(
    work: Work,
    event: on.TaskSucceeded | on.TaskFailed | on.TaskParked | on.TaskLost,
    handle: Callable[[Work, TaskRun, Any], None],
) -> bool:
    """Take in the one answer of a live task; of one that was given up, only what it spent."""
    path, usage = event.path, None if isinstance(event, on.TaskLost) else event.usage
    if path == ROOT or not work.known(path) or work.run.spec(path).kind != "tool":
        return False
    task = work.look(path)
    if not task.live or task.attempt != event.attempt:
        return work.settle_debt(path, event.attempt, usage)
    work.answered(path)
    work.spend(path, usage)
    if not isinstance(event, on.TaskLost):
        _learned(work, task, event)
    handle(work, task, event)
    return True


def _learned(
    work: Work, task: TaskRun, event: on.TaskSucceeded | on.TaskFailed | on.TaskParked
) -> None:
    if event.denials:
        work.put(event.path, denials=(*task.denials, *event.denials)[:MAX_DENIALS])
    if event.recovered:
        work.put(event.path, lost=tuple(n for n in task.lost if n not in event.recovered))


def _started(work: Work, event: on.TaskStarted) -> bool:
    if not work.known(event.path):
        return False
    task = work.look(event.path)
    if not task.live or task.attempt != event.attempt or task.state != "pending":
        return False
    first = event.at_ms if task.started_ms is None else task.started_ms
    work.put(event.path, state="running", wait="", started_ms=first)
    if work.run.started_ms is None:
        work.set(started_ms=event.at_ms)
    return True


def _succeeded(work: Work, task: TaskRun, event: on.TaskSucceeded) -> None:
    prompts.answered(work, event.path, event.prompts)
    _begun(work, task, event.path)
    work.end(event.path, "succeeded", outputs=event.outputs)


def _begun(work: Work, task: TaskRun, path: str) -> None:
    """An answer says that the task had begun, also when the news of its start never came."""
    if task.started_ms is None:
        work.put(path, started_ms=work.at_ms)
    if work.run.started_ms is None:
        work.set(started_ms=work.at_ms)


def _failed(work: Work, task: TaskRun, event: on.TaskFailed) -> None:
    prompts.answered(work, event.path, event.prompts)
    if work.run.stage != "active":
        work.end(event.path, "cancelled", failure=event.failure, outputs=event.outputs)
        return
    _begun(work, task, event.path)
    if decision.outdated(work, event):
        return
    tries = task.tries + 1
    work.put(event.path, stalls=0, stalled_ms=None)
    salt = f"{work.run.run_id}:{event.path}"
    delay = retry.delay_ms(work.run.spec(event.path).retry, event.failure, tries, salt)
    work.put(event.path, tries=tries)
    if delay is None:
        work.fail(event.path, event.failure, event.outputs)
    else:
        _wait(work, event.path, "retry", event.failure.code, event.at_ms + delay)
        work.put(event.path, failure=event.failure, outputs=event.outputs)


def _parked(work: Work, task: TaskRun, event: on.TaskParked) -> None:
    prompts.answered(work, event.path, event.prompts)
    if work.run.stage != "active":
        work.end(event.path, "cancelled")
        return
    if task.parks >= MAX_PARKS:
        message = f"{event.path} was parked {task.parks} times for {event.reason}"
        hint = "Check the quota of the account, then retry the order."
        prompts.withdraw(work, (event.path,))
        work.fail(event.path, permanent("parked_too_often", message, hint))
        return
    work.put(event.path, parks=task.parks + 1)
    # Where the circuit is open it has not tried anything itself.
    if event.reason != CIRCUIT_OPEN:
        moved = event.usage is not None and event.usage.turns > 0
        first_ms = task.stalled_ms if task.stalled_ms is not None and not moved else event.at_ms
        work.put(event.path, stalls=task.stalls + 1, stalled_ms=first_ms)
    _wait(work, event.path, "parked", event.reason, event.until_ms)


def _wait(work: Work, path: str, why: str, reason: str, until_ms: int) -> None:
    work.put(path, state="pending", wait=why, reason=reason, until_ms=until_ms)
    timer = timer_name(why, work.look(path).attempt, path)
    work.emit(ask.SetTimer(timer=timer, at_ms=until_ms))


def _lost(work: Work, task: TaskRun, event: on.TaskLost) -> None:
    if work.run.spec(event.path).takes_prompts:
        # Its agent may have spent something; whoever takes it up finds out.
        work.put(event.path, lost=(*task.lost, event.attempt))
        work.spend(event.path, on.Usage(unpriced_turns=1))
    if work.run.stage != "active":
        work.end(event.path, "cancelled")
        return
    work.put(event.path, losses=task.losses + 1, state="pending", wait="queued")
    if task.losses + 1 > MAX_LOSSES:
        message = f"{event.path} was under way in {task.losses + 1} crashes of the server"
        hint = "It may be what crashes the server: look at memory and disk before you retry."
        failure = on.Failure(
            category="environmental", code="lost_too_often", message=message, hint=hint
        )
        prompts.withdraw(work, (event.path,))
        work.fail(event.path, failure)
    else:
        dispatch(work, event.path)


def _child_finished(work: Work, event: on.ChildFinished) -> bool:
    path, run_id = event.path, work.run.run_id
    if path == ROOT or not work.known(path) or work.run.spec(path).kind != "workflow":
        return False
    task = work.look(path)
    if event.child_run_id != ids.child_run(run_id, path, task.generation):
        late = [n for n in task.owed if event.child_run_id == ids.child_run(run_id, path, n)]
        return bool(late) and work.settle_debt(path, late[0], event.usage)
    if work.run.stage == "rolling_back":
        return rollback.child_ended(work, path, event.outcome, event.failure)
    if not task.live:
        return False
    work.answered(path)
    work.spend(path, event.usage)
    if event.outcome == "completed":
        work.end(path, "succeeded", outputs=event.outputs)
    elif work.run.stage != "active":
        work.end(path, "cancelled", failure=event.failure)
    else:
        message = f"The child workflow of {path} ended as {event.outcome}"
        hint = f"Open {event.child_run_id} to see why."
        work.fail(path, event.failure or permanent("child_failed", message, hint), event.outputs)
    return True


# -- timers and people


def _timer_fired(work: Work, event: on.TimerFired) -> bool:
    kind, _, rest = event.timer.partition(":")
    path = rest.partition(":")[2]
    if not work.known(path):
        return False
    task = work.look(path)
    if event.timer == timer_name("undo", task.tries, path):
        return rollback.again(work, path)
    number = task.generation if kind == "approval" else task.attempt
    if work.run.stage != "active" or event.timer != timer_name(kind, number, path):
        return False
    if kind in ("retry", "parked") and task.wait == kind:
        dispatch(work, path)
        return True
    if kind == "approval" and task.state == "awaiting_approval" and task.gate is not None:
        work.put(path, gate=replace(task.gate, decision="expired"))
        message = f"Nobody decided about {path} in time"
        hint = "Retry the order to ask again."
        work.fail(path, permanent("approval_expired", message, hint))
        return True
    return False


def _pause(work: Work, reason: str) -> bool:
    if work.run.stage != "active" or work.run.paused == "asked":
        return False
    work.set(paused="asked", pause_reason=reason)
    return True


def _cancel(work: Work) -> bool:
    if work.run.stage != "active":
        return False
    _stop_everything(work)
    return True


def _stop_everything(work: Work) -> None:
    work.set(stage="cancelling", paused="")
    for path, task in work.items():
        if task.live:
            work.tell_to_stop(path)
        elif task.state not in ENDED:
            work.clear_timers(path)


def _roll_back(work: Work) -> bool:
    if work.run.stage == "ended" and not rollback.begun(work.run):
        work.set(rollback="asked", outcome=None, failure=None, ended_ms=None)
        rollback.begin(work)
        return True
    if work.run.stage == "active":
        work.set(rollback="asked")
        _stop_everything(work)
        return True
    if work.run.stage == "cancelling" and not work.run.rollback:
        work.set(rollback="asked")
        return True
    return False


# -- the end


def _conclude(work: Work) -> None:
    stage = work.get("stage")
    if stage == "active":
        root = work.look(ROOT)
        if root.state == "succeeded":
            _finish(work, "completed")
        elif root.state == "failed":
            work.set(failure=root.failure)
            if rollback.wanted(work):
                rollback.begin(work)
            else:
                _finish(work, "failed")
    elif stage == "cancelling" and work.live == 0:
        for path, task in work.items():
            if task.halted:
                work.put(path, halted=False)
            elif task.state not in ENDED and task.wait != "needs":
                work.put(path, state="cancelled", wait="", reason="", until_ms=None)
                work.put(path, ended_ms=work.at_ms)
        if work.get("rollback") or rollback.wanted(work):
            rollback.begin(work)
        else:
            _finish(work, "cancelled")
    if work.get("stage") == "rolling_back" and rollback.finished(work):
        _finish(work, rollback.outcome(work))


def _finish(work: Work, outcome: Outcome) -> None:
    run = work.run
    outputs = {}
    if outcome == "completed":
        try:
            names = visible(run, work.look, ROOT, run.plan.output_refs)
            outputs = template.render(run.plan.outputs, names)
        except template.TemplateError as error:
            outcome = "failed"
            work.set(failure=permanent("template_error", error.message, error.hint))
    work.set(stage="ended", outcome=outcome, outputs=outputs, ended_ms=work.at_ms, paused="")
    work.emit(
        ask.Finish(
            outcome=outcome,
            outputs=outputs,
            failure=work.get("failure"),
            usage=work.get("usage"),
            parent=run.parent,
        )
    )

"""Events that the workflow makes itself, where no tool and no person did."""

from __future__ import annotations

from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    TimeoutError,
    TimeoutType,
)

from agent_work_orders.engines.perform import CANCELLED
from agent_work_orders.engines.temporal import wire
from agent_work_orders.errors import Refused
from agent_work_orders.workflow_engine import effects as ask
from agent_work_orders.workflow_engine import events as on


def cancelled(effect: ask.Perform, at_ms: int) -> on.TaskFailed:
    return _failed(effect, at_ms, CANCELLED)


def unanswered(
    effect: ask.Perform, error: ActivityError, at_ms: int, *, stopped: bool
) -> on.TaskFailed | on.TaskLost:
    """What it means that an attempt ended without an answer of its tool."""
    path, cause = effect.path, error.cause
    if isinstance(cause, CancelledError) and stopped:
        return cancelled(effect, at_ms)
    if isinstance(cause, TimeoutError) and cause.type == TimeoutType.START_TO_CLOSE:
        failure = on.Failure(
            category="transient",
            code="task_timeout",
            message=f"{path} took longer than {effect.timeout_s:g} s and could not be stopped",
            hint="Give the task a larger `timeout`, or find out what it waits for.",
        )
        return _failed(effect, at_ms, failure)
    if isinstance(cause, ApplicationError) and cause.type != wire.LOST:
        failure = on.Failure(
            category="permanent",
            code="internal_error",
            message=f"{path} hit a bug of ours: {cause.type}",
            hint="The worker's log has the details; please report it.",
        )
        return _failed(effect, at_ms, failure)
    return on.TaskLost(at_ms=at_ms, path=path, attempt=effect.attempt)


def refused(effect: ask.StartChild, error: Refused, at_ms: int) -> on.ChildFinished:
    """The child does not take these inputs, so it never was."""
    return on.ChildFinished(
        at_ms=at_ms,
        path=effect.path,
        child_run_id=effect.run_id,
        outcome="failed",
        failure=on.Failure(
            category="permanent", code=error.code, message=error.message, hint=error.hint
        ),
    )


def child_finished(
    run_id: str, effect: ask.Finish, parent: on.Parent, at_ms: int
) -> on.ChildFinished:
    return on.ChildFinished(
        at_ms=at_ms,
        path=parent.path,
        child_run_id=run_id,
        outcome=effect.outcome,
        outputs=effect.outputs,
        failure=effect.failure,
        usage=effect.usage,
    )


def _failed(effect: ask.Perform, at_ms: int, failure: on.Failure) -> on.TaskFailed:
    return on.TaskFailed(at_ms=at_ms, path=effect.path, attempt=effect.attempt, failure=failure)

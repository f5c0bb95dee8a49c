"""Phases and status, derived from the run. The journal decides; git only illustrates."""

from __future__ import annotations

from typing import Literal

import msgspec

from agent_work_orders.workflow_engine.run import ENDED, ROOT, Run, TaskRun, inside, scope_of
from agent_work_orders.workflow_engine.waiting import (
    Reason,
    because_of_failure,
    before_retry,
    recorded,
)

# What brings an order's work to where others see it.
PUBLISHING = frozenset({"forge.open_pull_request", "git.push", "github.review", "github.check"})

Status = Literal["pending", "running", "completed", "failed", "cancelled", "paused", "waiting"]


class PhaseSpan(msgspec.Struct, frozen=True, kw_only=True):
    phase: str
    started_ms: int
    ended_ms: int | None


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """What a run that does not move waits for (`approval`, `model_quota`…), and until when."""

    reason: Reason
    until_ms: int | None = None
    path: str | None = None


def status(run: Run) -> Status:
    """The order's status from its tasks; docs/reference/status.md has the table."""
    if run.stage == "ended":
        match run.outcome:
            case "completed":
                return "completed"
            case "cancelled":
                return "cancelled"
            case "rolled_back":
                return "cancelled" if run.rollback == "asked" else "failed"
            case _:
                return "failed"
    if run.stage in ("cancelling", "rolling_back"):
        return "running"
    if run.live == 0 and run.paused:
        return "paused"
    if run.live == 0 and waiting(run) is not None:
        return "waiting"
    return "pending" if run.started_ms is None else "running"


def waiting(run: Run) -> Waiting | None:
    """The first thing, by urgency, that somebody or some clock must do before it moves."""
    if run.stage != "active":
        return None
    found: list[tuple[int, int, str, Waiting]] = []
    for path, task in run.tasks.items():
        if task.halted:
            code = task.failure.code if task.failure else "failure"
            found.append((0, 0, path, Waiting(reason=because_of_failure(code), path=path)))
        elif task.state == "awaiting_approval" and task.gate is not None:
            until = task.gate.expires_ms
            found.append((1, until, path, Waiting(reason="approval", until_ms=until, path=path)))
        elif task.wait in ("parked", "retry"):
            parked = task.wait == "parked"
            reason = recorded(task.reason) if parked else before_retry(task.reason)
            until = task.until_ms or 0
            found.append(
                (2, until, path, Waiting(reason=reason, until_ms=task.until_ms, path=path))
            )
    if run.paused == "asked":
        return Waiting(reason=recorded(run.pause_reason or "paused"))
    return min(found, key=lambda row: row[:3])[3] if found else None


def current_phase(run: Run) -> str | None:
    """The phase of what is under way, else of what was last; `completed` only when it is."""
    if run.stage == "ended" and run.outcome == "completed":
        return "completed"
    spans = history(run)
    return spans[-1].phase if spans else None


def history(run: Run) -> list[PhaseSpan]:
    """Each phase once, in the order in which they began."""
    starts: dict[str, int] = {}
    ends: dict[str, int | None] = {}
    for path, task in run.tasks.items():
        if path == ROOT or task.started_ms is None:
            continue
        phase = run.spec(path).phase
        if phase is None:
            continue
        starts[phase] = min(starts.get(phase, task.started_ms), task.started_ms)
        ends[phase] = _later(ends.get(phase, 0), task)
    return [
        PhaseSpan(phase=phase, started_ms=at, ended_ms=ends[phase])
        for phase, at in sorted(starts.items(), key=lambda item: item[1])
    ]


def _later(sofar: int | None, task: TaskRun) -> int | None:
    if sofar is None or task.state not in ENDED or task.ended_ms is None:
        return None
    return max(sofar, task.ended_ms)


def warnings(run: Run) -> list[str]:
    """Failures that were tolerated, what a person kept from being published, and prompts that no
    agent was left to get."""
    found = [
        f"{path}: {task.failure.message} ({task.failure.code})"
        for path, task in sorted(run.tasks.items())
        if task.tolerated and task.failure is not None
    ]
    found += _unpublished(run)
    if run.stage == "ended":
        found += [
            f"prompt {prompt.prompt_id} "
            + (
                "was given with a task whose agent did not end well"
                if prompt.opening and prompt.target is None and _agent_began(run, prompt.at_ms)
                else "was not delivered: no agent was left to get it"
            )
            for prompt in run.prompts
            if not prompt.delivered
        ]
    return found


def _agent_began(run: Run, since_ms: int) -> bool:
    return any(
        path != ROOT
        and run.spec(path).takes_prompts
        and task.ended_ms is not None
        and task.ended_ms >= since_ms
        and task.attempt > 0
        for path, task in run.tasks.items()
    )


def _unpublished(run: Run) -> list[str]:
    """Publications that did not happen because a person decided a task: that one, or one before."""
    if not any(task.decided_by for task in run.tasks.values()):
        return []
    found = []
    for path, task in sorted(run.tasks.items()):
        if path == ROOT or run.spec(path).uses not in PUBLISHING:
            continue
        if task.state == "skipped" and (cause := _decided(run, path)) is not None:
            by = run.tasks[cause].decided_by
            what = "it" if cause == path else cause
            found.append(f"{path}: nothing was published, because {by} skipped {what}")
        elif task.state == "succeeded" and task.decided_by:
            found.append(
                f"{path}: {task.decided_by} said that it is done: this order published nothing"
            )
    return found


def _decided(run: Run, path: str) -> str | None:
    """The task that a person skipped and because of which this one was skipped too, if any."""
    waiting, seen = [path], {path}
    while waiting:
        at = waiting.pop()
        task = run.tasks.get(at)
        if task is None or task.state != "skipped":
            continue
        if task.decided_by:
            return at
        scope = scope_of(at)
        before = [scope, *(inside(scope, name) for name in run.spec(at).needs)]
        new = [one for one in before if one != ROOT and one not in seen]
        seen.update(new)
        waiting += new
    return None

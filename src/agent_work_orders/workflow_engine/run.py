"""The state of a run: frozen data that only `machine.advance` makes anew.

Tasks stand in a persistent map by path; a task that nothing has touched yet is not in it. The
workflow itself is the group at path `""`, so that every task has a scope to report to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import immutables
import msgspec

from agent_work_orders.workflow_engine import plan as plans
from agent_work_orders.workflow_engine.events import Failure, Parent, Usage
from agent_work_orders.workflow_engine.plan import Body, Plan, Task

ROOT = ""

TaskState = Literal[
    "pending", "running", "awaiting_approval", "succeeded", "failed", "skipped", "cancelled"
]
Wait = Literal["", "needs", "held", "queued", "retry", "parked"]
"""Why a pending task does not run: its needs, a pause, the queue, a backoff, a quota."""

Stage = Literal["new", "active", "cancelling", "rolling_back", "ended"]
Outcome = Literal["completed", "failed", "cancelled", "rolled_back"]

ENDED: frozenset[str] = frozenset({"succeeded", "failed", "skipped", "cancelled"})


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """An approval: what is asked, until when, and what was decided about exactly that."""

    message: str
    subject: dict[str, Any]
    subject_hash: str
    asked_ms: int
    expires_ms: int
    decision: Literal["", "approved", "rejected", "expired"] = ""
    by: str = ""
    comment: str = ""
    facts: dict[str, Any] | None = None
    """What people are shown beside the task itself; None until it was looked up."""
    round: int = 1
    """How often it was asked: once more whenever what was shown has changed."""


class TaskRun(msgspec.Struct, frozen=True, kw_only=True):
    state: TaskState = "pending"
    wait: Wait = "needs"
    blocked: int = 0
    """How many of its needs have not ended."""
    live: bool = False
    """Somebody performs it (or its child run); exactly one answer will come."""
    halted: bool = False
    """Failed with `on_failure: pause`: it holds its scope open until a person decides."""
    attempt: int = 0
    """Counts every dispatch and never goes back: fences late answers."""
    tries: int = 0
    losses: int = 0
    parks: int = 0
    usage: Usage | None = None
    """What its agent has used in all attempts, also before a person's retry."""
    denials: tuple[str, ...] = ()
    lost: tuple[int, ...] = ()
    """Attempts of an agent that were lost; what they spent is not counted yet."""
    stalls: int = 0
    """Parks in a row in which nothing moved: each wait is longer than the one before."""
    stalled_ms: int | None = None
    """When the first of them began."""
    generation: int = 1
    """How often this task was begun on purpose: part of the keys of what it writes."""
    input: dict[str, Any] | None = None
    """Rendered input, kept while it waits for an approval, a retry or the end."""
    outputs: dict[str, Any] | None = None
    failure: Failure | None = None
    tolerated: bool = False
    gate: Gate | None = None
    reason: str = ""
    until_ms: int | None = None
    open: int = 0
    """Scopes: children that have not ended."""
    bad: int = 0
    """Scopes: children that failed and were not tolerated."""
    index: int = 0
    """`repeat`: the present iteration; `foreach`: the last item that was begun."""
    items: tuple[Any, ...] = ()
    waiting: int = 0
    """`foreach`: items that wait for their turn."""
    started_ms: int | None = None
    ended_ms: int | None = None
    ending: int = 0
    """The order in which tasks ended; rollback walks it backwards."""
    decided_by: str = ""
    """The person who ended it by an override, instead of its tool."""
    undone: Literal["", "undone", "failed"] = ""
    owed: tuple[int, ...] = ()
    """Attempts (of a child workflow: generations) that were given up while under way. Their late
    answers decide nothing, but what they spent is counted."""


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    prompt_id: str
    text: str
    by: str
    at_ms: int
    target: str | None = None
    """The task whose agent will get it; None until one is at work."""
    delivered: bool = False
    opening: bool = False
    """Said with a retry: its agent hears it with the task, not after it."""

    def addressed(self, path: str) -> Prompt:
        if self.delivered or self.target is not None:
            return self
        return msgspec.structs.replace(self, target=path)


class Run(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    plan: Plan
    plan_hash: str
    specs: dict[str, Task]
    stage: Stage = "new"
    outcome: Outcome | None = None
    inputs: dict[str, Any] = {}
    order: dict[str, Any] = {}
    by: str = ""
    parent: Parent | None = None
    tasks: immutables.Map[str, TaskRun] = immutables.Map()
    live: int = 0
    paused: Literal["", "asked", "failure"] = ""
    pause_reason: str = ""
    """Of the last pause that was asked for."""
    rollback: Literal["", "wanted", "asked"] = ""
    """Why the run is or will be rolled back: by a failed task's policy, or by a person."""
    undo: tuple[str, ...] = ()
    endings: int = 0
    prompts: tuple[Prompt, ...] = ()
    usage: Usage = Usage()
    outputs: dict[str, Any] = {}
    failure: Failure | None = None
    submitted_ms: int = 0
    started_ms: int | None = None
    ended_ms: int | None = None
    updated_ms: int = 0

    def spec(self, path: str) -> Task:
        return self.specs[plans.pattern(path)]

    def body(self, scope: str) -> Body:
        if scope == ROOT:
            return self.plan.body
        body = self.spec(scope).body
        assert body is not None, scope
        return body

    def task(self, path: str) -> TaskRun:
        """The task's state; for one that nothing has touched, its first state."""
        found = self.tasks.get(path)
        if found is not None:
            return found
        return TaskRun(blocked=0 if path == ROOT else len(self.spec(path).needs))


def fresh(run_id: str, plan: Plan, plan_hash: str) -> Run:
    return Run(run_id=run_id, plan=plan, plan_hash=plan_hash, specs=plans.by_pattern(plan))


def scope_of(path: str) -> str:
    """`fix[2].check` -> `fix[2]` -> `fix` -> the root."""
    if path.endswith("]"):
        return path[: path.rindex("[")]
    return path[: path.rindex(".")] if "." in path else ROOT


def inside(scope: str, task_id: str) -> str:
    return f"{scope}.{task_id}" if scope else task_id


def scopes_of(path: str) -> Iterator[str]:
    """Every scope around a task, the innermost first, the root last."""
    while path != ROOT:
        path = scope_of(path)
        yield path


def index_of(path: str) -> int:
    """The number of an instance: 2 for `fix[2]`."""
    return int(path[path.rindex("[") + 1 : -1])


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A run as stored: without its plan, its tasks as a plain object."""

    plan_hash: str
    stage: Stage
    outcome: Outcome | None
    inputs: dict[str, Any]
    order: dict[str, Any]
    by: str
    parent: Parent | None
    tasks: dict[str, TaskRun]
    live: int
    paused: Literal["", "asked", "failure"]
    rollback: Literal["", "wanted", "asked"]
    undo: tuple[str, ...]
    endings: int
    prompts: tuple[Prompt, ...]
    usage: Usage
    outputs: dict[str, Any]
    failure: Failure | None
    submitted_ms: int
    started_ms: int | None
    ended_ms: int | None
    updated_ms: int
    pause_reason: str = ""


_KEPT = tuple(_Kept.__struct_fields__)
_DECODER = msgspec.json.Decoder(_Kept)


def encode(run: Run) -> bytes:
    fields = {name: getattr(run, name) for name in _KEPT}
    fields["tasks"] = dict(run.tasks.items())
    return msgspec.json.encode(fields)


def decode(data: bytes, run_id: str, plan: Plan) -> Run:
    kept = _DECODER.decode(data)
    fields = {name: getattr(kept, name) for name in _KEPT}
    fields["tasks"] = immutables.Map(kept.tasks)
    return Run(run_id=run_id, plan=plan, specs=plans.by_pattern(plan), **fields)

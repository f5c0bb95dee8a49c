"""A compiled workflow: all that the machine needs, frozen.

`compiler.compile_workflow(definition, catalogue)` makes one; the machine only reads it. A plan is
plain data (it is stored with the version and decoded again years later), so that a running order
keeps exactly what it was started with: graph, templates, risk, undo, child workflows.

Shape:
- A `Body` is a graph of tasks. The workflow has one; `group` tasks have one of their own.
- `repeat` and `foreach` have an `each`: the task made anew per iteration or item, at the path
  `<task>[<index>]`, indexes from 1. A body's task stands at `<group path>.<id>`.
- `refs` are the names of tasks that a task's templates and conditions mention, so that the
  machine builds a scope of those alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from agent_work_orders.errors import Category

Risk = Literal["low", "medium", "high"]
Join = Literal["all_succeeded", "any_succeeded", "all_done"]
OnFailure = Literal["fail", "pause", "continue", "rollback"]
Kind = Literal["tool", "gate", "workflow", "group", "repeat", "foreach"]
Phase = Literal["planning", "implementing", "testing"]
InputType = Literal["string", "integer", "number", "boolean", "list", "object"]

# Caps of FAULTS L7. A definition or an expansion past them is refused, not truncated.
MAX_TASKS = 10_000
MAX_ITERATIONS = 100
MAX_FANOUT = 1_000
# Of one run, with every iteration and item: nested fan-outs multiply. About 20 MB of state, and
# half a second for what touches all of them.
MAX_EXPANDED = 20_000
# Of plans that were compiled before they said it themselves.
_EARLIER_MAX_EXPANDED = 100_000
MAX_DEPTH = 8
MAX_CHILD_DEPTH = 5


class Retry(msgspec.Struct, frozen=True, kw_only=True):
    """RB2's defaults: three attempts, 1 s, doubling, at most a minute, transient failures only."""

    attempts: int = 3
    delay_s: float = 1.0
    backoff: float = 2.0
    max_delay_s: float = 60.0
    on: tuple[Category, ...] = ("transient",)


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """A gate before a task. `because` says whether the author or the risk policy put it there."""

    message: str
    expires_s: float = 86_400.0
    approvers: tuple[str, ...] = ()
    """Names of those who may decide; empty: everybody whose role allows it."""
    because: Literal["declared", "risk"] = "declared"


class Undo(msgspec.Struct, frozen=True, kw_only=True):
    """How to compensate a task that succeeded. Its templates also see `outputs` of that task."""

    uses: str
    with_: dict[str, Any] = {}
    refs: tuple[str, ...] = ()


class Input(msgspec.Struct, frozen=True, kw_only=True):
    type: InputType = "string"
    required: bool = False
    default: Any = None
    items: InputType | None = None
    description: str = ""
    enum: tuple[Any, ...] | None = None


class Task(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    kind: Kind
    needs: tuple[str, ...] = ()
    join: Join = "all_succeeded"
    when: str | None = None
    uses: str | None = None
    """The tool of a `tool` task, the child workflow's name of a `workflow` task."""
    with_: dict[str, Any] = {}
    phase: Phase | None = None
    retry: Retry = Retry()
    timeout_s: float = 300.0
    approval: Approval | None = None
    on_failure: OnFailure = "fail"
    undo: Undo | None = None
    risk: Risk = "low"
    takes_prompts: bool = False
    """Whether the tool talks to an agent, so that a person's prompt can be delivered to it."""
    refs: tuple[str, ...] = ()
    body: Body | None = None
    each: Task | None = None
    foreach: Any = None
    parallel: int = MAX_FANOUT
    """How many items of a `foreach` may be under way at once."""
    until: str | None = None
    max_iterations: int = 1


class Body(msgspec.Struct, frozen=True, kw_only=True):
    tasks: dict[str, Task]
    """In the order of the file."""
    dependants: dict[str, tuple[str, ...]]
    """For each task, the tasks that need it."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    description: str = ""
    inputs: dict[str, Input] = {}
    body: Body
    outputs: dict[str, Any] = {}
    output_refs: tuple[str, ...] = ()
    children: dict[str, Plan] = {}
    """The child workflows by name, compiled with this one and frozen in it."""
    kind: str = "custom"
    """The task type of the order: issue-resolution, pr-review, test-pipeline or custom."""
    branch_prefix: str = "feat"
    max_tasks: int = _EARLIER_MAX_EXPANDED
    """How many tasks a run may have, with every iteration and item."""


_INDEX = re.compile(r"\[\d+\]")


def pattern(path: str) -> str:
    """`fix[2].check` -> `fix[].check`: where a task stands in the plan, whatever the iteration."""
    return _INDEX.sub("[]", path) if "[" in path else path


def by_pattern(plan: Plan) -> dict[str, Task]:
    """Every task of the plan by its pattern."""
    found: dict[str, Task] = {}
    waiting: list[tuple[str, Task]] = [(task.id, task) for task in plan.body.tasks.values()]
    while waiting:
        at, task = waiting.pop()
        found[at] = task
        if task.each is not None:
            waiting.append((f"{at}[]", task.each))
        if task.body is not None:
            waiting.extend((f"{at}.{inner.id}", inner) for inner in task.body.tasks.values())
    return found


def size(task: Task) -> int:
    """How many tasks stand in this one, itself included, before any expansion."""
    inner = [task.each] if task.each is not None else []
    inner += task.body.tasks.values() if task.body is not None else ()
    return 1 + sum(map(size, inner))


def _written(source: Any) -> int:
    return len(source) if isinstance(source, list) else 1


def most(task: Task, items: Callable[[Any], int] = _written) -> int:
    """How many tasks may come of this one at run time, as far as the plan can tell: a list that is
    only known then counts as one item, unless `items` knows how many it has."""
    inner = sum(most(one, items) for one in task.body.tasks.values()) if task.body else 0
    if task.each is None:
        return 1 + inner
    turns = task.max_iterations if task.kind == "repeat" else items(task.foreach)
    return 1 + turns * most(task.each, items)


def agent_in(task: Task, children: Mapping[str, Plan]) -> str | None:
    """The first tool in it, at any depth, that lets an agent work: it has the order's workspace to
    itself."""
    if task.takes_prompts:
        return task.uses
    child = children.get(task.uses or "") if task.kind == "workflow" else None
    inner = [task.each] if task.each is not None else []
    for body in (task.body, child.body if child is not None else None):
        inner += list(body.tasks.values()) if body is not None else []
    deeper = child.children if child is not None else children
    found = (agent_in(one, deeper) for one in inner)
    return next((name for name in found if name is not None), None)


def begins(task: Task) -> int:
    """How many tasks may begin in the moment in which this one does; a list that is only known
    then counts as the longest."""
    if task.body is not None:
        return 1 + sum(begins(inner) for inner in task.body.tasks.values() if not inner.needs)
    if task.each is None:
        return 1
    items = len(task.foreach) if isinstance(task.foreach, list) else MAX_FANOUT
    return 1 + begins(task.each) * (min(items, task.parallel) if task.kind == "foreach" else 1)


def follows(plan: Plan) -> dict[str, int]:
    """How many tasks may begin in the moment in which another ends, by the pattern of the latter,
    and in which the plan begins, by the empty one. What ends a group has the group's number."""
    found = {"": sum(begins(task) for task in plan.body.tasks.values() if not task.needs)}
    waiting: list[tuple[str, Body, int]] = [("", plan.body, 0)]
    while waiting:
        above, body, after = waiting.pop()
        for task in body.tasks.values():
            needed_by = body.dependants.get(task.id, ())
            mine = max(after, sum(begins(body.tasks[name]) for name in needed_by))
            at, inner = f"{above}{task.id}", task
            found[at] = mine
            while inner.each is not None:
                at, inner = f"{at}[]", inner.each
                # The next item or iteration begins when one ends.
                mine = max(mine, begins(inner))
                found[at] = mine
            if inner.body is not None:
                waiting.append((f"{at}.", inner.body, mine))
    return found


def encode(plan: Plan) -> bytes:
    """In the order of the file, on which the machine's answers depend: never sorted."""
    return msgspec.json.encode(plan)


def decode(data: bytes) -> Plan:
    return msgspec.json.decode(data, type=Plan)

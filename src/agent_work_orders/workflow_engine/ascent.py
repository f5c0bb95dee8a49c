"""A task's way up: what an ending causes in its scope, and the ending of the scope itself.

Rules that make every legal order of answers end in the same state:
- A failure stops only what depends on it; independent branches go on, and the scope fails at its
  end with the first failure in the order of the file.
- `any_succeeded` waits for all needs like the other joins, then asks whether one succeeded.
- A failure that its task tolerates (`on_failure: continue`) counts as success for the joins.

A scope keeps counters, so that an ending costs its dependants only.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agent_work_orders.workflow_engine import condition, names
from agent_work_orders.workflow_engine.descent import fill, open_group, start
from agent_work_orders.workflow_engine.events import Failure
from agent_work_orders.workflow_engine.plan import Task, size
from agent_work_orders.workflow_engine.run import ENDED, ROOT, index_of, inside, scope_of
from agent_work_orders.workflow_engine.work import Work, permanent, too_large


def settle(work: Work) -> None:
    """Follow every ending to all it causes."""
    while work.ended:
        path = work.ended.popleft()
        if path != ROOT and work.get("stage") == "active":
            _report(work, path)


def _report(work: Work, path: str) -> None:
    scope = scope_of(path)
    kind = "group" if scope == ROOT else work.run.spec(scope).kind
    if kind == "repeat":
        _iterated(work, scope, path)
        return
    task, holder = work.look(path), work.look(scope)
    if holder.state in ENDED:
        return
    bad = task.state == "failed" and not task.tolerated
    work.put(scope, open=holder.open - 1, bad=holder.bad + bad)
    if kind == "foreach":
        fill(work, scope)
    else:
        _unblock(work, scope, path)
    if holder.open == 1:
        close(work, scope, kind)


def _unblock(work: Work, scope: str, path: str) -> None:
    body = work.run.body(scope)
    for name in body.dependants.get(path[len(scope) + 1 :] if scope else path, ()):
        at = inside(scope, name)
        waiting = work.look(at)
        if waiting.state != "pending" or waiting.wait != "needs":
            continue
        work.put(at, blocked=waiting.blocked - 1)
        if waiting.blocked == 1:
            join(work, scope, body.tasks[name])


def join(work: Work, scope: str, spec: Task) -> None:
    """All needs have ended: does the task run?"""
    path = inside(scope, spec.id)
    if spec.join != "all_done" and spec.needs:
        needs = (work.look(inside(scope, need)) for need in spec.needs)
        good = [task.state == "succeeded" or task.tolerated for task in needs]
        if not (all(good) if spec.join == "all_succeeded" else any(good)):
            work.end(path, "skipped")
            return
    start(work, path)


def _iterated(work: Work, scope: str, path: str) -> None:
    """An iteration ended: enough, once more, or one too many."""
    spec, index, group = work.run.spec(scope), index_of(path), work.look(path)
    if work.look(scope).state in ENDED:
        return
    outputs = {"iterations": index, "satisfied": False, **(group.outputs or {})}
    if group.state != "succeeded":
        failure = group.failure or permanent("task_failed", f"{path} did not succeed")
        work.fail(scope, failure, outputs)
        return
    try:
        refs = (*work.run.body(path).tasks, *spec.refs)
        scoped = names.visible(work.run, work.look, path, refs)
        enough = spec.until is None or condition.evaluate(spec.until, scoped)
    except condition.ConditionError as error:
        work.fail(scope, permanent("condition_error", error.message, error.hint), outputs)
        return
    if enough:
        work.end(scope, "succeeded", outputs={**outputs, "satisfied": True})
    elif index >= spec.max_iterations:
        message = f"{scope} did not reach its goal in {index} iterations"
        hint = "Read the last iteration's outputs; raise `max`, or retry with a prompt."
        work.fail(scope, permanent("loop_exhausted", message, hint), outputs)
    elif not work.has_room_for(size(spec)):
        work.fail(scope, too_large(scope, work.run.plan.max_tasks), outputs)
    else:
        work.put(scope, index=index + 1)
        open_group(work, f"{scope}[{index + 1}]")


def close(work: Work, scope: str, kind: str) -> None:
    """Nothing in the scope is open any more."""
    holder = work.look(scope)
    if kind == "foreach":
        inner = [f"{scope}[{n}]" for n in range(1, len(holder.items) + 1)]
        outputs: dict[str, Any] = {
            "count": len(inner),
            "failed": sum(work.look(path).state == "failed" for path in inner),
            "items": [work.look(path).outputs for path in inner],
        }
    else:
        body = work.run.body(scope)
        inner = [inside(scope, name) for name in body.tasks]
        outputs = {} if scope == ROOT else names.group_outputs(work.look, scope, body)
    if holder.bad == 0:
        work.end(scope, "succeeded", outputs=outputs)
    elif scope == ROOT:
        work.end(scope, "failed", failure=_first_failure(work, inner))
    else:
        work.fail(scope, _first_failure(work, inner), outputs)


def _first_failure(work: Work, paths: list[str]) -> Failure:
    for path in paths:
        task = work.look(path)
        if task.state == "failed" and not task.tolerated and task.failure is not None:
            if "task" in task.failure.context:
                return task.failure
            return replace(task.failure, context={**task.failure.context, "task": path})
    raise AssertionError("a scope counted a failure that no task has")

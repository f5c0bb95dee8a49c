"""The inside of one `advance`: a run being rewritten, and the effects collected on the way.

`Work` only reads and writes; how a task goes down (start, approval, dispatch) is in `descent`,
what its ending causes is in `ascent`. Everything that follows from an ending is a worklist, not
recursion: a chain of 10,000 skipped tasks is one loop.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from msgspec.structs import replace

from agent_work_orders import ids
from agent_work_orders.workflow_engine import names
from agent_work_orders.workflow_engine.effects import (
    AnyEffect,
    CancelChild,
    CancelRunning,
    ClearTimer,
)
from agent_work_orders.workflow_engine.events import Failure, Usage
from agent_work_orders.workflow_engine.plan import Task
from agent_work_orders.workflow_engine.run import ROOT, Run, TaskRun, TaskState, scope_of


class Work:
    """Mutable, lives for one event, owned by `advance`."""

    def __init__(self, run: Run, at_ms: int) -> None:
        self.run = run
        self.at_ms = at_ms
        self.effects: list[AnyEffect] = []
        self.live = run.live
        self.endings = run.endings
        self.ended: deque[str] = deque()
        self._changes: dict[str, Any] = {}
        self._tasks = run.tasks.mutate()

    # -- reading and writing

    def look(self, path: str) -> TaskRun:
        found = self._tasks.get(path)
        if found is not None:
            return found
        return TaskRun(blocked=0 if path == ROOT else len(self.run.spec(path).needs))

    def known(self, path: str) -> bool:
        return path in self._tasks

    def put(self, path: str, **fields: Any) -> None:
        self._tasks[path] = replace(self.look(path), **fields)

    def has_room_for(self, tasks: int) -> bool:
        """Whether the run may grow by so many tasks."""
        return len(self._tasks) + tasks <= self.run.plan.max_tasks

    def renew(self, path: str, task: TaskRun) -> None:
        self._tasks[path] = task

    def items(self) -> list[tuple[str, TaskRun]]:
        """All tasks there are, in a stable order. Only for what people ask (cancel, retry…)."""
        finished = self._tasks.finish()
        self._tasks = finished.mutate()
        return sorted(finished.items())

    def set(self, **fields: Any) -> None:
        self._changes.update(fields)

    def get(self, field: str) -> Any:
        return self._changes[field] if field in self._changes else getattr(self.run, field)

    def emit(self, effect: AnyEffect) -> None:
        self.effects.append(effect)

    def names(self, path: str, spec: Task) -> dict[str, Any]:
        at = path if path.endswith("]") else scope_of(path)
        return names.visible(self.run, self.look, at, spec.refs)

    def result(self) -> Run:
        return replace(
            self.run,
            tasks=self._tasks.finish(),
            live=self.live,
            endings=self.endings,
            updated_ms=self.at_ms,
            **self._changes,
        )

    # -- what every handler needs

    def spend(self, path: str, usage: Usage | None) -> None:
        if usage is None:
            return
        sofar: Usage = self.get("usage")
        self.set(usage=sofar.plus(usage))
        self.put(path, usage=(self.look(path).usage or Usage()).plus(usage))

    def answered(self, path: str) -> None:
        """The one answer of a live task has come, or is not waited for any more."""
        self.put(path, live=False)
        self.live -= 1

    def fail(self, path: str, failure: Failure, outputs: dict[str, Any] | None = None) -> None:
        """The task failed for good; its policy decides what that means for the rest."""
        policy = self.run.spec(path).on_failure
        if policy == "pause":
            self.put(
                path,
                state="failed",
                wait="",
                halted=True,
                failure=failure,
                outputs=outputs,
                ended_ms=self.at_ms,
            )
            self.set(paused=self.get("paused") or "failure")
            return
        tolerated = policy == "continue"
        self.end(path, "failed", failure=failure, tolerated=tolerated, outputs=outputs)

    def end(
        self,
        path: str,
        state: TaskState,
        *,
        outputs: dict[str, Any] | None = None,
        failure: Failure | None = None,
        tolerated: bool = False,
    ) -> None:
        self.endings += 1
        self.put(
            path,
            state=state,
            wait="",
            halted=False,
            outputs=outputs,
            failure=failure,
            tolerated=tolerated,
            ended_ms=self.at_ms,
            ending=self.endings,
            reason="",
            until_ms=None,
        )
        self.ended.append(path)

    def give_up(self, path: str) -> None:
        """Stop waiting for a live task: its answer decides nothing any more."""
        task = self.look(path)
        self.tell_to_stop(path)
        child = self.run.spec(path).kind == "workflow"
        self.put(path, owed=(*task.owed, task.generation if child else task.attempt))
        self.answered(path)

    def settle_debt(self, path: str, number: int, usage: Usage | None) -> bool:
        """The late answer of something that was given up: only its spending counts."""
        owed = self.look(path).owed
        if number not in owed:
            return False
        self.put(path, owed=tuple(other for other in owed if other != number))
        self.spend(path, usage)
        return True

    def tell_to_stop(self, path: str) -> None:
        task = self.look(path)
        if self.run.spec(path).kind == "workflow":
            child = ids.child_run(self.run.run_id, path, task.generation)
            self.emit(CancelChild(path=path, run_id=child))
        else:
            self.emit(CancelRunning(path=path, attempt=task.attempt))

    def clear_timers(self, path: str) -> None:
        task = self.look(path)
        if task.state == "awaiting_approval":
            self.emit(ClearTimer(timer=timer_name("approval", task.generation, path)))
        elif task.wait in ("retry", "parked"):
            self.emit(ClearTimer(timer=timer_name(task.wait, task.attempt, path)))


def timer_name(kind: str, number: int, path: str) -> str:
    """`number` tells the timers of one task apart, so that one that fires late means nothing."""
    return f"{kind}:{number}:{path}"


def too_large(path: str, limit: int) -> Failure:
    message = f"{path} would make the run larger than {limit:,} tasks"
    return permanent("too_many_tasks", message, "Split the work into several orders.")


def permanent(code: str, message: str, hint: str = "") -> Failure:
    return Failure(category="permanent", code=code, message=message, hint=hint)

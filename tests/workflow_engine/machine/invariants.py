"""What must hold of a run after every event, recomputed from scratch."""

from __future__ import annotations

from agent_work_orders.workflow_engine import effects as ask
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine.machine import Step
from agent_work_orders.workflow_engine.run import ENDED, ROOT, Run, TaskRun, inside, scopes_of

SCOPES = ("group", "repeat", "foreach")


class Watcher:
    """Looks at every step of every run. Tasks that a person decided may break the needs rule."""

    def __init__(self) -> None:
        self.decided: set[tuple[str, str]] = set()
        self.reopened: set[str] = set()

    def __call__(self, before: Run, event: on.AnyEvent, step: Step) -> None:
        run = step.run
        if run is before:
            assert step.effects == ()
            return
        if isinstance(event, on.TaskOverridden):
            self.decided.add((run.run_id, event.path))
        if isinstance(event, on.TaskOverridden | on.RetryAsked | on.ResumeAsked):
            self.reopened.add(run.run_id)
        decided = {path for run_id, path in self.decided if run_id == run.run_id}
        check(run, decided, reopened=run.run_id in self.reopened)
        _check_step(before, step)


def check(run: Run, decided: set[str], *, reopened: bool) -> None:
    assert run.live == sum(task.live for task in run.tasks.values())
    if run.stage in ("ended", "rolling_back"):
        assert run.live == 0
        assert run.task(ROOT).state in ENDED
    assert (run.stage == "ended") == (run.outcome is not None)
    for path, task in run.tasks.items():
        _check_task(run, path, task, decided)
        if task.state == "running" and (path == ROOT or run.spec(path).kind in SCOPES):
            _check_scope(run, path, task, reopened=reopened)
    if run.stage == "active":
        halted = any(task.halted for task in run.tasks.values())
        held = any(task.wait == "held" for task in run.tasks.values())
        assert run.paused != "failure" or halted
        assert run.paused or not (halted or held)
        assert run.task(ROOT).state == "running"
        assert waits_for_something(run)


def waits_for_something(run: Run) -> bool:
    """An answer, a timer, an approval, or a person who paused it."""
    return run.live > 0 or any(
        task.wait in ("retry", "parked", "held") or task.state == "awaiting_approval" or task.halted
        for task in run.tasks.values()
    )


def untouched(task: TaskRun) -> bool:
    return task.state == "pending" and task.wait == "needs"


def open_(task: TaskRun) -> bool:
    return task.state not in ENDED or task.halted


def children(run: Run, scope: str) -> list[str]:
    if scope == ROOT or run.spec(scope).kind == "group":
        return [inside(scope, name) for name in run.body(scope).tasks]
    if run.spec(scope).kind == "repeat":
        return [f"{scope}[{run.task(scope).index}]"]
    return [f"{scope}[{n}]" for n in range(1, len(run.task(scope).items) + 1)]


def _check_task(run: Run, path: str, task: TaskRun, decided: set[str]) -> None:
    if path == ROOT:
        return
    spec = run.spec(path)
    assert task.halted <= (task.state == "failed" and spec.on_failure == "pause")
    assert task.tolerated <= (task.state == "failed" and spec.on_failure == "continue")
    assert (task.failure is not None) >= (task.state == "failed")
    assert task.live <= (task.state in ("pending", "running"))
    if run.stage == "active":
        assert task.state != "cancelled"
    if untouched(task):
        assert not task.live and task.outputs is None
        return
    assert all(run.task(scope).started_ms is not None for scope in scopes_of(path)), path
    if path in decided:
        return
    at_work = task.live or (task.started_ms is not None) or task.state == "succeeded"
    if spec.approval is not None and at_work:
        assert task.gate is not None and task.gate.decision == "approved"
    if not path.endswith("]"):
        scope = next(iter(scopes_of(path)))
        for need in spec.needs:
            assert not open_(run.task(inside(scope, need))), f"{path} before {need}"


def _check_scope(run: Run, path: str, task: TaskRun, *, reopened: bool) -> None:
    if run.stage != "active":
        return
    inner = {at: run.task(at) for at in children(run, path)}
    assert task.open == sum(open_(child) for child in inner.values()) > 0, path
    assert task.bad == sum(
        child.state == "failed" and not child.tolerated and not child.halted
        for child in inner.values()
    )
    kind = "group" if path == ROOT else run.spec(path).kind
    if kind == "foreach":
        assert task.waiting == sum(untouched(child) for child in inner.values())
        under_way, parallel = task.open - task.waiting, run.spec(path).parallel
        assert reopened or under_way <= parallel
        assert not task.waiting or under_way >= parallel
    elif kind == "repeat":
        assert not any(untouched(child) for child in inner.values())
    else:
        for at, child in inner.items():
            if untouched(child):
                needs = [run.task(inside(path, need)) for need in run.spec(at).needs]
                assert child.blocked == sum(open_(need) for need in needs) > 0, at


def _check_step(before: Run, step: Step) -> None:
    """Nothing that ended comes back but as a new generation; nothing is asked for twice."""
    run = step.run
    for path, old in before.tasks.items():
        task = run.task(path)
        assert task.attempt >= old.attempt and task.generation >= old.generation
        if path != ROOT and run.spec(path).kind not in SCOPES and old.state in ENDED:
            assert task.state == old.state or task.generation > old.generation, path
            if old.state == "succeeded" and task.generation == old.generation:
                assert task.outputs == old.outputs
    asked = [(e.path, e.attempt) for e in step.effects if isinstance(e, ask.Perform)]
    assert len(asked) == len(set(asked))
    for path, attempt in asked:
        task = run.task(path)
        assert task.attempt > before.task(path).attempt
        assert attempt <= task.attempt
    finishes = [effect for effect in step.effects if isinstance(effect, ask.Finish)]
    assert len(finishes) <= 1
    assert bool(finishes) == (run.stage == "ended" and before.stage != "ended") or (
        before.stage == "ended" and finishes
    )

"""A person wants something again, or decides it: retry, resume after a failure, override.

Retrying a task resets it and everything in its scope that depends on it, and opens the scopes
around it again, up to the run; of a loop, the iterations after it are forgotten. A reset task
keeps its attempt (late answers stay fenced) and gets a new generation (what it writes is a new
thing). Nothing is reset under a live task: such a request changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from agent_work_orders.workflow_engine.ascent import join, settle
from agent_work_orders.workflow_engine.descent import start
from agent_work_orders.workflow_engine.events import TaskOverridden
from agent_work_orders.workflow_engine.plan import pattern
from agent_work_orders.workflow_engine.rollback import begun
from agent_work_orders.workflow_engine.run import (
    ENDED,
    ROOT,
    TaskRun,
    index_of,
    inside,
    scope_of,
)
from agent_work_orders.workflow_engine.work import Work


def retry(work: Work, path: str | None) -> bool:
    """Every failed or cancelled task again, or the named one and what depends on it."""
    if work.run.stage not in ("active", "ended") or begun(work.run):
        return False
    wanted = _stopped(work) if path is None else [path]
    targets = [target for target in wanted if _resettable(work, target)]
    if not targets:
        return False
    _reopen_run(work)
    touched = _reset(work, targets)
    _release(work)
    _start_ready(work, touched)
    return True


def resume(work: Work) -> bool:
    """Go on: what was held starts, what had paused the run by failing is tried again."""
    if work.run.stage != "active" or not work.run.paused:
        return False
    work.set(paused="")
    halted = [path for path, task in work.items() if task.halted]
    touched = _reset(work, halted)
    _release(work)
    _start_ready(work, touched)
    return True


def override(work: Work, event: TaskOverridden) -> bool:
    """A person decides a task that is stuck, failed or not wanted."""
    if work.run.stage not in ("active", "ended") or begun(work.run):
        return False
    path = event.path
    if path == ROOT or pattern(path) not in work.run.specs or not _in_open_scope(work, path):
        return False
    task = work.look(path)
    if task.state in ("succeeded", "skipped") or _needed_by_live(work, path):
        return False
    if event.action == "retry" and not (task.live or task.state in ENDED):
        return False
    _abandon(work, path)
    _reopen_run(work)
    touched = _reset(work, [path])
    if event.action == "skip":
        work.end(path, "skipped")
    elif event.action == "succeed":
        work.end(path, "succeeded", outputs=event.outputs)
    settle(work)
    _release(work)
    _start_ready(work, touched)
    return True


# -- what may be reset


def _in_open_scope(work: Work, path: str) -> bool:
    """Whether the task's scope was opened, and for an item or iteration, whether it was begun."""
    scope = scope_of(path)
    return scope == ROOT or (work.known(scope) and (not path.endswith("]") or work.known(path)))


def _resettable(work: Work, path: str) -> bool:
    if path == ROOT or pattern(path) not in work.run.specs or not work.known(path):
        return False
    return work.look(path).state in ENDED and not _needed_by_live(work, path)


def _stopped(work: Work) -> list[str]:
    """Failed or cancelled tasks that no failed or cancelled task below them explains."""
    stopped = {
        path
        for path, task in work.items()
        if path != ROOT
        and (task.state == "cancelled" or (task.state == "failed" and not task.tolerated))
    }
    explained = {above for path in stopped for above in _scopes(path)}
    return sorted(stopped - explained)


def _needed_by_live(work: Work, path: str) -> bool:
    """Whether something that depends on the task, here or around it, is under way."""
    live = [at for at, task in work.items() if task.live]
    if not live:
        return False
    for at in (path, *_scopes(path)):
        if at != ROOT and not at.endswith("]"):
            scope = scope_of(at)
            for name in _after(work, at):
                later = inside(scope, name)
                if any(other == later or _is_below(other, later) for other in live):
                    return True
        if at != ROOT and at.endswith("]") and work.run.spec(scope_of(at)).kind == "repeat":
            if any(_is_below(other, scope_of(at)) and not _is_below(other, at) for other in live):
                return True
    return False


# -- resetting


def _reopen_run(work: Work) -> None:
    if work.run.stage == "ended":
        work.set(stage="active", outcome=None, failure=None, ended_ms=None, outputs={})


def _abandon(work: Work, path: str) -> None:
    """Stop waiting for a task and all inside it; live ones are told to stop."""
    for at, task in work.items():
        if at == path or _is_below(at, path):
            if task.live:
                work.tell_to_stop(at)
                work.answered(at)
            work.clear_timers(at)


def _reset(work: Work, targets: list[str]) -> list[str]:
    """Make new the targets, what is in them and what depends on them; count the scopes again.

    Returns the scopes that were touched, innermost first.
    """
    new: set[str] = set()
    touched: set[str] = set()
    for target in targets:
        path, ended = target, True
        new.add(target)
        while path != ROOT and ended:
            scope = scope_of(path)
            ended = work.look(scope).state in ENDED
            if path.endswith("]"):
                new.update(_later_iterations(work, scope, path))
            else:
                new.update(inside(scope, name) for name in _after(work, path))
            touched.add(scope)
            path = scope
    for path, task in work.items():
        if path in new or _below_any(path, new):
            again = TaskRun(
                blocked=len(work.run.spec(path).needs),
                attempt=task.attempt,
                generation=task.generation + 1,
            )
            work.renew(path, again)
    kept = {scope for scope in touched if scope not in new and not _below_any(scope, new)}
    ordered = sorted(kept, key=len, reverse=True)
    for scope in ordered:
        _recount(work, scope)
    return ordered


def _later_iterations(work: Work, scope: str, path: str) -> Iterator[str]:
    """A loop goes on from the iteration that is reset: those after it never happened."""
    if work.run.spec(scope).kind == "repeat":
        last = work.look(scope).index
        work.put(scope, index=index_of(path))
        yield from (f"{scope}[{n}]" for n in range(index_of(path) + 1, last + 1))


def _recount(work: Work, scope: str) -> None:
    tasks = [work.look(path) for path in _children(work, scope)]
    work.put(
        scope,
        state="running",
        wait="",
        halted=False,
        failure=None,
        outputs=None,
        tolerated=False,
        ended_ms=None,
        open=sum(task.state not in ENDED or task.halted for task in tasks),
        bad=sum(
            task.state == "failed" and not task.tolerated and not task.halted for task in tasks
        ),
    )
    if scope != ROOT and work.run.spec(scope).kind != "group":
        return
    for spec in work.run.body(scope).tasks.values():
        at = inside(scope, spec.id)
        task = work.look(at)
        if task.state == "pending" and task.wait == "needs" and work.known(at):
            needs = [work.look(inside(scope, need)) for need in spec.needs]
            work.put(at, blocked=sum(n.state not in ENDED or n.halted for n in needs))


def _release(work: Work) -> None:
    """When nothing halts the run any more, what the pause held goes on."""
    if work.get("paused") == "failure" and not any(task.halted for _, task in work.items()):
        work.set(paused="")
    if work.get("paused"):
        return
    for path, task in work.items():
        if task.wait == "held" and work.look(path).wait == "held":
            start(work, path)
            settle(work)


def _start_ready(work: Work, touched: list[str]) -> None:
    """Start what is new and waits for nothing, then let it settle."""
    for scope in touched:
        for path in _children(work, scope):
            task = work.look(path)
            if task.state != "pending" or task.wait != "needs" or task.blocked:
                continue
            if path.endswith("]"):
                if work.known(path):
                    start(work, path)
            else:
                join(work, scope, work.run.spec(path))
            settle(work)


# -- where things stand


def _children(work: Work, scope: str) -> list[str]:
    if scope == ROOT or work.run.spec(scope).kind == "group":
        return [inside(scope, name) for name in work.run.body(scope).tasks]
    task = work.look(scope)
    if work.run.spec(scope).kind == "repeat":
        return [f"{scope}[{task.index}]"]
    return [f"{scope}[{n}]" for n in range(1, len(task.items) + 1)]


def _scopes(path: str) -> Iterator[str]:
    while path != ROOT:
        path = scope_of(path)
        yield path


def _is_below(path: str, above: str) -> bool:
    return len(path) > len(above) and path.startswith(above) and path[len(above)] in ".["


def _below_any(path: str, above: set[str]) -> bool:
    return any(scope in above for scope in _scopes(path))


def _after(work: Work, path: str) -> list[str]:
    """The tasks of the same scope that need `path`, directly or not."""
    scope = scope_of(path)
    dependants = work.run.body(scope).dependants
    found: dict[str, None] = {}
    waiting = [path[len(scope) + 1 :] if scope else path]
    while waiting:
        for name in dependants.get(waiting.pop(), ()):
            if name not in found:
                found[name] = None
                waiting.append(name)
    return list(found)

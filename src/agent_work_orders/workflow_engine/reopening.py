"""A person wants something again, or decides it: retry, resume after a failure, override.

Retrying a task resets it and everything in its scope that depends on it, and opens the scopes
around it again, up to the run; of a loop, the iterations after it are forgotten. A reset task
keeps its attempt (late answers stay fenced) and gets a new generation (what it writes is a new
thing). Nothing is reset under a live task: such a request changes nothing.

A run that was cancelled and is opened again goes on as a whole: what was under way starts anew,
what had ended stays, and scopes that were stopped in the middle go on from there.
"""

from __future__ import annotations

from collections.abc import Iterator

from agent_work_orders.workflow_engine import prompts
from agent_work_orders.workflow_engine.ascent import close, join, settle
from agent_work_orders.workflow_engine.descent import fill, start, waits
from agent_work_orders.workflow_engine.events import RetryAsked, TaskOverridden
from agent_work_orders.workflow_engine.plan import pattern
from agent_work_orders.workflow_engine.rollback import begun
from agent_work_orders.workflow_engine.run import (
    ENDED,
    ROOT,
    TaskRun,
    index_of,
    inside,
    scope_of,
    scopes_of,
)
from agent_work_orders.workflow_engine.work import Work

SCOPES = ("group", "repeat", "foreach")


def retry(work: Work, event: RetryAsked) -> bool:
    """Every failed or cancelled task again, or the named one and what depends on it."""
    path = event.path
    if work.run.stage not in ("active", "ended") or begun(work.run):
        return False
    live = _live(work)
    if path is not None and not _resettable(work, path, live):
        return False
    wanted = _failed(work) if path is None else [path]
    targets = [target for target in wanted if _resettable(work, target, live)]
    stopped, halfway = _cancelled(work)
    if not (targets or stopped or halfway):
        return False
    _reopen_run(work)
    prompts.said_with_retry(work, event)
    if event.agent_timeout_s is not None:
        work.set(order={**work.get("order"), "agent_timeout_s": event.agent_timeout_s})
    touched = _reset(work, [*targets, *stopped], halfway)
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
    if path == ROOT or pattern(path) not in work.run.specs or not _can_be_decided(work, path):
        return False
    task = work.look(path)
    if task.state in ("succeeded", "skipped") or _needed_by_live(work, path, _live(work)):
        return False
    if event.action == "retry" and not (task.live or task.state in ENDED):
        return False
    _give_up(work, path)
    _reopen_run(work)
    stopped, halfway = _cancelled(work)
    touched = _reset(work, [path, *stopped], halfway)
    if event.action != "retry":
        _decide(work, event)
    settle(work)
    _release(work)
    _start_ready(work, touched)
    return True


def _decide(work: Work, event: TaskOverridden) -> None:
    path, scope = event.path, scope_of(event.path)
    if path.endswith("]") and work.run.spec(scope).kind == "foreach":
        work.put(scope, waiting=work.look(scope).waiting - 1)
    if event.action == "skip":
        work.end(path, "skipped")
    else:
        work.end(path, "succeeded", outputs=event.outputs)
    work.put(path, decided_by=event.by)


# -- what may be reset


def _can_be_decided(work: Work, path: str) -> bool:
    """Whether the scopes around the task are opened (nobody gets past a scope's approval by
    deciding what is inside), and for an item or iteration, whether its turn has come."""
    if any(work.look(scope).started_ms is None for scope in scopes_of(path)):
        return False
    return not path.endswith("]") or (work.known(path) and work.look(path).wait != "needs")


def _resettable(work: Work, path: str, live: list[str]) -> bool:
    if path == ROOT or pattern(path) not in work.run.specs or not work.known(path):
        return False
    return work.look(path).state in ENDED and not _needed_by_live(work, path, live)


def _failed(work: Work) -> list[str]:
    """Failed tasks that no stopped task below them explains and nothing around them tolerates."""
    stopped = {
        path: task.state
        for path, task in work.items()
        if path != ROOT
        and (task.state == "cancelled" or (task.state == "failed" and not task.tolerated))
    }
    explained = {scope for path in stopped for scope in scopes_of(path)}
    return [
        path
        for path, state in stopped.items()
        if state == "failed"
        and path not in explained
        and not any(work.look(scope).tolerated for scope in scopes_of(path))
    ]


def _cancelled(work: Work) -> tuple[list[str], list[str]]:
    """What was stopped with the run: tasks to begin anew, and opened scopes to go on with."""
    tasks: list[str] = []
    halfway: list[str] = []
    for path, task in work.items():
        if task.state == "cancelled":
            scope = path == ROOT or work.run.spec(path).kind in SCOPES
            (halfway if scope and task.started_ms is not None else tasks).append(path)
    return tasks, halfway


def _live(work: Work) -> list[str]:
    return [path for path, task in work.items() if task.live] if work.live else []


def _needed_by_live(work: Work, path: str, live: list[str]) -> bool:
    """Whether something that depends on the task, here or around it, is under way."""
    if not live:
        return False
    for at in (path, *scopes_of(path)):
        if at == ROOT:
            return False
        scope = scope_of(at)
        if not at.endswith("]"):
            later = {inside(scope, name) for name in _after(work, at)}
            if any(other in later or _below_any(other, later) for other in live):
                return True
        elif work.run.spec(scope).kind == "repeat" and any(
            _is_below(other, scope) and not _is_below(other, at) for other in live
        ):
            return True
    return False


# -- resetting


def _reopen_run(work: Work) -> None:
    if work.run.stage == "ended":
        work.set(stage="active", outcome=None, failure=None, ended_ms=None, outputs={})


def _give_up(work: Work, path: str) -> None:
    """Stop waiting for a task and all inside it; live ones are told to stop."""
    for at, task in work.items():
        if task.live and (at == path or _is_below(at, path)):
            work.give_up(at)


def _reset(work: Work, targets: list[str], halfway: list[str] | None = None) -> list[str]:
    """Make new the targets, what is in them and what depends on them; count the scopes again.

    Returns the scopes that go on, innermost first.
    """
    new = set(targets)
    touched = set(halfway or ())
    for target in (*targets, *(halfway or ())):
        path, ended = target, True
        while path != ROOT and ended:
            scope = scope_of(path)
            ended = work.look(scope).state in ENDED
            if path.endswith("]"):
                new.update(_turn_back(work, scope, path, reset=path in new))
            else:
                new.update(inside(scope, name) for name in _after(work, path))
            touched.add(scope)
            path = scope
    renewed: set[str] = set()
    for path, task in work.items():
        if path in new or _below_any(path, new):
            work.clear_timers(path)
            begun_before = task.state != "pending" or task.wait != "needs"
            again = TaskRun(
                blocked=len(work.run.spec(path).needs),
                attempt=task.attempt,
                generation=task.generation + begun_before,
                owed=task.owed,
                usage=task.usage,
                denials=task.denials,
                lost=task.lost,
            )
            work.renew(path, again)
            renewed.add(path)
    prompts.withdraw(work, renewed)
    kept = {scope for scope in touched if scope not in new and not _below_any(scope, new)}
    ordered = sorted(kept, key=lambda scope: (-len(scope), scope))
    for scope in ordered:
        _recount(work, scope)
    return ordered


def _turn_back(work: Work, scope: str, path: str, *, reset: bool) -> Iterator[str]:
    """A loop goes on from the iteration that is reset: those after it never happened. A fan-out
    takes its turns again from the item that is reset."""
    last = work.look(scope).index
    if work.run.spec(scope).kind == "repeat":
        work.put(scope, index=min(last, index_of(path)))
        yield from (f"{scope}[{n}]" for n in range(index_of(path) + 1, last + 1))
    elif reset:
        work.put(scope, index=min(last, index_of(path) - 1))


def _recount(work: Work, scope: str) -> None:
    kind = "group" if scope == ROOT else work.run.spec(scope).kind
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
        waiting=sum(map(waits, tasks)) if kind == "foreach" else 0,
        bad=sum(
            task.state == "failed" and not task.tolerated and not task.halted for task in tasks
        ),
    )
    if kind != "group":
        return
    for spec in work.run.body(scope).tasks.values():
        at = inside(scope, spec.id)
        task = work.look(at)
        if task.state == "pending" and task.wait == "needs":
            needs = [work.look(inside(scope, need)) for need in spec.needs]
            blocked = sum(need.state not in ENDED or need.halted for need in needs)
            if blocked != task.blocked:
                work.put(at, blocked=blocked)


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
    """Start what is new and waits for nothing, and end the scopes that have nothing left to do."""
    for scope in touched:
        kind = "group" if scope == ROOT else work.run.spec(scope).kind
        if kind == "foreach":
            fill(work, scope)
            settle(work)
        for path in _children(work, scope) if kind != "foreach" else ():
            task = work.look(path)
            if task.state != "pending" or task.wait != "needs" or task.blocked:
                continue
            if kind == "repeat":
                start(work, path)
            else:
                join(work, scope, work.run.spec(path))
            settle(work)
        holder = work.look(scope)
        if kind != "repeat" and holder.state == "running" and holder.open == 0:
            close(work, scope, kind)
            settle(work)


# -- where things stand


def _children(work: Work, scope: str) -> list[str]:
    if scope == ROOT or work.run.spec(scope).kind == "group":
        return [inside(scope, name) for name in work.run.body(scope).tasks]
    task = work.look(scope)
    if work.run.spec(scope).kind == "repeat":
        return [f"{scope}[{task.index}]"]
    return [f"{scope}[{n}]" for n in range(1, len(task.items) + 1)]


def _is_below(path: str, above: str) -> bool:
    return len(path) > len(above) and path.startswith(above) and path[len(above)] in ".["


def _below_any(path: str, above: set[str]) -> bool:
    return any(scope in above for scope in scopes_of(path))


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

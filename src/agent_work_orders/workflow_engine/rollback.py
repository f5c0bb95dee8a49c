"""Compensation: what succeeded is undone, last first, one at a time.

An undo that fails transiently is tried again; one that fails for good is listed, and the rest is
still undone: a half-clean world that says so is better than a dirty one.
"""

from __future__ import annotations

from agent_work_orders import ids
from agent_work_orders.workflow_engine import retry, template
from agent_work_orders.workflow_engine.effects import RollbackChild, SetTimer, Undo
from agent_work_orders.workflow_engine.events import Failure
from agent_work_orders.workflow_engine.plan import Retry
from agent_work_orders.workflow_engine.run import ROOT, Outcome, Run, scopes_of
from agent_work_orders.workflow_engine.work import Work, permanent, timer_name

INCOMPLETE = "rollback_incomplete"
POLICY = Retry(attempts=5, on=("transient", "environmental", "unknown"))


def begun(run: Run) -> bool:
    return run.stage == "rolling_back" or run.outcome == "rolled_back" or bool(run.rollback)


def wanted(work: Work) -> bool:
    """Whether a failed task's policy asks for it, and no scope around the task tolerates that."""
    return any(
        task.state == "failed"
        and path != ROOT
        and work.run.spec(path).on_failure == "rollback"
        and not any(work.look(scope).tolerated for scope in scopes_of(path))
        for path, task in work.items()
    )


def begin(work: Work) -> None:
    """Line up what has to be undone and ask for the first. Nothing is live any more."""
    done = [
        (task.ending, path)
        for path, task in work.items()
        if task.state == "succeeded" and path != ROOT and _can_undo(work, path)
    ]
    queue = tuple(path for _, path in sorted(done, reverse=True))
    why = work.get("rollback") or "wanted"
    work.set(stage="rolling_back", rollback=why, undo=queue, paused="")
    for path in queue:
        work.put(path, tries=0)
    _ask_next(work)


def _can_undo(work: Work, path: str) -> bool:
    spec = work.run.spec(path)
    return spec.kind == "workflow" or (spec.kind == "tool" and spec.undo is not None)


def _ask_next(work: Work) -> None:
    """Ask for the first in line that can be asked for; one that cannot be rendered is passed."""
    while queue := work.get("undo"):
        path = queue[0]
        if _ask(work, path):
            return
        work.set(undo=queue[1:])


def _ask(work: Work, path: str) -> bool:
    task, spec = work.look(path), work.run.spec(path)
    if spec.kind == "workflow":
        child = ids.child_run(work.run.run_id, path, task.generation)
        work.emit(RollbackChild(path=path, run_id=child))
        return True
    assert spec.undo is not None
    try:
        names = {**work.names(path, spec), "outputs": task.outputs or {}}
        rendered = template.render(spec.undo.with_, names)
    except template.TemplateError as error:
        failure = permanent("template_error", error.message, error.hint)
        work.put(path, undone="failed", failure=failure)
        return False
    work.put(path, wait="")
    work.emit(
        Undo(
            path=path,
            key=f"{work.run.run_id}:{path}:{task.generation}:undo",
            uses=spec.undo.uses,
            input=rendered,
            timeout_s=spec.timeout_s,
            attempt=task.tries + 1,
        )
    )
    return True


def undone(work: Work, path: str, failure: Failure | None, attempt: int = 0) -> bool:
    queue: tuple[str, ...] = work.run.undo
    if work.run.stage != "rolling_back" or queue[:1] != (path,):
        return False
    task = work.look(path)
    tries = task.tries + 1
    if task.wait == "retry" or attempt not in (0, tries):
        return False
    if failure is not None and work.run.spec(path).kind != "workflow":
        delay = retry.delay_ms(POLICY, failure, tries, f"{work.run.run_id}:{path}:undo")
        if delay is not None:
            work.put(path, tries=tries, failure=failure, wait="retry")
            timer = timer_name("undo", tries, path)
            work.emit(SetTimer(timer=timer, at_ms=work.at_ms + delay))
            return True
    work.put(path, undone="undone" if failure is None else "failed", failure=failure)
    work.set(undo=queue[1:])
    _ask_next(work)
    return True


def child_ended(work: Work, path: str, outcome: Outcome, failure: Failure | None) -> bool:
    """A child run was rolled back, or says what it could not undo. Anything else is an old tale."""
    if outcome == "rolled_back":
        return undone(work, path, None)
    if failure is not None and failure.code == INCOMPLETE:
        return undone(work, path, failure)
    return False


def again(work: Work, path: str) -> bool:
    """The backoff of an undo is over."""
    if work.run.stage != "rolling_back" or work.run.undo[:1] != (path,):
        return False
    if work.look(path).wait != "retry":
        return False
    _ask_next(work)
    return True


def finished(work: Work) -> bool:
    return not work.get("undo")


def outcome(work: Work) -> Outcome:
    """Rolled back, or failed when something could not be undone."""
    left = [path for path, task in work.items() if task.undone == "failed"]
    if not left:
        return "rolled_back"
    message = "Could not undo " + ", ".join(left)
    hint = "Look at what each of them wrote and undo it by hand."
    work.set(failure=permanent("rollback_incomplete", message, hint))
    return "failed"

"""A task's way down: its needs are met; condition, approval, then whatever its kind does first."""

from __future__ import annotations

from typing import Any

from agent_work_orders import ids
from agent_work_orders.workflow_engine import approval, condition, prompts, template
from agent_work_orders.workflow_engine.effects import Perform, StartChild
from agent_work_orders.workflow_engine.plan import MAX_FANOUT, Task, size
from agent_work_orders.workflow_engine.run import TaskRun, inside
from agent_work_orders.workflow_engine.template_values import type_name
from agent_work_orders.workflow_engine.work import Work, permanent, too_large


def start(work: Work, path: str) -> None:
    """Begin the task, unless its condition, an approval or a pause stands before it."""
    if work.get("stage") != "active":
        return
    if work.get("paused"):
        work.put(path, wait="held")
        return
    spec = work.run.spec(path)
    if spec.when is not None:
        try:
            wanted = condition.evaluate(spec.when, work.names(path, spec))
        except condition.ConditionError as error:
            work.fail(path, permanent("condition_error", error.message, error.hint))
            return
        if not wanted:
            work.end(path, "skipped")
            return
    gate = work.look(path).gate
    if spec.approval is not None and (gate is None or gate.decision != "approved"):
        approval.ask(work, path, spec)
    else:
        _begin(work, path, spec)


def _begin(work: Work, path: str, spec: Task) -> None:
    match spec.kind:
        case "tool":
            dispatch(work, path)
        case "workflow":
            _start_child(work, path, spec)
        case "gate":
            gate = work.look(path).gate
            assert gate is not None
            outputs = {"approved_by": gate.by, "comment": gate.comment}
            work.end(path, "succeeded", outputs=outputs)
        case "group":
            open_group(work, path)
        case "repeat":
            work.put(path, state="running", wait="", index=1, open=1, started_ms=work.at_ms)
            open_group(work, f"{path}[1]")
        case "foreach":
            _fan_out(work, path, spec)


def dispatch(work: Work, path: str) -> None:
    """Hand a tool task to the engine. What was rendered (and approved) is not rendered again."""
    if work.get("paused"):
        work.put(path, wait="held")
        return
    task, spec = work.look(path), work.run.spec(path)
    assert spec.uses is not None
    rendered = task.input if task.input is not None else _render(work, path, spec)
    if rendered is None:
        return
    attempt = task.attempt + 1
    work.put(
        path,
        state="pending",
        wait="queued",
        live=True,
        attempt=attempt,
        input=rendered,
        reason="",
        until_ms=None,
    )
    work.live += 1
    if spec.takes_prompts:
        prompts.address(work, path)
    work.emit(
        Perform(
            path=path,
            attempt=attempt,
            key=f"{work.run.run_id}:{path}:{task.generation}",
            uses=spec.uses,
            input=rendered,
            timeout_s=spec.timeout_s,
            phase=spec.phase,
            approved=None if task.gate is None else task.gate.facts,
        )
    )


def _start_child(work: Work, path: str, spec: Task) -> None:
    assert spec.uses is not None
    task = work.look(path)
    rendered = task.input if task.input is not None else _render(work, path, spec)
    if rendered is None:
        return
    work.put(
        path,
        state="running",
        wait="",
        live=True,
        input=rendered,
        attempt=task.attempt + 1,
        started_ms=work.at_ms,
    )
    if work.get("started_ms") is None:
        work.set(started_ms=work.at_ms)
    work.live += 1
    work.emit(
        StartChild(
            path=path,
            run_id=ids.child_run(work.run.run_id, path, task.generation),
            workflow=spec.uses,
            inputs=rendered,
        )
    )


def open_group(work: Work, path: str) -> None:
    body = work.run.body(path)
    work.put(path, state="running", wait="", open=len(body.tasks), bad=0, started_ms=work.at_ms)
    for task in body.tasks.values():
        if not task.needs:
            start(work, inside(path, task.id))


def _fan_out(work: Work, path: str, spec: Task) -> None:
    try:
        found = template.render(spec.foreach, work.names(path, spec))
    except template.TemplateError as error:
        work.fail(path, permanent("template_error", error.message, error.hint))
        return
    if not isinstance(found, list) or len(found) > MAX_FANOUT:
        given = f"a list of {len(found):,}" if isinstance(found, list) else type_name(found)
        message = (
            f"`foreach` of {path} needs a list of at most {MAX_FANOUT:,} items, and got {given}"
        )
        hint = "Give a template that yields a list, or split the work."
        work.fail(path, permanent("foreach_invalid", message, hint))
        return
    assert spec.each is not None
    if not work.has_room_for(len(found) * size(spec.each)):
        work.fail(path, too_large(path, work.run.plan.max_tasks))
        return
    work.put(
        path,
        state="running",
        wait="",
        items=tuple(found),
        open=len(found),
        waiting=len(found),
        bad=0,
        started_ms=work.at_ms,
    )
    if not found:
        work.end(path, "succeeded", outputs={"count": 0, "failed": 0, "items": []})
    fill(work, path)


def fill(work: Work, path: str) -> None:
    """Begin items until as many are under way as may be together.

    A person who reopens an item while all places are taken gets one more; the next turns wait
    until there is a place again.
    """
    parallel = work.run.spec(path).parallel
    while (task := work.look(path)).waiting and task.open - task.waiting < parallel:
        index = task.index + 1
        while work.known(f"{path}[{index}]") and not waits(work.look(f"{path}[{index}]")):
            index += 1
        work.put(path, index=index, waiting=task.waiting - 1)
        start(work, f"{path}[{index}]")


def waits(item: TaskRun) -> bool:
    """Whether an item has not had its turn, or was reset and waits for it again."""
    return item.state == "pending" and item.wait == "needs"


def _render(work: Work, path: str, spec: Task) -> dict[str, Any] | None:
    try:
        rendered = template.render(spec.with_, work.names(path, spec))
    except template.TemplateError as error:
        work.fail(path, permanent("template_error", error.message, error.hint))
        return None
    assert isinstance(rendered, dict)
    return rendered

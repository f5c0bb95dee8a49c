"""A second interpreter, slow and plain: the state of a run from its accepted events alone.

Nothing is kept between events: every question ("has this task ended, and how?") walks the plan
again and looks its answers up in the list. It knows answers, timers, approvals, children and
rollback by policy, but none of the things that people ask for.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from agent_work_orders.workflow_engine import condition, retry, rollback, template
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine.plan import Body, Plan, Task

ENDED = ("succeeded", "failed", "skipped")
MAX_LOSSES = 50


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a task."""

    state: str
    wait: str = ""
    outputs: dict[str, Any] | None = None
    failure: on.Failure | None = None
    tolerated: bool = False
    live: bool = False

    @property
    def ended(self) -> bool:
        return self.state in ENDED


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    stage: str
    outcome: str | None = None
    failure: on.Failure | None = None
    outputs: dict[str, Any] = {}


NOT_YET = Found(state="pending", wait="needs")
SKIPPED = Found(state="skipped")
Names = dict[str, Any]


class Reference:
    def __init__(self, run_id: str, plan: Plan, events: list[on.AnyEvent]) -> None:
        self.run_id = run_id
        self.plan = plan
        self.events = events
        self.tasks: dict[str, Found] = {}
        self.undone: dict[str, str] = {}
        submitted = events[0]
        assert isinstance(submitted, on.Submitted)
        names: Names = {"inputs": submitted.inputs, "order": submitted.order, "tasks": {}}
        root, known = self._body("", plan.body, names)
        self.ending = self._end(root, known)

    # -- the list

    def _first(self, kind: Any, **wanted: Any) -> Any:
        for event in self.events:
            if isinstance(event, kind) and all(
                getattr(event, name) == value for name, value in wanted.items()
            ):
                return event
        return None

    def _fired(self, timer: str) -> bool:
        return self._first(on.TimerFired, timer=timer) is not None

    # -- graphs

    def _body(self, scope: str, body: Body, outer: Names) -> tuple[Found, Names]:
        """How the graph as a whole stands, and what can be seen of its tasks."""
        known: dict[str, Found] = {}

        def stands(name: str) -> Found:
            if name not in known:
                spec = body.tasks[name]
                needs = [stands(need) for need in spec.needs]
                known[name] = self._after(f"{scope}.{name}".lstrip("."), spec, needs, names())
            return known[name]

        def names() -> Names:
            seen = {name: shown(found) for name, found in known.items() if found.ended}
            return {**outer, "tasks": {**outer["tasks"], **seen}}

        all_of_them = {name: stands(name) for name in body.tasks}
        outputs = {
            "tasks": {
                name: found.outputs
                for name, found in all_of_them.items()
                if found.outputs is not None and found.ended
            }
        }
        if not all(found.ended for found in all_of_them.values()):
            return Found(state="running"), names()
        for name, found in all_of_them.items():
            if found.state == "failed" and not found.tolerated:
                failure = blamed(found.failure, f"{scope}.{name}".lstrip("."))
                return Found(state="failed", failure=failure, outputs=outputs), names()
        return Found(state="succeeded", outputs=outputs), names()

    def _after(self, path: str, spec: Task, needs: list[Found], names: Names) -> Found:
        if not all(need.ended for need in needs):
            return NOT_YET
        good = [need.state == "succeeded" or need.tolerated for need in needs]
        if needs and spec.join == "all_succeeded" and not all(good):
            return self._note(path, spec, SKIPPED)
        if needs and spec.join == "any_succeeded" and not any(good):
            return self._note(path, spec, SKIPPED)
        return self._task(path, spec, names)

    # -- tasks

    def _task(self, path: str, spec: Task, names: Names) -> Found:
        return self._note(path, spec, self._begun(path, spec, names))

    def _note(self, path: str, spec: Task, found: Found) -> Found:
        if found.state == "failed" and spec.on_failure == "continue":
            found = replace(found, tolerated=True)
        self.tasks[path] = found
        return found

    def _begun(self, path: str, spec: Task, names: Names) -> Found:
        try:
            if spec.when is not None and not condition.evaluate(spec.when, names):
                return SKIPPED
            if spec.approval is not None:
                template.render(spec.approval.message, names)
                template.render(spec.with_, names)
                if self._fired(f"approval:1:{path}"):
                    return failed("approval_expired")
                decision = self._first(on.ApprovalDecided, path=path)
                if decision is None:
                    return Found(state="awaiting_approval")
                if not decision.approved:
                    return failed("approval_rejected")
            return self._kind(path, spec, names)
        except template.TemplateError:
            return failed("template_error")
        except condition.ConditionError:
            return failed("condition_error")

    def _kind(self, path: str, spec: Task, names: Names) -> Found:
        match spec.kind:
            case "tool":
                template.render(spec.with_, names)
                return self._tool(path, spec)
            case "workflow":
                template.render(spec.with_, names)
                return self._child(path)
            case "gate":
                decision = self._first(on.ApprovalDecided, path=path)
                given = {"approved_by": decision.by, "comment": decision.comment}
                return Found(state="succeeded", outputs=given)
            case "group":
                assert spec.body is not None
                return self._body(path, spec.body, names)[0]
            case "repeat":
                return self._repeat(path, spec, names)
            case "foreach":
                return self._foreach(path, spec, names)

    def _tool(self, path: str, spec: Task) -> Found:
        tries = losses = 0
        last: on.Failure | None = None
        answers = (on.TaskSucceeded, on.TaskFailed, on.TaskParked, on.TaskLost)
        for attempt in range(1, len(self.events) + 2):
            answer = self._first(answers, path=path, attempt=attempt)
            match answer:
                case None:
                    begun = self._first(on.TaskStarted, path=path, attempt=attempt)
                    if begun is not None:
                        return Found(state="running", live=True, failure=last)
                    return Found(state="pending", wait="queued", live=True, failure=last)
                case on.TaskSucceeded():
                    return Found(state="succeeded", outputs=answer.outputs)
                case on.TaskLost():
                    losses += 1
                    if losses > MAX_LOSSES:
                        return failed("lost_too_often")
                case on.TaskParked():
                    if not self._fired(f"parked:{attempt}:{path}"):
                        return Found(state="pending", wait="parked", failure=last)
                case on.TaskFailed():
                    tries, last = tries + 1, answer.failure
                    if retry.delay_ms(spec.retry, answer.failure, tries, "") is None:
                        return Found(state="failed", failure=last, outputs=answer.outputs)
                    if not self._fired(f"retry:{attempt}:{path}"):
                        return Found(state="pending", wait="retry", failure=last)
        raise AssertionError("more attempts than events")

    def _child(self, path: str) -> Found:
        told = self._first(on.ChildFinished, path=path)
        if told is None:
            return Found(state="running", live=True)
        if told.outcome == "completed":
            return Found(state="succeeded", outputs=told.outputs)
        failure = told.failure or failed("child_failed").failure
        return Found(state="failed", failure=failure, outputs=told.outputs)

    def _repeat(self, path: str, spec: Task, names: Names) -> Found:
        assert spec.each is not None and spec.each.body is not None
        previous: dict[str, Any] = {}
        for index in range(1, spec.max_iterations + 1):
            inner = {**names, "iteration": index, "previous": previous}
            at = f"{path}[{index}]"
            group, seen = self._body(at, spec.each.body, inner)
            self.tasks[at] = group
            if not group.ended:
                return Found(state="running")
            outputs = {"iterations": index, "satisfied": False, **(group.outputs or {})}
            if group.state == "failed":
                return Found(state="failed", failure=group.failure, outputs=outputs)
            try:
                enough = spec.until is None or condition.evaluate(spec.until, seen)
            except condition.ConditionError:
                return replace(failed("condition_error"), outputs=outputs)
            if enough:
                return Found(state="succeeded", outputs={**outputs, "satisfied": True})
            previous = {name: seen["tasks"][name] for name in spec.each.body.tasks}
        return replace(failed("loop_exhausted"), outputs=outputs)

    def _foreach(self, path: str, spec: Task, names: Names) -> Found:
        assert spec.each is not None
        items = template.render(spec.foreach, names)
        if not isinstance(items, list):
            return failed("foreach_invalid")
        results: list[Found] = []
        while len(results) < len(items):
            under_way = sum(not found.ended for found in results)
            if under_way >= spec.parallel:
                return Found(state="running")
            index = len(results) + 1
            inner = {**names, "item": items[index - 1], "index": index}
            results.append(self._task(f"{path}[{index}]", spec.each, inner))
        if not all(found.ended for found in results):
            return Found(state="running")
        outputs = {
            "count": len(items),
            "failed": sum(found.state == "failed" for found in results),
            "items": [found.outputs for found in results],
        }
        for index, found in enumerate(results, 1):
            if found.state == "failed" and not found.tolerated:
                failure = blamed(found.failure, f"{path}[{index}]")
                return Found(state="failed", failure=failure, outputs=outputs)
        return Found(state="succeeded", outputs=outputs)

    # -- the end

    def _end(self, root: Found, names: Names) -> Ending:
        if root.state == "running":
            return Ending(stage="active")
        if root.state == "succeeded":
            try:
                rendered = template.render(self.plan.outputs, names)
            except template.TemplateError:
                failure = failed("template_error").failure
                return Ending(stage="ended", outcome="failed", failure=failure)
            return Ending(stage="ended", outcome="completed", outputs=rendered)
        if not self._wants_rollback():
            return Ending(stage="ended", outcome="failed", failure=root.failure)
        for path in self._to_undo():
            done = self._undo(path)
            if done is None:
                return Ending(stage="rolling_back", failure=root.failure)
            self.undone[path] = done
        if "failed" in self.undone.values():
            failure = failed("rollback_incomplete").failure
            return Ending(stage="ended", outcome="failed", failure=failure)
        return Ending(stage="ended", outcome="rolled_back", failure=root.failure)

    def _wants_rollback(self) -> bool:
        return any(
            found.state == "failed"
            and self._spec(path).on_failure == "rollback"
            and not any(
                above.tolerated and path.startswith((f"{scope}.", f"{scope}["))
                for scope, above in self.tasks.items()
            )
            for path, found in self.tasks.items()
        )

    def _to_undo(self) -> list[str]:
        """What succeeded and can be undone, last first."""
        found: list[str] = []
        for event in self.events:
            if isinstance(event, on.TaskSucceeded) and self._spec(event.path).undo is not None:
                found.insert(0, event.path)
            if isinstance(event, on.ChildFinished) and event.outcome == "completed":
                found.insert(0, event.path)
        return found

    def _undo(self, path: str) -> str | None:
        if self._spec(path).kind == "workflow":
            for event in self.events:
                if isinstance(event, on.ChildFinished) and event.path == path:
                    if event.outcome == "rolled_back":
                        return "undone"
                    if event.outcome == "failed":
                        return "failed"
            return None
        for attempt in range(1, rollback.POLICY.attempts + 1):
            answer = self._first(on.Undone, path=path, attempt=attempt)
            if answer is None:
                return None
            if answer.failure is None:
                return "undone"
            if retry.delay_ms(rollback.POLICY, answer.failure, attempt, "") is None:
                return "failed"
        raise AssertionError("an undo was tried too often")

    def _spec(self, path: str) -> Task:
        """The task at a path, by walking the plan."""
        body: Body | None = self.plan.body
        task: Task | None = None
        for step in path.split("."):
            assert body is not None
            task = body.tasks[step.split("[", 1)[0]]
            for _ in range(step.count("[")):
                assert task.each is not None
                task = task.each
            body = task.body
        assert task is not None
        return task


def shown(found: Found) -> dict[str, Any]:
    failure = found.failure
    return {
        "state": found.state,
        "outputs": found.outputs or {},
        "failure": failure
        and {"code": failure.code, "message": failure.message, "category": failure.category},
    }


def failed(code: str) -> Found:
    failure = on.Failure(category="permanent", code=code, message="")
    return Found(state="failed", failure=failure)


def blamed(failure: on.Failure | None, path: str) -> on.Failure:
    assert failure is not None
    if "task" in failure.context:
        return failure
    return replace(failure, context={**failure.context, "task": path})

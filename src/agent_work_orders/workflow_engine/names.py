"""What templates and conditions of a task may see: only the tasks they name.

`inputs`, `order`; `tasks.<id>.{state,outputs,failure}` from the nearest scope that has the id;
inside a `foreach`: `item` and `index`; inside a `repeat`: `iteration` and `previous.<id>` (the
iteration before, empty in the first).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from agent_work_orders.workflow_engine.plan import Body, Task
from agent_work_orders.workflow_engine.run import ROOT, Run, TaskRun, index_of, inside, scope_of

Look = Callable[[str], TaskRun]


def visible(run: Run, look: Look, at: str, refs: Iterable[str]) -> dict[str, Any]:
    """The names for a task standing in the scope `at` (a group's path, or the root)."""
    names: dict[str, Any] = {"inputs": run.inputs, "order": run.order, "tasks": {}}
    missing = set(refs)
    scope = at
    while True:
        if missing and (scope == ROOT or run.spec(scope).kind == "group"):
            tasks = run.body(scope).tasks
            for name in [name for name in missing if name in tasks]:
                names["tasks"][name] = _of_task(look(inside(scope, name)))
                missing.discard(name)
        if scope == ROOT:
            return names
        if scope.endswith("]"):
            _instance(run, look, scope, names)
        scope = scope_of(scope)


def _instance(run: Run, look: Look, scope: str, names: dict[str, Any]) -> None:
    """Names that an iteration or an item brings; the innermost wins."""
    index = index_of(scope)
    parent = scope_of(scope)
    spec = run.spec(parent)
    if spec.kind == "foreach" and "item" not in names:
        names["item"] = look(parent).items[index - 1]
        names["index"] = index
    if spec.kind == "repeat" and "iteration" not in names:
        names["iteration"] = index
        names["previous"] = {} if index == 1 else _results(look, f"{parent}[{index - 1}]", spec)


def _results(look: Look, group: str, repeat: Task) -> dict[str, Any]:
    assert repeat.each is not None and repeat.each.body is not None
    return {name: _of_task(look(inside(group, name))) for name in repeat.each.body.tasks}


def _of_task(task: TaskRun) -> dict[str, Any]:
    failure = task.failure
    return {
        "state": task.state,
        "outputs": task.outputs or {},
        "failure": None
        if failure is None
        else {"code": failure.code, "message": failure.message, "category": failure.category},
    }


def group_outputs(look: Look, scope: str, body: Body) -> dict[str, Any]:
    """`{"tasks": {id: outputs}}` of the children that have any."""
    found: dict[str, Any] = {}
    for name in body.tasks:
        outputs = look(inside(scope, name)).outputs
        if outputs is not None:
            found[name] = outputs
    return {"tasks": found}

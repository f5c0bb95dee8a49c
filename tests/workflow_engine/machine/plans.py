"""Plans in a few words, without YAML: the references and dependants are worked out here."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agent_work_orders.workflow_engine import condition, template
from agent_work_orders.workflow_engine.plan import Approval, Body, Plan, Retry, Task, Undo

ASK = Approval(message="Go on?", expires_s=3_600.0)
UNDO = Undo(uses="undo", with_={"what": "{{ outputs.path }}"})
ONCE = Retry(attempts=1)


def tool(id: str, *needs: str, **fields: Any) -> Task:
    return _task(id, "tool", needs, **{"uses": "work", **fields})


def gate(id: str, *needs: str, **fields: Any) -> Task:
    return _task(id, "gate", needs, **{"approval": ASK, **fields})


def child(id: str, workflow: str, *needs: str, **fields: Any) -> Task:
    return _task(id, "workflow", needs, uses=workflow, **fields)


def group(id: str, *tasks: Task, needs: tuple[str, ...] = (), **fields: Any) -> Task:
    return _task(id, "group", needs, body=body(*tasks), **fields)


def repeat(id: str, *tasks: Task, needs: tuple[str, ...] = (), **fields: Any) -> Task:
    each = Task(id=id, kind="group", body=body(*tasks))
    return _task(id, "repeat", needs, each=each, **{"max_iterations": 3, **fields})


def foreach(id: str, items: Any, each: Task, *, needs: tuple[str, ...] = (), **fields: Any) -> Task:
    return _task(id, "foreach", needs, foreach=items, each=replace(each, id=id), **fields)


def body(*tasks: Task) -> Body:
    dependants: dict[str, tuple[str, ...]] = {}
    for task in tasks:
        for need in task.needs:
            dependants[need] = (*dependants.get(need, ()), task.id)
    return Body(tasks={task.id: task for task in tasks}, dependants=dependants)


def plan(*tasks: Task, outputs: dict[str, Any] | None = None, **fields: Any) -> Plan:
    found = outputs or {}
    refs = tuple(sorted(_mentioned(found)))
    return Plan(name="main", body=body(*tasks), outputs=found, output_refs=refs, **fields)


def _task(id: str, kind: Any, needs: tuple[str, ...], **fields: Any) -> Task:
    task = Task(id=id, kind=kind, needs=needs, **fields)
    values = [task.with_, task.foreach, task.approval.message if task.approval else None]
    values.append(task.undo.with_ if task.undo else None)
    refs = set().union(*(_mentioned(value) for value in values))
    for source in (task.when, task.until):
        if source is not None:
            refs |= {r.names[0] for r in condition.references(source) if r.root == "tasks"}
    return replace(task, refs=tuple(sorted(refs)))


def _mentioned(value: Any) -> set[str]:
    return {r.names[0] for r in template.references(value) if r.root == "tasks"}

"""Whether a run with these inputs can grow past its limit: known before it begins, where its lists
are inputs. Pure. What only shows while it runs is refused there, task by task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_work_orders.workflow_engine import template
from agent_work_orders.workflow_engine.inputs import InputError
from agent_work_orders.workflow_engine.plan import Plan, most


def check(plan: Plan, given: Mapping[str, Any]) -> None:
    """Raises `InputError` when the lists among the inputs make more tasks than a run may have."""
    lists: set[str] = set()

    def items(source: Any) -> int:
        found = template.references(source)
        if any(one.root != "inputs" for one in found):
            return 1
        try:
            value = template.render(source, {"inputs": given})
        except template.TemplateError:
            return 1
        if not isinstance(value, list):
            return 1
        lists.update(one.names[0] for one in found if one.names)
        return len(value)

    tasks = sum(most(task, items) for task in plan.body.tasks.values())
    if tasks > plan.max_tasks:
        names = ", ".join(f"`{name}`" for name in sorted(lists))
        raise InputError(
            "too_many_tasks",
            f"With these inputs ({names}) the run can have {tasks:,} tasks; the limit is"
            f" {plan.max_tasks:,}",
            hint="Give shorter lists, or split the work into several orders.",
            field=f"inputs.{min(lists)}" if lists else "inputs",
        )

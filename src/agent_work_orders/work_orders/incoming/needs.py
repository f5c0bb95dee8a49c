"""Which permissions on GitHub the configured workflows ask for beyond those of every order, so that
they are missed at the start and not in the middle of an order.

Known are the tools that a workflow and its children use, whether or not a condition leaves them
out; not what its commands and agents do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agent_work_orders.github_integration.account import Need
from agent_work_orders.work_orders import workflows
from agent_work_orders.work_orders.context import Context
from agent_work_orders.work_orders.incoming.rules import Rules
from agent_work_orders.workflow_engine.plan import Plan, by_pattern

ToolNeeds = Mapping[str, Mapping[str, str]]
"""By tool: permissions and their levels."""


def needs(context: Context, rules: Rules, of_tools: ToolNeeds) -> list[Need]:
    """Of every workflow that can be run, with the server's rules that start it."""
    found = []
    for one, plan in workflows.all_plans(context):
        known_as = {one.definition.name, *one.definition.aliases}
        starting = [rule for rule, workflow in named(rules) if workflow in known_as]
        for tool in sorted(tools(plan)):
            by = f"{tool} in workflow {plan.name}"
            if starting:
                by += f", started by {' and '.join(starting)}"
            for permission, level in of_tools.get(tool, {}).items():
                found.append(Need(permission=permission, level=level, of=by))
    return found


def named(rules: Rules) -> Iterator[tuple[str, str]]:
    """Each rule, as a person would look for it, and its workflow."""
    for label, workflow in rules.labels.items():
        yield f"label {label}", workflow
    if rules.assignment:
        yield "assignment", rules.assignment
    for verb, workflow in rules.commands.items():
        yield f"/awo {verb}", workflow
    for kind in ("push", "check_failure", "pull_request"):
        for one in getattr(rules, kind):
            yield kind, one.workflow


def tools(plan: Plan) -> set[str]:
    """Every tool that a run of it may use, for undoing too."""
    every = by_pattern(plan).values()
    used = {task.uses for task in every if task.kind == "tool" and task.uses}
    used |= {task.undo.uses for task in every if task.undo is not None}
    return used.union(*(tools(child) for child in plan.children.values()))

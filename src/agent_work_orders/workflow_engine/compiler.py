"""From a definition to a plan: everything that can be wrong is found before anything runs.

`compile_workflow` checks names, cycles, inputs and outputs against the tools' schemas, and freezes
what the run will need: risk and its approvals, undo, timeouts, child workflows. All problems are
collected; a problem in a child workflow is shown with the child's file and line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from agent_work_orders.workflow_engine import plan, wiring, written_schema
from agent_work_orders.workflow_engine.catalogue import Catalogue, ToolInfo
from agent_work_orders.workflow_engine.definition import (
    Definition,
    DefinitionError,
    TaskDef,
    invalid,
)
from agent_work_orders.workflow_engine.fields import did_you_mean
from agent_work_orders.workflow_engine.inputs import json_schema
from agent_work_orders.workflow_engine.plan import Approval, Body, Plan, Task, Undo
from agent_work_orders.workflow_engine.risk import RiskPolicy
from agent_work_orders.workflow_engine.scopes import (
    GATE_OUTPUTS,
    Scope,
    View,
    foreach_outputs,
    group_outputs,
    repeat_outputs,
    task_schema,
)
from agent_work_orders.workflow_engine.shapes import Schema
from agent_work_orders.workflow_engine.yaml_source import Finding, Path, Problem, locate

Children = Callable[[str], Definition | None]
"""Finds a workflow by its name or an alias."""


def compile_workflow(
    definition: Definition,
    catalogue: Catalogue,
    *,
    children: Children = lambda name: None,
    policy: RiskPolicy | None = None,
) -> Plan:
    """Raises `DefinitionError` with every problem of the workflow and its children."""
    family = _Family(catalogue, children, policy or RiskPolicy())
    compiled = family.compile(definition, ())
    if family.problems:
        raise invalid(definition.name, family.problems)
    assert compiled is not None
    return compiled


def plan_hash(compiled: Plan) -> str:
    """What a plan is: equal plans have equal hashes, on any machine."""
    return hashlib.sha256(plan.encode(compiled)).hexdigest()


class _Family:
    """A workflow and the children it starts, each compiled once."""

    def __init__(self, catalogue: Catalogue, children: Children, policy: RiskPolicy) -> None:
        self.catalogue = catalogue
        self.policy = policy
        self.problems: list[Problem] = []
        self._find = children
        self._done: dict[str, Plan | None] = {}
        self._sizes: dict[str, int] = {}

    def compile(self, definition: Definition, above: tuple[str, ...]) -> Plan | None:
        """None when there were problems; they are in `problems`."""
        if definition.name in self._done:
            return self._done[definition.name]
        compiling = _Compiling(self, definition, (*above, definition.name))
        compiled: Plan | None = compiling.run()
        if compiling.findings:
            self.problems += locate(definition.text, definition.file, compiling.findings)
            compiled = None
        self._done[definition.name] = compiled
        return compiled

    def child(self, name: str, above: tuple[str, ...]) -> tuple[Definition | None, str, str]:
        """The child's definition, or a message and a hint."""
        try:
            found = self._find(name)
        except DefinitionError as error:
            self.problems += error.problems
            return None, f"The workflow `{name}` is not valid", ""
        if found is None:
            return None, f"There is no workflow `{name}`", "`awo workflow list` shows them."
        if found.name in above:
            way = " -> ".join((*above[above.index(found.name) :], found.name))
            return None, f"The workflow would start itself: {way}", "Use `repeat` for loops."
        if len(above) > plan.MAX_CHILD_DEPTH:
            return None, f"Child workflows are nested deeper than {plan.MAX_CHILD_DEPTH}", ""
        return found, "", ""

    def total(self, name: str, own: int, children: Iterable[str]) -> int:
        self._sizes[name] = own + sum(self._sizes.get(child, 0) for child in children)
        return self._sizes[name]


class _Compiling:
    """One definition being compiled."""

    def __init__(self, family: _Family, definition: Definition, above: tuple[str, ...]) -> None:
        self.findings: list[Finding] = []
        self._family = family
        self._definition = definition
        self._above = above
        self._children: dict[str, Plan] = {}

    def run(self) -> Plan:
        definition = self._definition
        count = _size(definition.tasks)
        tasks = definition.tasks if count <= plan.MAX_TASKS else {}
        scope = Scope(tasks, json_schema(definition.inputs))
        body = self._body(scope, ("tasks",))
        view = View(scope=scope, viewer=None)
        refs = self._templates(definition.outputs, view, ("outputs",)) if tasks else set()
        total = self._family.total(definition.name, count, self._children)
        if total > plan.MAX_TASKS:
            message = f"{total:,} tasks, with those of child workflows; the limit is"
            self._problem(("tasks",), f"{message} {plan.MAX_TASKS:,}")
        self._check_growth(body)
        return Plan(
            name=definition.name,
            description=definition.description,
            inputs=definition.inputs,
            body=body,
            outputs=definition.outputs,
            output_refs=tuple(sorted(refs)),
            children=self._children,
            kind=definition.kind,
            branch_prefix=definition.branch_prefix,
            max_tasks=plan.MAX_EXPANDED,
        )

    def _check_growth(self, body: Body) -> None:
        most = sum(map(plan.most, body.tasks.values()))
        if most > plan.MAX_EXPANDED:
            message = f"Loops and lists can make {most:,} tasks at run time; the limit is"
            hint = "Lower a `max`, shorten a list, or split the work into several orders."
            self._problem(("tasks",), f"{message} {plan.MAX_EXPANDED:,}", hint)

    def _problem(self, at: Path, message: str, hint: str = "") -> None:
        self.findings.append(Finding(at, message, hint))

    # -- graphs

    def _body(self, scope: Scope, at: Path, phase: plan.Phase | None = None) -> Body:
        if scope.depth > plan.MAX_DEPTH:
            self._problem(at, f"Groups are nested deeper than {plan.MAX_DEPTH}")
            return Body(tasks={}, dependants={})
        wiring.check_needs(scope, at, self._problem)
        found: dict[str, Task] = {}
        # Tasks on a circle come last: they are wrong already, but may have other problems.
        for name in dict.fromkeys([*scope.ordered, *scope.tasks]):
            task, outputs = self._task(scope.tasks[name], scope, (*at, name), phase)
            scope.schemas[name] = task_schema(outputs)
            found[name] = task
        tasks = {name: found[name] for name in scope.tasks}
        return Body(tasks=tasks, dependants=scope.dependants)

    # -- tasks

    def _task(
        self, task: TaskDef, scope: Scope, at: Path, phase: plan.Phase | None
    ) -> tuple[Task, Schema]:
        """The task, and the schema of its outputs."""
        phase = task.phase or phase
        outer = View(scope=scope, viewer=task.id)
        refs = self._condition(task.when, outer, (*at, "when"), never="The task never runs")
        if task.approval is not None:
            where: Path = (*at, "approval")
            refs |= self._templates(task.approval.message, outer, where)
        if task.foreach is None:
            made, outputs = self._work(task, outer, at, phase)
            merged = made.refs if not refs else tuple(sorted({*made.refs, *refs}))
            approval = task.approval or made.approval
            return _placed(made, task, self._definition, merged, approval), outputs
        item, found = self._items(task, outer, (*at, "foreach"))
        inner = View(scope=scope, viewer=task.id, item=item)
        each, outputs = self._work(task, inner, at, phase)
        agent = plan.agent_in(each, self._children)
        fan = Task(
            id=task.id,
            kind="foreach",
            each=each,
            foreach=task.foreach,
            parallel=wiring.check_parallel(task.max_parallel, agent, at, self._problem),
            phase=phase,
            # Shown to whoever approves the whole fan-out: it binds the decision to this list.
            with_={"foreach": task.foreach} if task.approval is not None else {},
        )
        merged = tuple(sorted(refs | found))
        placed = _placed(fan, task, self._definition, merged, task.approval)
        return placed, foreach_outputs(outputs)

    def _items(self, task: TaskDef, view: View, at: Path) -> tuple[Schema, set[str]]:
        wanted = {"type": "array", "maxItems": plan.MAX_FANOUT}
        refs: set[str] = set()
        source = self._value(task.foreach, wanted, view, at, refs)
        items: Schema = source.get("items", {})
        return items, refs

    def _work(
        self, task: TaskDef, view: View, at: Path, phase: plan.Phase | None
    ) -> tuple[Task, Schema]:
        """What the task does, without when and where."""
        if task.uses is not None:
            return self._tool(task, view, at, phase)
        if task.workflow is not None:
            return self._workflow(task, view, at, phase)
        if task.repeat is not None:
            return self._repeat(task, view, at, phase)
        if task.tasks is not None:
            inner = self._inner(task.tasks, view)
            body = self._body(inner, (*at, "tasks"), phase)
            group = Task(id=task.id, kind="group", body=body, phase=phase)
            return group, group_outputs(inner.schemas)
        return Task(id=task.id, kind="gate", phase=phase), GATE_OUTPUTS

    def _inner(self, tasks: dict[str, TaskDef], view: View, *, repeats: bool = False) -> Scope:
        assert view.viewer is not None
        return Scope(
            tasks,
            view.scope.inputs,
            parent=view.scope,
            owner=view.viewer,
            item=view.item,
            repeats=repeats,
        )

    def _repeat(
        self, task: TaskDef, view: View, at: Path, phase: plan.Phase | None
    ) -> tuple[Task, Schema]:
        assert task.repeat is not None
        inner = self._inner(task.repeat.tasks, view, repeats=True)
        where: Path = (*at, "repeat")
        body = self._body(inner, (*where, "tasks"), phase)
        after = View(scope=inner, viewer=None)
        never = "The loop never reaches its goal"
        refs = self._condition(task.repeat.until, after, (*where, "until"), never=never)
        group = Task(id=task.id, kind="group", body=body, phase=phase)
        made = Task(
            id=task.id,
            kind="repeat",
            each=group,
            until=task.repeat.until,
            max_iterations=task.repeat.max,
            phase=phase,
            refs=tuple(sorted(refs)),
        )
        return made, repeat_outputs(group_outputs(inner.schemas))

    def _tool(
        self, task: TaskDef, view: View, at: Path, phase: plan.Phase | None
    ) -> tuple[Task, Schema]:
        assert task.uses is not None
        tool = self._find_tool(task.uses, (*at, "uses"))
        if tool is None:
            refs = self._templates(task.with_, view, (*at, "with"))
            return Task(id=task.id, kind="tool", uses=task.uses, refs=tuple(sorted(refs))), {}
        refs = self._arguments(task.with_, tool.inputs, tool.name, view, at)
        undo = self._undo(task, tool, view, at)
        timeout_s = task.timeout_s or self._definition.defaults.timeout_s or tool.timeout_s
        # An approval declared on a fan-out is asked once, before its items are known.
        declared = task.approval is not None and task.foreach is None
        risk = None if declared else self._family.policy.approval(tool)
        made = Task(
            id=task.id,
            kind="tool",
            uses=tool.name,
            with_=task.with_,
            phase=phase,
            retry=task.retry,
            timeout_s=timeout_s,
            approval=risk,
            undo=undo,
            risk=tool.risk,
            takes_prompts=tool.takes_prompts,
            refs=tuple(sorted(refs.union(undo.refs if undo else ()))),
        )
        outputs = written_schema.outputs_of(tool, task.with_, (*at, "with"), self._problem)
        return made, outputs

    def _workflow(
        self, task: TaskDef, view: View, at: Path, phase: plan.Phase | None
    ) -> tuple[Task, Schema]:
        assert task.workflow is not None
        child, message, hint = self._family.child(task.workflow, self._above)
        if child is None:
            self._problem((*at, "workflow"), message, hint)
            refs = self._templates(task.with_, view, (*at, "with"))
            return Task(id=task.id, kind="workflow", refs=tuple(sorted(refs))), {}
        compiled = self._family.compile(child, self._above)
        if compiled is not None:
            self._children[child.name] = compiled
        refs = self._arguments(task.with_, json_schema(child.inputs), child.name, view, at)
        defaults = {name: declared.default for name, declared in child.inputs.items()}
        made = Task(
            id=task.id,
            kind="workflow",
            uses=child.name,
            with_={**defaults, **task.with_},
            phase=phase,
            refs=tuple(sorted(refs)),
        )
        outputs = {"type": "object", "properties": {name: {} for name in child.outputs}}
        return made, outputs

    # -- what a task mentions

    def _find_tool(self, name: str, at: Path) -> ToolInfo | None:
        tool = self._family.catalogue.get(name)
        if tool is None:
            hint = did_you_mean(name, self._family.catalogue)
            self._problem(at, f"There is no tool `{name}`", hint)
        return tool

    def _undo(self, task: TaskDef, tool: ToolInfo, view: View, at: Path) -> Undo | None:
        name = task.undo.uses if task.undo is not None else tool.undo
        if name is None:
            return None
        where: Path = (*at, "undo") if task.undo is not None else (*at, "uses")
        undo = self._find_tool(name, (*where, "uses") if task.undo is not None else where)
        if undo is None:
            return None
        given = task.undo.with_ if task.undo is not None else None
        if given is None:
            given = _from_outputs(undo, tool)
        after = View(scope=view.scope, viewer=view.viewer, item=view.item, outputs=tool.outputs)
        refs = self._arguments(given, undo.inputs, undo.name, after, where)
        return Undo(uses=undo.name, with_=given, refs=tuple(sorted(refs)))

    def _arguments(
        self, given: dict[str, Any], schema: Schema, what: str, view: View, at: Path
    ) -> set[str]:
        """Check `with`; the names of the tasks it mentions."""
        refs: set[str] = set()
        wiring.check_arguments(given, schema, what, view, at, self._problem, refs)
        return refs

    def _value(self, value: Any, schema: Schema, view: View, at: Path, refs: set[str]) -> Schema:
        return wiring.check_value(value, schema, view, at, self._problem, refs)

    def _templates(self, value: Any, view: View, at: Path) -> set[str]:
        refs: set[str] = set()
        wiring.check_value(value, {}, view, at, self._problem, refs)
        return refs

    def _condition(self, source: str | None, view: View, at: Path, *, never: str) -> set[str]:
        if source is None:
            return set()
        return wiring.check_condition(source, view, at, self._problem, never)


def _placed(
    made: Task,
    task: TaskDef,
    definition: Definition,
    refs: tuple[str, ...],
    approval: Approval | None,
) -> Task:
    """When and where the work is done."""
    return msgspec.structs.replace(
        made,
        needs=task.needs,
        join=task.join,
        when=task.when,
        on_failure=task.on_failure or definition.defaults.on_failure,
        approval=approval,
        refs=refs,
    )


def _size(tasks: dict[str, TaskDef]) -> int:
    """All tasks, at any depth."""
    inner = (task.tasks or (task.repeat.tasks if task.repeat else {}) for task in tasks.values())
    return len(tasks) + sum(_size(more) for more in inner if more)


def _from_outputs(undo: ToolInfo, tool: ToolInfo) -> dict[str, Any]:
    """The undo's inputs that the task's outputs answer by name."""
    known = tool.outputs.get("properties", {})
    wanted = undo.inputs.get("properties", {})
    return {name: f"{{{{ outputs.{name} }}}}" for name in wanted if name in known}

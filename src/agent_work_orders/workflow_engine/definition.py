"""What a person wrote: a workflow file, read and checked by itself.

`parse` knows nothing of tools or other workflows (that is `compiler`); it finds every problem of
form at once: unknown keys, wrong types, bad durations, keys that cannot stand together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast, get_args

import msgspec

from agent_work_orders.errors import Category, Refused
from agent_work_orders.workflow_engine import declared_inputs
from agent_work_orders.workflow_engine.fields import Fields, kind_of
from agent_work_orders.workflow_engine.plan import (
    MAX_FANOUT,
    MAX_ITERATIONS,
    Approval,
    Input,
    Join,
    OnFailure,
    Phase,
    Retry,
)
from agent_work_orders.workflow_engine.yaml_source import (
    Finding,
    Path,
    Problem,
    Unreadable,
    load,
    locate,
)

NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_BRANCH_PREFIX = re.compile(r"[a-z][a-z0-9-]{0,19}")
_APPROVER = re.compile(r"github:[A-Za-z0-9-]{1,39}|[A-Za-z0-9][A-Za-z0-9 ._@-]{0,79}")
_POLICIES: tuple[str, ...] = get_args(OnFailure)
_JOINS: tuple[str, ...] = get_args(Join)
_PHASES: tuple[str, ...] = get_args(Phase)
_CATEGORIES: tuple[str, ...] = get_args(Category)
KINDS = ("issue-resolution", "pr-review", "test-pipeline", "custom")

WORKFLOW_KEYS = frozenset(
    {
        "name", "description", "kind", "branch_prefix", "aliases",
        "inputs", "outputs", "defaults", "tasks",
    }
)  # fmt: skip
TASK_KEYS = frozenset(
    {
        "description", "needs", "join", "when", "uses", "workflow", "with", "phase", "foreach",
        "max_parallel", "repeat", "tasks", "retry", "timeout", "approval", "on_failure", "undo",
    }
)  # fmt: skip
DEFAULT_KEYS = frozenset({"timeout", "retry", "on_failure"})
RETRY_KEYS = frozenset({"attempts", "delay", "backoff", "max_delay", "on"})
APPROVAL_KEYS = frozenset({"message", "expires", "approvers"})
REPEAT_KEYS = frozenset({"max", "until", "tasks"})
UNDO_KEYS = frozenset({"uses", "with"})


class UndoDef(msgspec.Struct, frozen=True, kw_only=True):
    uses: str
    with_: dict[str, Any] | None = None


class RepeatDef(msgspec.Struct, frozen=True, kw_only=True):
    max: int
    until: str | None
    tasks: dict[str, TaskDef]


class TaskDef(msgspec.Struct, frozen=True, kw_only=True):
    """A task as written; what was left out is None, but for `retry`, merged with the defaults."""

    id: str
    needs: tuple[str, ...] = ()
    join: Join = "all_succeeded"
    when: str | None = None
    uses: str | None = None
    workflow: str | None = None
    with_: dict[str, Any] = {}
    phase: Phase | None = None
    foreach: Any = None
    max_parallel: int | None = None
    repeat: RepeatDef | None = None
    tasks: dict[str, TaskDef] | None = None
    retry: Retry = Retry()
    timeout_s: float | None = None
    approval: Approval | None = None
    on_failure: OnFailure | None = None
    undo: UndoDef | None = None


class Defaults(msgspec.Struct, frozen=True, kw_only=True):
    timeout_s: float | None = None
    retry: Retry = Retry()
    on_failure: OnFailure = "fail"


class Definition(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    description: str = ""
    kind: str = "custom"
    branch_prefix: str = "feat"
    aliases: tuple[str, ...] = ()
    inputs: dict[str, Input] = {}
    outputs: dict[str, Any] = {}
    defaults: Defaults = Defaults()
    tasks: dict[str, TaskDef] = {}
    file: str = ""
    text: str = ""
    """The source as written: versions keep it, and problems are located in it."""


class DefinitionError(Refused):
    """A workflow that cannot be used. `problems` has every reason, each with file and line."""

    def __init__(
        self, code: str, message: str, *, problems: Sequence[Problem], hint: str = ""
    ) -> None:
        super().__init__(code, message, hint=hint, problems=msgspec.to_builtins(list(problems)))
        self.problems = tuple(problems)


def invalid(name: str, problems: Sequence[Problem]) -> DefinitionError:
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    where = f"{first.file}:{first.line}:{first.column}"
    return DefinitionError(
        "workflow_invalid",
        f"Workflow {name} is not valid: {where}: {first.message}{more}",
        hint=first.hint,
        problems=problems,
    )


def parse(text: str, file: str) -> Definition:
    """Raises `DefinitionError` with every problem found."""
    try:
        raw = load(text, file)
    except Unreadable as unreadable:
        raise invalid(file, unreadable.problems) from None
    findings: list[Finding] = []
    definition = _workflow(raw, text, file, findings)
    if findings:
        raise invalid(definition.name or file, locate(text, file, findings))
    return definition


def _workflow(raw: Any, text: str, file: str, findings: list[Finding]) -> Definition:
    fields = Fields(raw, (), findings, WORKFLOW_KEYS)
    if not fields.data:
        if not findings:
            fields.problem((), "The workflow is empty", "It needs a `name` and `tasks`.")
        return Definition(name="")
    name = fields.text("name")
    if not fields.has("name"):
        fields.problem((), "`name` is missing", "For example `name: my-workflow`.")
    else:
        _check_name(fields, ("name",), name)
    aliases = fields.names("aliases")
    for at, alias in enumerate(aliases):
        _check_name(fields, ("aliases", at), alias)
    prefix = fields.text("branch_prefix", "feat")
    if not _BRANCH_PREFIX.fullmatch(prefix):
        fields.problem(("branch_prefix",), f"`{prefix}` cannot start a branch name", "Like feat.")
    if not fields.has("tasks"):
        fields.problem((), "`tasks` is missing", "A workflow needs at least one task.")
    defaults = _defaults(fields, findings)
    return Definition(
        name=name,
        description=fields.text("description"),
        kind=fields.choice("kind", KINDS) or "custom",
        branch_prefix=prefix,
        aliases=aliases,
        inputs=declared_inputs.read(fields.mapping("inputs"), ("inputs",), findings),
        outputs=fields.mapping("outputs"),
        defaults=defaults,
        tasks=_tasks(fields, ("tasks",), defaults, findings) if fields.has("tasks") else {},
        file=file,
        text=text,
    )


def _check_name(fields: Fields, at: Path, name: str, *, needed: bool = False) -> None:
    if (name or needed) and not NAME.fullmatch(name):
        hint = "Small letters, digits, `-` and `_`, beginning with a letter, at most 64."
        fields.problem(at, f"`{name[:80]}` is not a valid name", hint)


def _defaults(fields: Fields, findings: list[Finding]) -> Defaults:
    if not fields.has("defaults"):
        return Defaults()
    own = Fields(fields.data["defaults"], ("defaults",), findings, DEFAULT_KEYS)
    return Defaults(
        timeout_s=own.duration("timeout"),
        retry=_retry(own, Retry(), findings),
        on_failure=cast("OnFailure", own.choice("on_failure", _POLICIES) or "fail"),
    )


def _retry(fields: Fields, default: Retry, findings: list[Finding]) -> Retry:
    """What is left out comes from the workflow's defaults."""
    if not fields.has("retry"):
        return default
    own = Fields(fields.data["retry"], (*fields.path, "retry"), findings, RETRY_KEYS)
    on = own.names("on") if own.has("on") else default.on
    for at, category in enumerate(on):
        if category not in _CATEGORIES:
            known = ", ".join(_CATEGORIES)
            own.problem(("on", at), f"`{category}` is not a kind of failure", f"Known: {known}.")
    delay, longest = own.duration("delay"), own.duration("max_delay")
    return Retry(
        attempts=own.integer("attempts", default.attempts, 1, 20),
        delay_s=default.delay_s if delay is None else delay,
        backoff=own.number("backoff", default.backoff, 1, 10),
        max_delay_s=default.max_delay_s if longest is None else longest,
        on=cast(tuple[Category, ...], on),
    )


def _tasks(
    fields: Fields, at: Path, defaults: Defaults, findings: list[Finding]
) -> dict[str, TaskDef]:
    raw = fields.mapping("tasks")
    if not raw and isinstance(fields.data.get("tasks"), dict):
        fields.problem(("tasks",), "`tasks` is empty", "A graph needs at least one task.")
    found = {}
    for name, value in raw.items():
        _check_name(fields, ("tasks", name), name, needed=True)
        found[name] = _task(name, value, (*at, name), defaults, findings)
    return found


def _task(name: str, raw: Any, path: Path, defaults: Defaults, findings: list[Finding]) -> TaskDef:
    fields = Fields(raw, path, findings, TASK_KEYS)
    if not fields.data:
        if isinstance(raw, dict):
            fields.problem((), f"Task `{name}` does nothing", "Give it `uses: <tool>`.")
        return TaskDef(id=name)
    _check_combination(fields)
    data = fields.data
    fields.text("description")
    return TaskDef(
        id=name,
        needs=fields.names("needs"),
        join=cast("Join", fields.choice("join", _JOINS) or "all_succeeded"),
        when=_condition(fields, "when"),
        uses=fields.text("uses") if "uses" in data else None,
        workflow=fields.text("workflow") if "workflow" in data else None,
        with_=fields.mapping("with"),
        phase=cast("Phase | None", fields.choice("phase", _PHASES)),
        foreach=_foreach(fields),
        max_parallel=fields.integer("max_parallel", MAX_FANOUT, 1, MAX_FANOUT)
        if fields.has("max_parallel")
        else None,
        repeat=_repeat(fields, defaults, findings) if "repeat" in data else None,
        tasks=_tasks(fields, (*path, "tasks"), defaults, findings) if "tasks" in data else None,
        retry=_retry(fields, defaults.retry, findings),
        timeout_s=fields.duration("timeout"),
        approval=_approval(fields, findings) if "approval" in data else None,
        on_failure=cast("OnFailure | None", fields.choice("on_failure", _POLICIES)),
        undo=_undo(fields, findings) if "undo" in data else None,
    )


_WORK = ("uses", "workflow", "repeat", "tasks")
_ONLY_TOOLS = ("timeout", "retry", "undo")


def _check_combination(fields: Fields) -> None:
    """Keys that contradict each other, or that would have no effect."""
    work = [key for key in _WORK if fields.has(key)]
    if len(work) > 1:
        both = " and ".join(f"`{key}`" for key in work)
        fields.problem((work[1],), f"{both} cannot stand together", "A task does one thing.")
        return
    if not work and not fields.has("approval"):
        hint = f"Give it one of {', '.join(_WORK)}, or approval."
        fields.problem((), "The task does nothing", hint)
        return
    what = work[0] if work else "approval"
    if what != "uses":
        useless = [key for key in _ONLY_TOOLS if fields.has(key)]
        for key in useless:
            hint = "Put it on the tasks inside." if what in ("repeat", "tasks") else ""
            fields.problem((key,), f"`{key}` has no effect on a task with `{what}`", hint)
    if what not in ("uses", "workflow") and fields.has("with"):
        fields.problem(("with",), f"`with` has no effect on a task with `{what}`")
    if not work and fields.has("foreach"):
        fields.problem(("foreach",), "`foreach` needs something to do for each item")
    if fields.has("max_parallel") and not fields.has("foreach"):
        fields.problem(("max_parallel",), "`max_parallel` has no effect without `foreach`")
    if fields.has("join") and not fields.has("needs"):
        fields.problem(("join",), "`join` has no effect without `needs`")


def _condition(fields: Fields, key: str) -> str | None:
    if key not in fields.data:
        return None
    value = fields.data[key]
    if isinstance(value, bool):
        return "true" if value else "false"
    return fields.text(key) or None


def _foreach(fields: Fields) -> Any:
    if not fields.has("foreach"):
        return None
    value = fields.data["foreach"]
    if isinstance(value, list):
        if not value:
            fields.problem(("foreach",), "`foreach` over an empty list never runs")
        elif len(value) > MAX_FANOUT:
            fields.problem(("foreach",), f"`foreach` has more than {MAX_FANOUT:,} items")
        return value
    if not isinstance(value, str) or "{{" not in value:
        found = kind_of(value)
        hint = 'For example "{{ inputs.services }}" or [a, b].'
        fields.problem(("foreach",), f"`foreach` must be a list or a template, found {found}", hint)
        return None
    return value


def _repeat(fields: Fields, defaults: Defaults, findings: list[Finding]) -> RepeatDef:
    path: Path = (*fields.path, "repeat")
    own = Fields(fields.data["repeat"], path, findings, REPEAT_KEYS)
    for key in ("max", "tasks"):
        if own.data and not own.has(key):
            own.problem((), f"`repeat` needs `{key}`", "A loop has a bound and tasks.")
    return RepeatDef(
        max=own.integer("max", 1, 1, MAX_ITERATIONS),
        until=_condition(own, "until"),
        tasks=_tasks(own, (*path, "tasks"), defaults, findings) if own.has("tasks") else {},
    )


def _approval(fields: Fields, findings: list[Finding]) -> Approval | None:
    if isinstance(fields.data["approval"], str):
        return Approval(message=fields.text("approval"))
    own = Fields(fields.data["approval"], (*fields.path, "approval"), findings, APPROVAL_KEYS)
    if isinstance(fields.data["approval"], dict) and not own.has("message"):
        own.problem((), "`approval` needs a `message`", "The question that a person answers.")
    expires = own.duration("expires")
    approvers = own.names("approvers")
    for at, name in enumerate(approvers):
        if not _APPROVER.fullmatch(name):
            hint = "The name of an API key, or `github:` and a login."
            own.problem(("approvers", at), f"`{name[:80]}` cannot name a person", hint)
    if own.has("approvers") and not approvers:
        own.problem(("approvers",), "Nobody could approve", "Name somebody, or leave it out.")
    made = Approval(message=own.text("message"), approvers=approvers)
    return made if expires is None else msgspec.structs.replace(made, expires_s=expires)


def _undo(fields: Fields, findings: list[Finding]) -> UndoDef | None:
    own = Fields(fields.data["undo"], (*fields.path, "undo"), findings, UNDO_KEYS)
    if own.data and not own.has("uses"):
        own.problem((), "`undo` needs `uses`", "The tool that takes the effect back.")
    return UndoDef(uses=own.text("uses"), with_=own.mapping("with") if own.has("with") else None)

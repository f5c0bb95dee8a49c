"""Creating an order: everything is checked before anything is written.

Nothing here waits for a network: a repository on this machine is looked at (and remembered for a
few seconds), a remote one is only checked for form and fetched by the order's first task.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from typing import Any

import msgspec

from agent_work_orders import ids
from agent_work_orders.errors import BadRequest, Permanent, Refused, TooLarge
from agent_work_orders.repositories import origin as origins
from agent_work_orders.repositories import refname, url
from agent_work_orders.repositories.history import RemoteHeads
from agent_work_orders.repositories.mirror import Mirror
from agent_work_orders.repositories.url import RepositoryUrl
from agent_work_orders.sandbox_manager.sandbox_types import PLANNED_TYPES, SANDBOX_TYPES
from agent_work_orders.security.roles import Caller
from agent_work_orders.state_manager.records import OrderRecord
from agent_work_orders.tools import commit_message
from agent_work_orders.tools.tool import Order
from agent_work_orders.work_orders import workflows
from agent_work_orders.work_orders.cache import Compiled
from agent_work_orders.work_orders.context import Context, LiveContext
from agent_work_orders.work_orders.order_facts import PRIORITIES, OrderFacts, to_journal
from agent_work_orders.work_orders.read_side import projection
from agent_work_orders.workflow_engine import growth
from agent_work_orders.workflow_engine import inputs as declared
from agent_work_orders.workflow_engine import plan as plans
from agent_work_orders.workflow_engine.events import Submitted

PROMPT_LIMIT_CHARS = 64 * 1024
TITLE_LIMIT_CHARS = 200
_UNTYPED = (
    "inputs", "agent", "workflow_source", "workflow_type", "idempotency_key", "pipeline_task",
    "github",
)  # fmt: skip
_DELIVERING = ("git.push", "forge.open_pull_request")
_HALF = re.compile("[\ud800-\udfff]")


class NewOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody asks for, as yet unchecked."""

    repository_url: str
    workflow_type: str = "agent_workflow_plan_build_test"
    workflow_source: str | None = None
    """A workflow given as YAML instead of by name."""
    sandbox_type: str | None = None
    github_issue_number: str | None = None
    initial_prompt: str | None = None
    title: str | None = None
    base_branch: str | None = None
    priority: str = "medium"
    inputs: dict[str, Any] = {}
    agent: dict[str, Any] | None = None
    agent_timeout_s: float | None = None
    idempotency_key: str | None = None
    pipeline_task: dict[str, Any] | None = None
    """The task that it came as: kept with the order, and shown to whoever asks for the task."""
    github: dict[str, Any] | None = None
    """What it is about on the hub; only intake.py says so."""


async def check(
    context: Context, new: NewOrder, caller: Caller
) -> tuple[Order, Compiled, dict[str, Any]]:
    """What would be submitted, or Refused. Writes nothing."""
    caller.need("operate")
    for field in _UNTYPED:
        _check_characters(field, getattr(new, field))
    origin = url.parse(new.repository_url, origins=context.policy.git_origins)
    caller.need_repository(origin.key)
    compiled = await _workflow(context, new)
    given = declared.accept(compiled.plan.inputs, new.inputs)
    growth.check(compiled.plan, given)
    order = _order(context, new, origin, compiled)
    _check_asked(order, compiled)
    _check_hub(context, order, compiled)
    await check_repository(context, origin, new.base_branch)
    return order, compiled, given


async def submit(context: LiveContext, new: NewOrder, caller: Caller) -> OrderRecord:
    """Check, keep, start. Returns the order as it is right after."""
    order, compiled, given = await check(context, new, caller)
    order_id = await _claim(context, new, caller)
    await workflows.keep(context, compiled, caller.name)
    # One commit: the event, the line in the list and the audit row. For an order that is there
    # (the same idempotency key) the engine returns it as it is.
    running = await context.runs.submit(
        order_id,
        compiled.plan,
        Submitted(
            at_ms=context.clock.now_ms(),
            plan_hash=compiled.plan_hash,
            inputs=given,
            order=_facts(order, order_id, new, caller, compiled),
            by=caller.name,
        ),
    )
    return projection.record(running, 1, context.runs.held_until_ms(order_id))


async def _workflow(context: Context, new: NewOrder) -> Compiled:
    """Beside the loop: a workflow of 10,000 tasks takes half a second."""
    if (source := new.workflow_source) is not None:
        return await asyncio.to_thread(workflows.compile_source, context, source, "workflow_source")
    ready = workflows.ready(context, new.workflow_type)
    if ready is not None:
        return ready
    return await asyncio.to_thread(workflows.compile_named, context, new.workflow_type)


def _order(context: Context, new: NewOrder, origin: RepositoryUrl, compiled: Compiled) -> Order:
    prompt = check_text("initial_prompt", new.initial_prompt or "", PROMPT_LIMIT_CHARS)
    title = check_text("title", new.title or "", TITLE_LIMIT_CHARS)
    issue = new.github_issue_number
    if issue is not None:
        issue = refname.check_issue_number(issue)
    if new.base_branch is not None:
        refname.check_branch(new.base_branch)
    if new.priority.lower() not in PRIORITIES:
        raise Refused(
            "priority_invalid",
            f"{new.priority[:40]!r} is not a priority",
            hint=f"Use one of {', '.join(PRIORITIES)}.",
            field="priority",
        )
    agent = new.agent or {"name": context.policy.default_agent}
    chosen = context.agents.create(agent)
    missing = chosen.check()
    if missing is not None:
        raise Refused(
            "agent_missing",
            f"The agent {chosen.name} cannot run here: {missing}",
            hint="Install it, or choose another agent.",
            field="agent",
        )
    return Order(
        order_id="",
        repository_url=origin.url,
        repository=origin.key,
        base_branch=new.base_branch,
        branch="",
        sandbox_type=_sandbox_type(new.sandbox_type or context.policy.default_sandbox),
        agent=agent,
        agent_timeout_s=check_timeout(new.agent_timeout_s),
        workflow=compiled.plan.name,
        workflow_kind=compiled.plan.kind,
        delivers=any(task.uses in _DELIVERING for task in plans.by_pattern(compiled.plan).values()),
        prompt=prompt,
        github_issue_number=issue,
        title=title
        or (commit_message.one_line(prompt)[:TITLE_LIMIT_CHARS] if prompt.strip() else ""),
        github=new.github,
    )


def _check_asked(order: Order, compiled: Compiled) -> None:
    """Planning and building need something to plan or build; testing explains itself."""
    if order.prompt.strip() or order.title.strip() or order.github_issue_number is not None:
        return
    for task in plans.by_pattern(compiled.plan).values():
        if task.uses == "agent.command" and task.with_.get("command") in ("plan", "build"):
            raise Refused(
                "prompt_missing",
                f"{compiled.plan.name} needs to be told what to do",
                hint="Give a prompt, a title or an issue.",
                field="initial_prompt",
            )


def _check_hub(context: Context, order: Order, compiled: Compiled) -> None:
    """What speaks with GitHub needs a repository there, and credentials."""
    uses = {task.uses or "" for task in plans.by_pattern(compiled.plan).values()}
    if not any(name.startswith("github.") for name in uses):
        return
    try:
        context.forges.hub_at(order.repository, order.repository_url)
    except Permanent as error:
        raise Refused(
            "github_not_configured",
            f"{compiled.plan.name} speaks with GitHub. {error.message}",
            hint=error.hint,
            field="repository_url",
        ) from error


def _facts(
    order: Order, order_id: str, new: NewOrder, caller: Caller, compiled: Compiled
) -> dict[str, Any]:
    branch = refname.branch_name(compiled.plan.branch_prefix, order.github_issue_number, order_id)
    whole = msgspec.structs.replace(order, order_id=order_id, branch=branch)
    return to_journal(
        OrderFacts(
            **msgspec.structs.asdict(whole),
            priority=PRIORITIES.index(new.priority.lower()),
            metered=not caller.local,
            pipeline_task=new.pipeline_task,
        )
    )


async def _claim(context: LiveContext, new: NewOrder, caller: Caller) -> str:
    order_id = ids.new_order_id()
    if new.idempotency_key is None:
        return order_id
    body = msgspec.json.encode(msgspec.structs.replace(new, idempotency_key=None), order="sorted")
    return await context.store.idempotency.claim(
        caller.name,
        new.idempotency_key,
        body_hash=hashlib.sha256(body).hexdigest(),
        order_id=order_id,
        at_ms=context.clock.now_ms(),
    )


async def check_repository(
    context: Context, origin: RepositoryUrl, base_branch: str | None
) -> None:
    """Whether an order can start there, as far as this machine can tell at once."""
    if origin.kind != "path":
        return
    now_ms = context.clock.now_ms()
    heads = context.cache.heads(origin.key, now_ms)
    if heads is None:
        await asyncio.to_thread(origins.check_path, origin)
        heads = await _heads(context, origin)
        context.cache.put_heads(origin.key, heads, now_ms)
    Mirror(context.mirrors.git, context.mirrors.path(origin.key), origin, heads).resolve_base(
        base_branch
    )


async def _heads(context: Context, origin: RepositoryUrl) -> RemoteHeads:
    """At this moment a path without a repository is the caller's mistake."""
    try:
        return await origins.list_heads(context.mirrors.git, origin)
    except Permanent as error:
        if error.code != "not_a_repository":
            raise
        raise Refused(
            "not_a_repository",
            f"There is no git repository at {origin.display}",
            hint="Give the folder that contains .git, or a bare repository.",
            field="repository_url",
        ) from error


def _sandbox_type(name: str) -> str:
    if name in SANDBOX_TYPES:
        return name
    later = " It is planned, but not there yet." if name in PLANNED_TYPES else ""
    raise Refused(
        "sandbox_type_invalid",
        f"There is no sandbox type {name[:40]!r}.{later}",
        hint=f"Use one of {', '.join(SANDBOX_TYPES)}.",
        field="sandbox_type",
    )


def check_timeout(seconds: float | None) -> float | None:
    if seconds is not None and not 1 <= seconds <= 86_400:
        raise Refused(
            "timeout_invalid",
            "A timeout is between one second and one day",
            hint="Give seconds.",
            field="agent_timeout_s",
        )
    return seconds


def check_text(field: str, text: str, limit: int) -> str:
    if len(text) > limit:
        raise TooLarge(
            "text_too_long",
            f"{field} has {len(text)} characters; {limit} are allowed",
            hint="Put the long text into a file of the repository.",
            field=field,
        )
    _check_characters(field, text)
    return text


def _check_characters(field: str, value: Any) -> None:
    """What no file, argument or database could hold is refused, however deep it stands."""
    if isinstance(value, str) and ("\0" in value or _HALF.search(value)):
        raise BadRequest(
            "text_invalid",
            f"{field} contains NUL or half a character",
            hint="Send UTF-8 text.",
            field=field,
        )
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple):
        for item in value:
            _check_characters(field, item)

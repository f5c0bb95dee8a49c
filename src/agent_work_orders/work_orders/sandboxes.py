"""Sandboxes in the hands of people: list them, look at one, remove one.

A sandbox is meant by its identifier, or by its order (an id or any unique beginning of one): then
it is the one that the order's agents work in. Nobody sees one of an order that they may not see.
What is removed is kept before: what no commit has goes into the mirror, where `inspect.work` finds
it, and the task whose work it is goes on with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import msgspec

from agent_work_orders.errors import Conflict, Failed, NotFound, Refused
from agent_work_orders.sandbox_manager.sandbox import (
    Isolation,
    Record,
    Sandbox,
    Sandboxes,
    Status,
    sandbox_name,
)
from agent_work_orders.sandbox_manager.sandbox_types import SandboxType
from agent_work_orders.security.roles import Action, Caller
from agent_work_orders.state_manager.records import OrderRecord
from agent_work_orders.tools.workspaces import REMOVED, Workspace
from agent_work_orders.work_orders import find, inspect
from agent_work_orders.work_orders.context import Context, LiveContext

THERE: tuple[Status, ...] = ("PROVISIONING", "ACTIVE")
LEAVE_WITHIN_S = 20.0
"""A task whose programs were killed says what came of it, and keeps its files, in seconds."""
INTERRUPTED_AGAIN_S = 2.0
"""Long enough for that, and for the next program of the same task not to get far."""


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    status: tuple[str, ...] = ()
    sandbox_type: str | None = None
    repository: str | None = None
    """Key of the repository."""
    order_id: str | None = None


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A record, and what only the moment knows."""

    record: Record
    repository: str
    """Its key; empty where the order is not known."""
    in_use: bool
    """By a task, or by somebody's program: of this process only, which then owns the directory."""


class Page(msgspec.Struct, frozen=True, kw_only=True):
    sandboxes: list[Seen]
    total_count: int
    has_more: bool


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    seen: Seen
    head_sha: str | None
    disk_bytes: int | None


class Destroyed(msgspec.Struct, frozen=True, kw_only=True):
    seen: Seen
    already: bool
    """It was gone before."""
    kept_sha: str | None
    """What no commit had, in the order's mirror; None when there was nothing of that."""


class TypeRow(msgspec.Struct, frozen=True, kw_only=True):
    """What a type keeps apart, and why none of it can be made here (None: one can)."""

    name: SandboxType
    isolation: Isolation
    problem: str | None
    hint: str | None


async def page(
    context: Context, caller: Caller, wanted: Filter, *, limit: int = 50, offset: int = 0
) -> Page:
    """Newest first; only those of repositories that the caller may see."""
    caller.need("read")
    found = [one for one in await context.sandboxes.records() if _matches(one, wanted)]
    found.sort(key=lambda one: (one.created_at_ms, one.sandbox_identifier), reverse=True)
    if caller.repositories is not None or wanted.repository is not None:
        rows = [(one, await context.store.records.get(one.order_id)) for one in found]
        found = [
            one
            for one, row in rows
            if row is not None
            and caller.sees(row.repository)
            and wanted.repository in (None, row.repository)
        ]
    return Page(
        sandboxes=[await _seen(context, one) for one in found[offset : offset + limit]],
        total_count=len(found),
        has_more=offset + limit < len(found),
    )


async def show(context: Context, wanted: str, caller: Caller) -> Shown:
    """NotFound `sandbox_unknown`, `order_unknown`; Conflict `order_ambiguous`."""
    record, _ = await record_of(context, wanted, caller)
    seen = await _seen(context, record)
    sandbox = await context.sandboxes.found(record.order_id, record.part)
    if sandbox is None or record.status not in THERE:
        return Shown(seen=seen, head_sha=None, disk_bytes=None)
    state = await sandbox.state()
    return Shown(seen=seen, head_sha=state.head_sha, disk_bytes=state.disk_bytes)


async def destroy(
    context: LiveContext, wanted: str, caller: Caller, *, force: bool = False
) -> Destroyed:
    """End what runs in it and remove it; a second time changes nothing.

    Conflict `sandbox_in_use` while somebody works in it; with `force` their programs are killed,
    and a task that had them fails as if they had crashed. Whatever keeps its files from being
    kept keeps it from being removed.
    """
    record, row = await record_of(context, wanted, caller, "operate")
    if record.status == "TERMINATED":
        return Destroyed(seen=await _seen(context, record), already=True, kept_sha=None)
    name = sandbox_name(record.order_id, record.part)
    _need_free(context, record, force)
    await context.store.audit.append(
        at_ms=context.clock.now_ms(),
        who=caller.name,
        what="sandbox.destroy",
        target=record.sandbox_identifier,
        order_id=record.order_id,
        details={"force": force},
    )
    _need_free(context, record, force)
    async with _alone(context, name, record.sandbox_identifier):
        kept = None if record.part else await keep(context, row, record.order_id)
        sandbox = await context.workspaces.sandbox(name)
        sandbox = sandbox or await context.sandboxes.found(record.order_id, record.part)
        context.workspaces.forget(name)
        if sandbox is not None:
            await sandbox.cleanup()
    fields = {"sandbox_identifier": record.sandbox_identifier, "kept_sha": kept, "by": caller.name}
    context.log(record.order_id, "sandbox_cleanup_completed", "info", fields)
    gone, _ = await record_of(context, record.sandbox_identifier, caller)
    return Destroyed(seen=await _seen(context, gone), already=False, kept_sha=kept)


async def keep(context: LiveContext, row: OrderRecord | None, order_id: str) -> str | None:
    """Bring what no commit has from an order's sandbox to its mirror. Its commit there; None when
    there was nothing of that. Whoever calls has the sandbox alone."""
    sandbox = await context.workspaces.sandbox(order_id)
    if sandbox is None:
        return None
    found = None if row is None else await inspect.span(context, row)
    if row is None or found is None:
        raise Conflict(
            "sandbox_order_unknown",
            f"{sandbox.sandbox_identifier} is of an order that is not known",
            hint="The next start sets its files aside, below `lost` in the data directory.",
        )
    workspace = Workspace(
        mirrors=context.mirrors,
        mirror=context.mirrors.at(row.repository),
        sandbox=sandbox,
        base_branch="",
        base_sha=found[0],
        head_sha=found[1],
        order_id=order_id,
    )
    holder = await sandbox.holder()
    if holder:
        sha = await workspace.set_aside(holder)
    else:
        sha = await sandbox.snapshot(f"{REMOVED}{context.clock.now_ms()}")
    same = await workspace.mirror.tree_of(sha) == await workspace.mirror.tree_of(found[1])
    return None if same else sha


async def keep_expired(context: LiveContext, open_orders: set[str], now_ms: int) -> bool:
    """Before sandboxes of open orders are removed because nobody used them for long. False, and
    the log says why, when something could not be kept."""
    whole = True
    for record in await context.sandboxes.records():
        expired = record.status == "ACTIVE" and record.expires_at_ms <= now_ms
        if not expired or record.part or record.order_id not in open_orders:
            continue
        locks = context.sandboxes.locks
        if locks.users(record.order_id):
            continue
        try:
            async with locks.alone(record.order_id):
                row = await context.store.records.get(record.order_id)
                await keep(context, row, record.order_id)
        except (Failed, Refused, OSError) as error:
            whole = False
            told = {"sandbox_identifier": record.sandbox_identifier, "error": str(error)}
            context.log(record.order_id, "sandbox_cleanup_failed", "warning", told)
    return whole


async def types(sandboxes: Sandboxes, names: tuple[SandboxType, ...]) -> list[TypeRow]:
    """The isolation table: one row for each type."""
    rows = []
    for name in names:
        problem = await sandboxes.problem(name)
        rows.append(
            TypeRow(
                name=name,
                isolation=sandboxes.isolation(name),
                problem=None if problem is None else problem.message,
                hint=None if problem is None else problem.hint,
            )
        )
    return rows


async def record_of(
    context: Context, wanted: str, caller: Caller, action: Action = "read"
) -> tuple[Record, OrderRecord | None]:
    """A sandbox by its identifier, or that of an order's agents; and the order's own record. Who
    may not see it is told that there is none, who may see it and not do this is told so."""
    records = await context.sandboxes.records()
    for record in records:
        if record.sandbox_identifier == wanted:
            row = await context.store.records.get(record.order_id)
            if caller.repositories is None or (row is not None and caller.sees(row.repository)):
                caller.need(action)
                return record, row
    if "-wo-" in wanted:
        raise unknown(wanted)
    row = await find.record_of(context, wanted, caller)
    caller.need(action)
    for record in records:
        if record.order_id == row.agent_work_order_id and not record.part:
            return record, row
    raise unknown(row.agent_work_order_id)


def unknown(wanted: str) -> NotFound:
    return NotFound(
        "sandbox_unknown",
        f"There is no sandbox {wanted[:160]}, and there was none",
        hint="`awo sandbox list --all` shows those that there are and were.",
    )


def in_use(identifier: str) -> Conflict:
    return Conflict(
        "sandbox_in_use",
        f"Somebody works in {identifier}: a task of the order, or a person's program",
        hint="Wait for its end, or pause or cancel the order. Only "
        "`awo sandbox destroy ID --force` (over HTTP `?force=true`) does not wait.",
    )


def _need_free(context: Context, record: Record, force: bool) -> None:
    name = sandbox_name(record.order_id, record.part)
    if not force and context.sandboxes.locks.users(name):
        raise in_use(record.sandbox_identifier)


def _matches(record: Record, wanted: Filter) -> bool:
    return (
        (not wanted.status or record.status in wanted.status)
        and wanted.sandbox_type in (None, record.sandbox_type)
        and wanted.order_id in (None, record.order_id)
    )


async def _seen(context: Context, record: Record) -> Seen:
    row = await context.store.records.get(record.order_id)
    name = sandbox_name(record.order_id, record.part)
    return Seen(
        record=record,
        repository="" if row is None else row.repository,
        in_use=context.sandboxes.locks.in_use(name),
    )


@asynccontextmanager
async def _alone(context: LiveContext, name: str, identifier: str) -> AsyncIterator[None]:
    """Whoever has it is made to leave. Conflict `sandbox_in_use` when they do not."""
    entered = asyncio.Event()
    making = asyncio.ensure_future(_make_leave(context, name, entered))
    async with AsyncExitStack() as held:
        try:
            async with asyncio.timeout(LEAVE_WITHIN_S):
                await held.enter_async_context(context.sandboxes.locks.alone(name))
        except TimeoutError:
            raise in_use(identifier) from None
        finally:
            # What it kills from now on would be ours.
            entered.set()
            await making
        yield


async def _make_leave(context: LiveContext, name: str, entered: asyncio.Event) -> None:
    while not entered.is_set() and context.sandboxes.locks.in_use(name):
        sandbox: Sandbox | None = await context.workspaces.sandbox(name)
        if sandbox is not None:
            await sandbox.interrupt()
        try:
            async with asyncio.timeout(INTERRUPTED_AGAIN_S):
                await entered.wait()
        except TimeoutError:
            continue

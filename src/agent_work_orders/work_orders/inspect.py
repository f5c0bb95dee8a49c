"""Looking at an order: its record, tasks, git progress, diff, logs and evidence.

Numbers about commits and files are read from git when asked for, never stored.
"""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from agent_work_orders.errors import Environmental, NotFound
from agent_work_orders.github_integration.local_forge import Review
from agent_work_orders.repositories.history import Diff, Progress
from agent_work_orders.repositories.refname import is_sha, order_ref
from agent_work_orders.security.roles import Caller
from agent_work_orders.state_manager.artifacts import Artifact
from agent_work_orders.state_manager.logbook import EVERY_LINE, LogFilter, LogPage
from agent_work_orders.state_manager.records import (
    OrderBy,
    OrderFilter,
    OrderPage,
    OrderRecord,
)
from agent_work_orders.tools import commit_message, order_branch
from agent_work_orders.tools.workspaces import REMOVED, UNFINISHED, unfinished_label
from agent_work_orders.work_orders import find
from agent_work_orders.work_orders.context import Context
from agent_work_orders.work_orders.read_side import projection
from agent_work_orders.workflow_engine import phases
from agent_work_orders.workflow_engine.run import Run

MANY_TASKS = 1_000
"""From here on they are put together beside the loop: 10,000 take a third of a second."""
DIFF_LIMIT_BYTES = 4 * 1024 * 1024
PATCH_LIMIT_BYTES = 64 * 1024 * 1024
"""For programs, which need all of it; it goes through memory once."""
NO_PROGRESS = Progress(
    commit_count=0,
    files_changed=0,
    lines_added=0,
    lines_removed=0,
    last_commit_message=None,
)


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """An order with what git says of it."""

    record: OrderRecord
    progress: Progress


class PhaseProgress(msgspec.Struct, frozen=True, kw_only=True):
    phase: str
    started_at_ms: int
    completed_at_ms: int | None
    commits: int


async def show(context: Context, wanted: str, caller: Caller) -> Shown:
    row = await find.record_of(context, wanted, caller)
    run = await find.run_of(context, row.agent_work_order_id)
    record = projection.record(run, row.run_seq, context.runs.held_until_ms(run.run_id))
    seen = await progress(context, row)
    if seen.missing:
        warnings = [*record.warnings, seen.missing]
        record = msgspec.structs.replace(record, warnings=warnings)
    return Shown(record=record, progress=seen)


async def page(
    context: Context,
    caller: Caller,
    wanted: OrderFilter,
    *,
    order_by: OrderBy = "created_at",
    descending: bool = True,
    limit: int = 50,
    offset: int = 0,
) -> OrderPage:
    """Orders, newest first; only those of repositories that the caller may see."""
    seen = msgspec.structs.replace(wanted, repositories=caller.repositories)
    return await context.store.records.page(
        seen, order_by=order_by, descending=descending, limit=limit, offset=offset
    )


async def tasks(context: Context, wanted: str, caller: Caller) -> list[dict[str, Any]]:
    row = await find.record_of(context, wanted, caller)
    run = await find.run_of(context, row.agent_work_order_id)
    if len(run.tasks) < MANY_TASKS:
        return projection.tasks(run)
    return await asyncio.to_thread(projection.tasks, run)


async def logs(
    context: Context,
    wanted: str,
    caller: Caller,
    lines: LogFilter = EVERY_LINE,
    *,
    limit: int = 100,
    offset: int = 0,
    descending: bool = False,
) -> LogPage:
    row = await find.record_of(context, wanted, caller)
    return await context.store.logbook.page(
        row.agent_work_order_id, lines, limit=limit, offset=offset, descending=descending
    )


async def progress(context: Context, row: OrderRecord) -> Progress:
    try:
        found = await span(context, row)
    except Environmental as error:
        if error.code != "order_commits_missing":
            raise
        return msgspec.structs.replace(NO_PROGRESS, missing=error.message)
    if found is None:
        return NO_PROGRESS
    return await context.mirrors.at(row.repository).progress(*found)


async def phase_history(
    context: Context, wanted: str, caller: Caller
) -> tuple[OrderRecord, Progress, list[PhaseProgress]]:
    row = await find.record_of(context, wanted, caller)
    run = await find.run_of(context, row.agent_work_order_id)
    seen = await progress(context, row)
    counts: dict[str, int] = {}
    for commit in seen.commits:
        phase = commit.trailers.get(commit_message.PHASE, "")
        counts[phase] = counts.get(phase, 0) + 1
    history = [
        PhaseProgress(
            phase=one.phase,
            started_at_ms=one.started_ms,
            completed_at_ms=one.ended_ms,
            commits=counts.get(one.phase, 0),
        )
        for one in phases.history(run)
    ]
    return projection.record(run, row.run_seq), seen, history


async def diff(context: Context, wanted: str, caller: Caller, *, head: str | None = None) -> Diff:
    """What the order has changed so far, or had with its commit `head`, as a bounded patch.
    NotFound `commit_unknown` for a commit that is not the order's."""
    row = await find.record_of(context, wanted, caller)
    found = await span(context, row)
    if found is None and head is None:
        return Diff(text=b"", truncated=False)
    if found is None:
        raise unknown_commit()
    mirror = context.mirrors.at(row.repository)
    base, newest = found
    if head is not None and head != newest:
        if not any(commit.sha == head for commit in await mirror.log(base, newest)):
            raise unknown_commit()
        newest = head
    return await mirror.diff(base, newest, limit_bytes=DIFF_LIMIT_BYTES)


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What an order has come to in its mirror, or what was left after that: by an agent that
    failed, or in a sandbox that is gone."""

    base: str
    head: str
    """The order's own newest commit."""
    sha: str
    ref: str
    """A reference of the mirror that is at it."""
    task: str | None = None
    """Whose unfinished work it is; None when it is the order's own newest commit, or when it is
    not known."""


async def work(context: Context, wanted: str, caller: Caller) -> tuple[OrderRecord, Work | None]:
    """None before the order has begun. Environmental `order_commits_missing`."""
    row = await find.record_of(context, wanted, caller)
    order_id = row.agent_work_order_id
    found = await span(context, row)
    if found is None:
        return row, None
    base, head = found
    newest = Work(base=base, head=head, sha=head, ref=order_ref(order_id, "head"))
    mirror = context.mirrors.at(row.repository)
    run = await find.run_of(context, order_id)
    refs = await mirror.refs(order_ref(order_id, "snapshots"))
    names = {sha: name for name, sha in refs.items()}
    left: list[tuple[int, Work]] = []
    for sha, task in await _unfinished(context, run, refs):
        if sha not in names or await mirror.lacks([sha]) or not await mirror.is_ancestor(head, sha):
            continue
        if await mirror.tree_of(sha) != await mirror.tree_of(head):
            at_ms = (await mirror.log(head, sha))[0].at_ms
            kept = Work(base=base, head=head, sha=sha, ref=names[sha], task=task)
            left.append((at_ms, kept))
    return row, max(left, key=lambda one: one[0])[1] if left else newest


async def _unfinished(
    context: Context, run: Run, refs: dict[str, str]
) -> list[tuple[str, str | None]]:
    """Snapshots that may be the last that is known of its files, and of which task they are."""
    ended = sorted(run.tasks.items(), key=lambda one: one[1].ended_ms or 0, reverse=True)
    found: list[tuple[str, str | None]] = []
    for path, task in ended:
        kept = str((task.outputs or {}).get("kept_sha", ""))
        if task.state in ("failed", "cancelled") and is_sha(kept):
            found.append((kept, path))
    if run.outcome == "completed" or (await context.sandboxes.state(run.run_id)).exists:
        return found  # it went on without them, or with files that are newer
    holders = {unfinished_label(f"{run.run_id}:{path}"): path for path in run.tasks}
    for name, sha in refs.items():
        label = name.rpartition("/")[2]
        if label.startswith((UNFINISHED, REMOVED)):
            found.append((sha, holders.get(label)))
    return found


async def patch(context: Context, wanted: str, caller: Caller) -> tuple[Diff, str | None]:
    """What the order has made, as a patch for programs: whole, with binary files. And whose
    unfinished work is in it."""
    row, found = await work(context, wanted, caller)
    if found is None:
        return Diff(text=b"", truncated=False), None
    mirror = context.mirrors.at(row.repository)
    made = await mirror.diff(found.base, found.sha, limit_bytes=PATCH_LIMIT_BYTES, binary=True)
    return made, found.task


def unknown_commit() -> NotFound:
    return NotFound(
        "commit_unknown",
        "The order has no such commit",
        hint="The list of the order's commits has their full ids.",
    )


async def artifacts(context: Context, wanted: str, caller: Caller) -> list[Artifact]:
    row = await find.record_of(context, wanted, caller)
    return list(await context.store.artifacts.list(row.agent_work_order_id))


async def artifact(
    context: Context, wanted: str, sha256: str, caller: Caller
) -> tuple[Artifact, bytes]:
    """One of the order's own artifacts, verified."""
    for one in await artifacts(context, wanted, caller):
        if one.sha256 == sha256:
            return one, await context.store.artifacts.read(sha256)
    raise NotFound(
        "artifact_unknown",
        "The order has no such artifact",
        hint="`awo artifacts ORDER` lists what the order kept.",
    )


def review(context: Context, row: OrderRecord) -> Review | None:
    """The review bundle of an order on a plain repository."""
    for one in context.reviews.reviews(row.repository):
        if one.proposal.order_id == row.agent_work_order_id:
            return one
    return None


async def span(context: Context, row: OrderRecord) -> tuple[str, str] | None:
    """(base, head) in the mirror, once the order has begun. Environmental
    `order_commits_missing`."""
    order_id = row.agent_work_order_id
    entry = await context.store.ledger.find(f"{order_id}:base")
    if entry is None or entry.receipt is None:
        return None
    first = str(entry.receipt["base_sha"])
    return await order_branch.span(context.mirrors, row.repository, order_id, first)

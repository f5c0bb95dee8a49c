"""The commits of an order, one by one. Read from git when asked for, never stored."""

from __future__ import annotations

import msgspec

from agent_work_orders.repositories.changes import EMPTY_TREE, LOG_LIMIT
from agent_work_orders.repositories.history import Commit, CommitDetail, Diff
from agent_work_orders.repositories.refname import is_sha
from agent_work_orders.security.roles import Caller
from agent_work_orders.work_orders import find, inspect
from agent_work_orders.work_orders.context import Context


class CommitPage(msgspec.Struct, frozen=True, kw_only=True):
    commits: tuple[tuple[Commit, CommitDetail | None], ...]
    """Newest first; the detail is missing behind messages of unusual length."""
    has_more: bool


async def page(context: Context, wanted: str, caller: Caller, *, limit: int = 100) -> CommitPage:
    """NotFound `order_unknown`. Empty until the order has begun."""
    row = await find.record_of(context, wanted, caller)
    span = await inspect.span(context, row)
    if span is None:
        return CommitPage(commits=(), has_more=False)
    mirror = context.mirrors.at(row.repository)
    found = await mirror.log(*span, limit=limit + 1)
    details = await mirror.details(*span, limit=limit)
    return CommitPage(
        commits=tuple((commit, details.get(commit.sha)) for commit in found[:limit]),
        has_more=len(found) > limit,
    )


async def diff(context: Context, wanted: str, sha: str, caller: Caller) -> Diff:
    """What one of the order's own commits changed against its first parent, as a bounded patch.
    NotFound `commit_unknown` for every other commit, also of the same repository."""
    row = await find.record_of(context, wanted, caller)
    span = await inspect.span(context, row)
    if span is not None and is_sha(sha):
        mirror = context.mirrors.at(row.repository)
        for commit in await mirror.log(*span, limit=LOG_LIMIT):
            if commit.sha == sha:
                parent = commit.parents[0] if commit.parents else EMPTY_TREE
                return await mirror.diff(parent, sha, limit_bytes=inspect.DIFF_LIMIT_BYTES)
    raise inspect.unknown_commit()

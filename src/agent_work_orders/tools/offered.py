"""An order's own pull request: which one it is, and what people did to it meanwhile.

The ledger has its number from the moment it was opened, and it is looked at by that number before
anything is done: its title, its marker, its base and its branch are all a person's to change. A
closed or merged one is a person's decision. The order ends with it; it never opens another, except
after it took back its own by itself (a rollback).
"""

from __future__ import annotations

import msgspec

from agent_work_orders.errors import Permanent
from agent_work_orders.github_integration.forge import PullRequest, Texts
from agent_work_orders.github_integration.forges import ServedRepository
from agent_work_orders.tools.tool import ToolContext
from agent_work_orders.tools.workspaces import Workspace

OPENING, CLOSING = "open the pull request", "close the pull request"


class Offered(msgspec.Struct, frozen=True, kw_only=True):
    """What the ledger says of it."""

    number: int | None
    head: str
    """The commit that we offered last."""
    texts: tuple[Texts, ...]
    """Of what may stand there as we wrote it last."""
    closed: frozenset[int]
    """Those that we closed ourselves."""
    doubtful: bool
    """One may have been opened whose number was lost in a crash."""
    was_ready: bool
    """We left it as no draft: if it is one now, a person wanted that."""


def key_of(order_id: str) -> str:
    """Under which an order's pull request is found again."""
    return f"{order_id}:pull_request"


async def offered(ctx: ToolContext) -> Offered:
    closed = frozenset(int(entry.intent["number"]) for entry in await ctx.written(CLOSING))
    begun = await ctx.written(OPENING)
    received = [
        (entry.received_at_ms or 0, entry.receipt)
        for entry in begun
        if entry.receipt is not None and int(entry.receipt["number"]) not in closed
    ]
    last = max(received, key=lambda one: one[0])[1] if received else {}
    written = [entry.intent for entry in begun if entry.receipt is None]
    return Offered(
        number=int(last["number"]) if last else None,
        head=str(last.get("head", "")),
        texts=tuple(
            msgspec.convert(one["texts"], Texts) for one in [last, *written] if "texts" in one
        ),
        closed=closed,
        doubtful=bool(written),
        was_ready=last.get("draft") is False,
    )


async def find(ctx: ToolContext, place: ServedRepository, known: Offered) -> PullRequest | None:
    """As it is now: by its number, else by the order's branch, where its number was lost."""
    if known.number is not None:
        return await place.forge.pull_request(place.repository, known.number)
    return await place.forge.find_pull_request(
        place.repository,
        key_of(ctx.order.order_id),
        ctx.order.branch,
        besides=known.closed,
        settled=known.doubtful,
    )


async def is_merged(found: PullRequest, known: Offered, workspace: Workspace) -> bool:
    """Whether a person merged it with all that the order has made. Permanent
    `pull_request_closed`, `pull_request_merged`."""
    if found.state == "closed":
        raise Permanent(
            "pull_request_closed",
            f"Somebody closed the order's pull request #{found.number}: the order ends with it, "
            "and nothing more was pushed",
            hint=f"To go on, reopen #{found.number} (restore its branch if it was deleted) and "
            "retry the order. Otherwise there is nothing to do.",
            number=found.number,
        )
    if found.state != "merged":
        return False
    head, mirror = workspace.head_sha, workspace.mirror
    known_there = await mirror.has_commit(found.head_sha)
    if head in (found.head_sha, known.head) or (
        known_there and await mirror.is_ancestor(head, found.head_sha)
    ):
        return True
    since = found.head_sha if known_there else known.head or workspace.base_sha
    later = len(await mirror.log(since, head))
    raise Permanent(
        "pull_request_merged",
        f"Somebody merged the order's pull request #{found.number} while it was at work: "
        f"{later} commit{'' if later == 1 else 's'} made since then are not in it",
        hint="What was merged is complete in itself or can be reverted; the commits made since "
        "are kept (`awo diff ORDER`). For the rest, create a new order.",
        number=found.number,
    )

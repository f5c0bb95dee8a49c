"""An order's transcripts for people: a page of one, or where a text stands in all of them."""

from __future__ import annotations

import asyncio

import msgspec

from agent_work_orders.agent_executor.agent import Entry
from agent_work_orders.errors import Refused
from agent_work_orders.security.roles import Caller
from agent_work_orders.work_orders import find
from agent_work_orders.work_orders.context import Context
from agent_work_orders.work_orders.transcripts import Match


class Page(msgspec.Struct, frozen=True, kw_only=True):
    order_id: str
    task: str | None
    tasks: tuple[str, ...]
    entries: tuple[tuple[int, Entry], ...] = ()
    matches: tuple[Match, ...] = ()
    next_after: int
    has_more: bool


async def page(
    context: Context,
    wanted: str,
    caller: Caller,
    *,
    task: str | None,
    after: int = 0,
    limit: int = 500,
) -> Page:
    """Of a task, or of the last one that has a transcript. NotFound `transcript_missing`."""
    order_id = (await find.record_of(context, wanted, caller)).agent_work_order_id
    tasks = tuple(context.transcripts.tasks(order_id))
    chosen = task if task is not None else (tasks[-1] if tasks else None)
    found: list[tuple[int, Entry]] = []
    if chosen is not None:
        found = context.transcripts.read(order_id, chosen, after=after, limit=limit)
    return Page(
        order_id=order_id,
        task=chosen,
        tasks=tasks,
        entries=tuple(found),
        next_after=found[-1][0] if found else after,
        has_more=len(found) >= limit,
    )


async def search(
    context: Context, wanted: str, caller: Caller, text: str, *, task: str | None, limit: int = 100
) -> Page:
    """Matches in all tasks, or in one: an entry each."""
    if not text.strip():
        raise Refused(
            "search_empty",
            "There is nothing to look for",
            hint="Give some text.",
            field="q",
        )
    order_id = (await find.record_of(context, wanted, caller)).agent_work_order_id
    found = await asyncio.to_thread(
        context.transcripts.search, order_id, text, task=task, limit=limit
    )
    return Page(
        order_id=order_id,
        task=task,
        tasks=tuple(context.transcripts.tasks(order_id)),
        matches=found.matches,
        next_after=0,
        has_more=found.has_more,
    )

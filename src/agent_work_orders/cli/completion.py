"""What a shell offers while somebody types: ids, tasks, workflows, statuses. It never fails, never
starts anything, and makes no data directory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from agent_work_orders.cli.client import Looker

Offers = list[tuple[str, str]]
"""What can be typed, and what it is."""

STATUSES = ("pending", "running", "paused", "waiting", "completed", "failed", "cancelled")
# As many as a person looks through.
MOST = 50
_SHORT_CHARS = 11


def statuses(incomplete: str) -> list[str]:
    return [one for one in STATUSES if one.startswith(incomplete)]


def orders(ctx: typer.Context, incomplete: str) -> Offers:
    """By any beginning of an id; newest first."""

    async def ask(client: Looker) -> Offers:
        page = await client.orders(limit=MOST, text=incomplete or None)
        found = [one for one in page["agent_work_orders"] if _id(one).startswith(incomplete)]
        short = len(incomplete) <= _SHORT_CHARS
        return [(_id(one)[:_SHORT_CHARS] if short else _id(one), _about(one)) for one in found]

    return _asked(ctx, ask)


def sandboxes(ctx: typer.Context, incomplete: str) -> Offers:
    """Those that there are, by their own ids and by their orders'."""

    async def ask(client: Looker) -> Offers:
        page = await client.sandboxes(status=("PROVISIONING", "ACTIVE"), limit=MOST)
        offers: Offers = []
        for one in page["sandboxes"]:
            offers.append((str(one["id"]), str(one["status"])))
            if not one["part"]:
                offers.append((_id(one)[:_SHORT_CHARS], f"its order, {one['status']}"))
        return [one for one in offers if one[0].startswith(incomplete)]

    return _asked(ctx, ask)


def tasks(ctx: typer.Context, incomplete: str) -> Offers:
    """Of the order that stands before it."""
    order = str(ctx.params.get("order") or "")

    async def ask(client: Looker) -> Offers:
        found = await client.tasks(order)
        return [
            (str(one["path"]), str(one["state"]))
            for one in found
            if str(one["path"]).startswith(incomplete)
        ]

    return _asked(ctx, ask) if order else []


def workflows(ctx: typer.Context, incomplete: str) -> Offers:
    """By name, and files of this folder."""

    async def ask(client: Looker) -> Offers:
        found = await client.workflows()
        return [
            (str(one["name"]), str(one["description"] or one["origin"]))
            for one in found
            if str(one["name"]).startswith(incomplete)
        ]

    files = [(one.name, "a file") for one in sorted(Path().glob("*.y*ml"))]
    return _asked(ctx, ask) + [one for one in files if one[0].startswith(incomplete)]


def _asked(ctx: typer.Context, ask: Callable[[Looker], Awaitable[Offers]]) -> Offers:
    import asyncio

    try:
        return asyncio.run(_ask(ctx.params.get("home"), ctx.params.get("url"), ask))
    except Exception:  # noqa: BLE001 - a shell that completes has no place for an error
        return []


async def _ask(home: Any, url: str | None, ask: Callable[[Looker], Awaitable[Offers]]) -> Offers:
    from agent_work_orders import settings as setting
    from agent_work_orders.cli import client as clients

    place = clients.Target(home=home, url=url)
    if url is None:
        # What is kept there can be read whoever owns it: no process has to answer.
        from agent_work_orders.bootstrap import open_archive
        from agent_work_orders.cli.in_process import LookingInProcess

        async with open_archive(setting.load(home=home)) as context:
            return await ask(LookingInProcess(context))
    async with clients.looking(place) as client:
        return await ask(client)


def _id(order: Any) -> str:
    return str(order["agent_work_order_id"])


def _about(order: Any) -> str:
    from agent_work_orders.cli.screen import first_line

    what = order["title"] or order["initial_prompt"] or order["workflow_type"]
    return f"{order['status']}: {first_line(what, 50)}"

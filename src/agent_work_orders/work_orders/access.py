"""Repositories that we can reach no longer, or again: their orders wait meanwhile, and say why."""

from __future__ import annotations

from agent_work_orders.errors import Refused
from agent_work_orders.github_integration.forges import full_name_of
from agent_work_orders.repositories import url
from agent_work_orders.state_manager.records import OrderFilter
from agent_work_orders.work_orders.rooms import Rooms
from agent_work_orders.work_orders.triggers import AccessChanged
from agent_work_orders.workflow_engine import events as on

ACCESS_LOST = "access_lost"
BY = "github"
PAGE = 500
_OPEN = ("pending", "running", "waiting", "paused")


async def change(rooms: Rooms, server_url: str, found: AccessChanged) -> list[str]:
    """Pause the open orders of the repositories, or let those go on that were paused for this.
    Returns the orders that changed; doing it again changes nothing more."""
    orders: dict[str, None] = {}
    for repository_id, full_name in found.repositories:
        orders |= dict.fromkeys(_open_orders(rooms, server_url, repository_id, full_name))
    if not found.repositories and found.account:
        orders |= dict.fromkeys(_of_account(rooms, server_url, found.account))
    return [order_id for order_id in orders if await _change(rooms, order_id, found)]


async def _change(rooms: Rooms, order_id: str, found: AccessChanged) -> bool:
    run = await rooms.engine.run(order_id)
    if run is None or run.stage != "active":
        return False
    at_ms = rooms.clock.now_ms()
    if found.access == "lost":
        event: on.AnyEvent = on.PauseAsked(at_ms=at_ms, by=BY, reason=ACCESS_LOST)
    elif run.paused == "asked" and run.pause_reason == ACCESS_LOST:
        event = on.ResumeAsked(at_ms=at_ms, by=BY)
    else:
        return False
    if not await rooms.engine.post(order_id, event):
        return False
    if found.access == "lost":
        rooms.log(order_id, "github_access_lost", "warning", {"reason": found.why})
    else:
        rooms.log(order_id, "github_access_back", "info", {"reason": found.why})
    await rooms.audit.append(
        at_ms=at_ms, who=BY, what=f"access.{found.access}", order_id=order_id, target=found.why
    )
    return True


def _open_orders(rooms: Rooms, server_url: str, repository_id: int, full_name: str) -> list[str]:
    """By the repository's id, and those that were made without a hub by its address."""
    found = {one.order_id: None for one in rooms.subjects.about(repository_id)}
    try:
        key = url.parse(f"{server_url}/{full_name}.git", origins=rooms.git_origins).key
    except Refused:
        return list(found)
    page = rooms.records.page(OrderFilter(status=_OPEN, repository=key), limit=PAGE)
    for row in page.agent_work_orders:
        # Another repository may have taken the name since.
        if rooms.subjects.of_order(row.agent_work_order_id) is None:
            found[row.agent_work_order_id] = None
    return list(found)


def _of_account(rooms: Rooms, server_url: str, account: str) -> list[str]:
    """Open orders of all repositories of an owner, by their addresses."""
    found: list[str] = []
    seen = 0
    while True:
        page = rooms.records.page(OrderFilter(status=_OPEN), limit=PAGE, offset=seen)
        for row in page.agent_work_orders:
            address = row.repository_url
            name = full_name_of(address, server_url) or address.removeprefix(f"{server_url}/")
            if name.partition("/")[0].lower() == account.lower():
                found.append(row.agent_work_order_id)
        seen += len(page.agent_work_orders)
        if not page.has_more or not page.agent_work_orders:
            return found

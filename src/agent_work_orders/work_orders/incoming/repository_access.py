"""Repositories that we can reach no longer, or again: their orders wait meanwhile, and say why.

An event about lost access may come late, or once more when access is back: the hub is asked first,
for each repository that has orders at work. What it cannot say now is an error of the call.
"""

from __future__ import annotations

from agent_work_orders.errors import Environmental, NotFound, Refused
from agent_work_orders.github_integration.forge import Hub, Repository
from agent_work_orders.github_integration.full_name import full_name_of
from agent_work_orders.repositories import url
from agent_work_orders.state_manager.records import OrderFilter
from agent_work_orders.work_orders.context import LiveContext
from agent_work_orders.work_orders.incoming.triggers import AccessChanged
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine.waiting import ACCESS_LOST

BY = "github"
PAGE = 500
_OPEN = ("pending", "running", "waiting", "paused")

Named = tuple[int, str]
"""A repository's id (0: not known) and name."""


async def change(
    context: LiveContext, server_url: str, found: AccessChanged, hub: Hub | None
) -> list[str]:
    """Pause the open orders of the repositories, or let those go on that were paused for this.
    Returns the orders that changed; doing it again changes nothing more. Without a hub the event
    is believed."""
    orders: dict[str, Named] = {}
    for repository_id, full_name in found.repositories:
        for order_id in await _open_orders(context, server_url, repository_id, full_name):
            orders.setdefault(order_id, (repository_id, full_name))
    if not found.repositories and found.account:
        orders |= await _of_account(context, server_url, found.account)
    changed, lost = [], dict[Named, bool]()
    for order_id, named in orders.items():
        run = await context.runs.run(order_id)
        if run is None or run.stage != "active":
            continue
        if found.access == "lost" and hub is not None:
            if named not in lost:
                lost[named] = await _is_lost(context, server_url, found, named, hub)
            if not lost[named]:
                continue
        if await _change(context, order_id, found):
            changed.append(order_id)
    return changed


async def _is_lost(
    context: LiveContext, server_url: str, found: AccessChanged, named: Named, hub: Hub
) -> bool:
    repository_id, full_name = named
    if found.proof == "none":
        return True
    try:
        key = url.parse(f"{server_url}/{full_name}.git", origins=context.policy.git_origins).key
    except Refused:
        return True
    try:
        facts = await hub.repository(Repository(key=key, full_name=full_name))
    except NotFound:
        return True
    except Environmental as error:
        if error.code != "github_access_lost":
            raise
        return True
    if found.proof == "archived":
        return facts.archived
    # Another repository may have taken the name since.
    return repository_id not in (0, facts.repository_id)


async def _change(context: LiveContext, order_id: str, found: AccessChanged) -> bool:
    run = await context.runs.run(order_id)
    if run is None or run.stage != "active":
        return False
    at_ms = context.clock.now_ms()
    if found.access == "lost":
        event: on.AnyEvent = on.PauseAsked(at_ms=at_ms, by=BY, reason=ACCESS_LOST)
    elif run.paused == "asked" and run.pause_reason == ACCESS_LOST:
        event = on.ResumeAsked(at_ms=at_ms, by=BY)
    else:
        return False
    if not await context.runs.post(order_id, event):
        return False
    if found.access == "lost":
        context.log(order_id, "github_access_lost", "warning", {"reason": found.why})
    else:
        context.log(order_id, "github_access_back", "info", {"reason": found.why})
    await context.store.audit.append(
        at_ms=at_ms, who=BY, what=f"access.{found.access}", order_id=order_id, target=found.why
    )
    return True


async def _open_orders(
    context: LiveContext, server_url: str, repository_id: int, full_name: str
) -> list[str]:
    """By the repository's id, and those that were made without a hub by its address."""
    found = {one.order_id: None for one in await context.store.subjects.about(repository_id)}
    try:
        key = url.parse(f"{server_url}/{full_name}.git", origins=context.policy.git_origins).key
    except Refused:
        return list(found)
    page = await context.store.records.page(OrderFilter(status=_OPEN, repository=key), limit=PAGE)
    for row in page.agent_work_orders:
        # Another repository may have taken the name since.
        if await context.store.subjects.of_order(row.agent_work_order_id) is None:
            found[row.agent_work_order_id] = None
    return list(found)


async def _of_account(context: LiveContext, server_url: str, account: str) -> dict[str, Named]:
    """Open orders of all repositories of an owner, by their addresses."""
    found: dict[str, Named] = {}
    seen = 0
    while True:
        page = await context.store.records.page(OrderFilter(status=_OPEN), limit=PAGE, offset=seen)
        for row in page.agent_work_orders:
            address = row.repository_url
            name = full_name_of(address, server_url)
            name = name or address.removeprefix(f"{server_url}/").removesuffix(".git")
            if name.partition("/")[0].lower() == account.lower():
                about = await context.store.subjects.of_order(row.agent_work_order_id)
                found[row.agent_work_order_id] = (about.repository_id if about else 0, name)
        seen += len(page.agent_work_orders)
        if not page.has_more or not page.agent_work_orders:
            return found

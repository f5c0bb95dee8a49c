"""Whether what an agent would make can be delivered: asked before it is paid for.

Only a plain no counts. Where the hub cannot say now, the work begins: it takes longer than most
outages, and the push finds out for itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agent_work_orders.errors import AgentWorkOrdersError, Environmental, Held
from agent_work_orders.github_integration.forges import Forges
from agent_work_orders.tools.tool import Order

NEEDED = {"contents": "write", "pull_requests": "write"}


def delivery(forges: Forges) -> Callable[[Order], Awaitable[None]]:
    async def may_deliver(order: Order) -> None:
        """Environmental: what is missing, by name."""
        place = forges.at(order.repository, order.repository_url)
        if not order.delivers or place.hub is None or (order.github or {}).get("from_fork"):
            return
        try:
            await place.hub.need(place.repository, NEEDED)
        except Environmental:
            raise
        except (AgentWorkOrdersError, Held):
            return

    return may_deliver

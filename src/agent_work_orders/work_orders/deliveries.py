"""Webhook deliveries as people see them: one of them, and letting a failed one be tried again."""

from __future__ import annotations

from agent_work_orders.errors import Conflict, NotFound
from agent_work_orders.security.roles import Caller
from agent_work_orders.state_manager.deliveries import DeliveryRecord
from agent_work_orders.work_orders.context import Context


async def find(context: Context, delivery_id: str) -> DeliveryRecord:
    found = await context.store.deliveries.find(delivery_id.lower())
    if found is None:
        raise NotFound(
            "delivery_unknown",
            f"There is no delivery {delivery_id[:64]}",
            hint="`awo deliveries list` shows them; they are kept for five weeks.",
        )
    return found


async def retry(context: Context, caller: Caller, delivery_id: str) -> DeliveryRecord:
    """Whoever takes up deliveries next takes this one too."""
    found = await find(context, delivery_id)
    if not await context.store.deliveries.reopen(found.delivery_id):
        raise Conflict(
            "delivery_not_failed",
            f"{found.delivery_id} is {found.state}, or came without anything to handle",
            hint="Only what failed after it was taken can be tried again.",
        )
    await context.store.audit.append(
        at_ms=context.clock.now_ms(),
        who=caller.name,
        what="delivery.retry",
        target=found.delivery_id,
    )
    return await find(context, found.delivery_id)

"""Which orders began lately, for the rate limits of a server that starts anew."""

from __future__ import annotations

from collections.abc import Iterable

from agent_work_orders.engines.ticket import Starts, Ticket
from agent_work_orders.security.roles import is_local
from agent_work_orders.state_manager.records import MAX_LIMIT, OrderRecord, Records
from agent_work_orders.work_orders.order_facts import PRIORITIES


def recent_starts(records: Records) -> Starts:
    """Orders begun since a moment, oldest first."""

    async def since(at_ms: int) -> Iterable[tuple[Ticket, int]]:
        rows: list[OrderRecord] = []
        seen = 0
        while True:
            page = await records.page(order_by="updated_at", limit=MAX_LIMIT, offset=seen)
            recent = [row for row in page.agent_work_orders if row.updated_at_ms >= at_ms]
            rows += [row for row in recent if (row.execution_started_at_ms or 0) >= at_ms]
            seen += len(page.agent_work_orders)
            if len(recent) < len(page.agent_work_orders) or not page.has_more:
                break
        rows.sort(key=lambda row: row.execution_started_at_ms or 0)
        return [(_ticket(row), row.execution_started_at_ms or 0) for row in rows]

    return since


def _ticket(row: OrderRecord) -> Ticket:
    return Ticket(
        order_id=row.agent_work_order_id,
        repository=row.repository,
        priority=PRIORITIES.index(row.priority),
        metered=not is_local(row.created_by),
    )

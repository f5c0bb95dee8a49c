"""Finding the order that somebody means: an id, or any unique prefix of one."""

from __future__ import annotations

from agent_work_orders.errors import Conflict, NotFound
from agent_work_orders.ids import ORDER_ID, is_order_prefix
from agent_work_orders.security.roles import Caller
from agent_work_orders.state_manager.records import OrderRecord
from agent_work_orders.work_orders.context import Context
from agent_work_orders.workflow_engine.run import Run


async def record_of(context: Context, wanted: str, caller: Caller) -> OrderRecord:
    """NotFound `order_unknown`; Conflict `order_ambiguous` listing the candidates."""
    found: OrderRecord | None = None
    if ORDER_ID.fullmatch(wanted):
        found = await context.store.records.get(wanted)
    elif is_order_prefix(wanted):
        ids = await context.store.records.find_by_prefix(wanted)
        rows = [await context.store.records.get(one) for one in ids]
        candidates = [row for row in rows if row is not None and caller.sees(row.repository)]
        if len(candidates) > 1:
            names = ", ".join(row.agent_work_order_id for row in candidates[:5])
            raise Conflict(
                "order_ambiguous",
                f"{wanted} could be {names}",
                hint="Give more characters of the id.",
            )
        found = candidates[0] if candidates else None
    if found is None or not caller.sees(found.repository):
        raise _unknown(wanted)
    return found


async def run_of(context: Context, order_id: str) -> Run:
    run = await context.runs.run(order_id)
    if run is None:
        raise _unknown(order_id)
    return run


def _unknown(wanted: str) -> NotFound:
    return NotFound(
        "order_unknown",
        f"There is no work order {wanted[:64]}",
        hint="`awo list` shows the orders there are.",
    )

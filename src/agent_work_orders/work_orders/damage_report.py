"""Says what was damaged in the store: it stops nobody but those who need it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from agent_work_orders.observability.order_log import OrderLog
from agent_work_orders.state_manager.store import Store


def tell(store: Store, log: OrderLog) -> Callable[[str], None]:
    """What the start found. Returns how to tell, from any thread, of an index mended later."""
    for one in store.damaged:
        fields = {"table": one.table, "key": one.key, "order": one.order_id, "error": one.reason}
        log("", "row_damaged", "error", fields)
    loop = asyncio.get_running_loop()

    def mended(cause: str) -> None:
        with suppress(RuntimeError):  # the loop was closed: nobody is left to be told
            loop.call_soon_threadsafe(log, "", "index_mended", "error", {"error": cause})

    return mended

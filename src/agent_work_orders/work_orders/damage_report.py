"""Says what was damaged in the store: it stops nobody but those who need it."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from agent_work_orders.observability.order_log import OrderLog
from agent_work_orders.state_manager.sqlite.store import SqliteStore


def tell(store: SqliteStore, log: OrderLog) -> None:
    """What the start found, and what is mended later."""
    for one in store.damaged:
        fields = {"table": one.table, "key": one.key, "order": one.order_id, "error": one.reason}
        log("", "row_damaged", "error", fields)
    loop = asyncio.get_running_loop()

    def say(cause: str) -> None:
        log("", "index_mended", "error", {"error": cause})

    def mended(cause: str) -> None:
        with suppress(RuntimeError):  # the loop was closed: nobody is left to be told
            loop.call_soon_threadsafe(say, cause)

    store.writer.on_mended = mended

"""Where the log of an order is read: the log table, and the feed of changes."""

from __future__ import annotations

from typing import Any

import msgspec

from agent_work_orders.observability.order_log import Sink
from agent_work_orders.state_manager.store import Store


def log_sink(store: Store) -> Sink:
    def keep(order_id: str, at_ms: int, level: str, event: str, fields: dict[str, Any]) -> None:
        entry = store.logbook.add(order_id, at_ms=at_ms, level=level, event=event, fields=fields)
        line = {"level": level, "event": entry.event, **entry.fields, "n": entry.n}
        store.feed.publish(order_id, "log", at_ms, msgspec.json.encode(line, enc_hook=str))

    return keep

"""A ledger without a disk. The contract is state_manager/ledger.py."""

from __future__ import annotations

from typing import Any

import msgspec

from agent_work_orders.errors import Broken
from agent_work_orders.state_manager.ledger import Entry


class MemoryLedger:
    """`stored` survives what the process forgets: hand it to the next life."""

    doubted = False

    def __init__(self, stored: dict[str, Entry] | None = None) -> None:
        self.stored: dict[str, Entry] = {} if stored is None else stored

    async def find(self, key: str) -> Entry | None:
        return self.stored.get(key)

    async def intend(
        self, key: str, *, order_id: str, what: str, intent: dict[str, Any], at_ms: int
    ) -> Entry:
        entry = Entry(key=key, order_id=order_id, what=what, intent=intent, intended_at_ms=at_ms)
        return self.stored.setdefault(key, entry)

    async def receive(self, key: str, receipt: dict[str, Any], *, at_ms: int) -> Entry:
        entry = self.stored.get(key)
        if entry is None:
            raise Broken("ledger_intent_missing", f"a receipt came for {key} without an intent")
        if entry.receipt is None:
            entry = msgspec.structs.replace(entry, receipt=receipt, received_at_ms=at_ms)
            self.stored[key] = entry
        return entry

    async def entries(self, order_id: str) -> list[Entry]:
        found = [entry for entry in self.stored.values() if entry.order_id == order_id]
        return sorted(found, key=lambda entry: (entry.intended_at_ms, entry.key))

    async def unreceived(self, what: str) -> list[Entry]:
        found = [one for one in self.stored.values() if one.what == what and one.receipt is None]
        return sorted(found, key=lambda entry: (entry.intended_at_ms, entry.key))

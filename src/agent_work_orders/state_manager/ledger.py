"""The contract of the ledger: every write to the world, recorded before and after.

`intend` is durable when it returns. An intent without a receipt means: it may have happened;
read the world before repeating. Keys say what the write *is*, never which attempt it is.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    order_id: str
    what: str
    intent: dict[str, Any]
    intended_at_ms: int
    receipt: dict[str, Any] | None = None
    received_at_ms: int | None = None


class Ledger(Protocol):
    @property
    def doubted(self) -> bool:
        """Rows are damaged: what is not found may have been written all the same."""
        ...

    async def find(self, key: str) -> Entry | None: ...

    async def intend(
        self, key: str, *, order_id: str, what: str, intent: dict[str, Any], at_ms: int
    ) -> Entry:
        """Record that the write is about to happen. Returns the entry that is there if one is."""
        ...

    async def receive(self, key: str, receipt: dict[str, Any], *, at_ms: int) -> Entry:
        """Record what came of it. A second receipt for a key changes nothing and returns the
        first. Broken `ledger_intent_missing` without an intent."""
        ...

    async def entries(self, order_id: str) -> list[Entry]: ...

    async def unreceived(self, what: str) -> list[Entry]:
        """Intents of a kind that nothing came of yet, oldest first: what a restart takes up."""
        ...

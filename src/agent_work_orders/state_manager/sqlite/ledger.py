"""The ledger in SQLite. The contract is state_manager/ledger.py."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from agent_work_orders.errors import Broken
from agent_work_orders.state_manager.ledger import Entry
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.proof import one_row, readable, sealed
from agent_work_orders.state_manager.sqlite.readers import Readers
from agent_work_orders.state_manager.sqlite.text import from_json, storable, to_json
from agent_work_orders.state_manager.sqlite.writer import Writer

_SQL = queries("store")


class SqliteLedger:
    def __init__(self, writer: Writer, readers: Readers, *, doubted: bool = False) -> None:
        """`doubted` when a row of the ledger is known to be damaged: perhaps in its key."""
        self._writer = writer
        self._readers = readers
        self.doubted = doubted

    async def find(self, key: str) -> Entry | None:
        row = self._readers.row(_SQL["find_entry"], (storable(key),))
        return None if row is None else one_row(_entry, row, "ledger")

    async def intend(
        self, key: str, *, order_id: str, what: str, intent: dict[str, Any], at_ms: int
    ) -> Entry:
        row = (storable(key), order_id, what, to_json(intent), at_ms, None, None)

        def intend(connection: sqlite3.Connection) -> Entry:
            connection.execute(_SQL["add_intent"], sealed("ledger", row))
            return _found(connection, row[0])

        return await self._writer.submit(intend)

    async def receive(self, key: str, receipt: dict[str, Any], *, at_ms: int) -> Entry:
        key, encoded = storable(key), to_json(receipt)

        def receive(connection: sqlite3.Connection) -> Entry:
            entry = _found(connection, key)
            if entry.receipt is None:
                *said, _, _, _ = connection.execute(_SQL["find_entry"], (key,)).fetchone()
                row = sealed("ledger", (*said, encoded, at_ms))
                connection.execute(_SQL["add_receipt"], (*row[-3:], key))
                entry = _found(connection, key)
            return entry

        return await self._writer.submit(receive)

    async def entries(self, order_id: str) -> list[Entry]:
        rows = self._readers.rows(_SQL["entries_of_order"], (storable(order_id),))
        return [one_row(_entry, row, "ledger") for row in rows]

    async def unreceived(self, what: str) -> list[Entry]:
        rows = self._readers.rows(_SQL["unreceived_entries"], (what,))
        return readable(_entry, rows, "ledger")


def _found(connection: sqlite3.Connection, key: str) -> Entry:
    row = connection.execute(_SQL["find_entry"], (key,)).fetchone()
    if row is None:
        raise Broken(
            "ledger_intent_missing",
            f"a receipt came for {key}, but nobody said it would be written",
            hint="A tool wrote to the world without recording its intent first.",
        )
    return one_row(_entry, row, "ledger")


def _entry(row: Sequence[Any]) -> Entry:
    key, order_id, what, intent, intended_at_ms, receipt, received_at_ms = row
    return Entry(
        key=key,
        order_id=order_id,
        what=what,
        intent=from_json(intent),
        intended_at_ms=intended_at_ms,
        receipt=None if receipt is None else from_json(receipt),
        received_at_ms=received_at_ms,
    )

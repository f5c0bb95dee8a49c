"""The feed in SQLite. The contract is state_manager/feed.py."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.state_manager.feed import MISSED, FeedRow
from agent_work_orders.state_manager.sqlite import meta
from agent_work_orders.state_manager.sqlite.logbook import Rows
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.proof import DAMAGE, onward, proven, sealed
from agent_work_orders.state_manager.sqlite.readers import Readers
from agent_work_orders.state_manager.sqlite.writer import Writer

_SQL = queries("records")
_PER_LIFE = 2**32
"""Numbers for one life of the server; 2 million lives stay exact in a browser's 2**53."""


class SqliteFeed:
    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers
        self._rows = Rows(_SQL["add_feed"])
        with readers.connection() as connection:
            self._n = (meta.get(connection, "life") or 0) * _PER_LIFE

    def publish(self, order_id: str, kind: str, at_ms: int, body: bytes) -> FeedRow:
        self._n += 1
        row = FeedRow(n=self._n, order_id=order_id, kind=kind, at_ms=at_ms, body=body)
        try:
            values = sealed("feed", (row.n, order_id, kind, at_ms, body))
            self._writer.collect_lazily(self._rows, values)
        except AgentWorkOrdersError:
            pass  # the journal says so itself; those who listen now still get the row
        return row

    async def after(
        self, n: int, limit: int = 500, order_id: str | None = None
    ) -> Sequence[FeedRow]:
        rows = self._readers.rows(_SQL["feed_after"], (n, order_id or "", limit))
        return [_row(row) for row in onward(rows, n)]

    async def oldest(self) -> int:
        row = self._readers.row(_SQL["feed_oldest"])
        return int(row[0]) if row else 0

    def latest(self) -> int:
        return self._n

    async def trim(self, keep: int) -> int:
        def trim(connection: sqlite3.Connection) -> int:
            self._rows.flush(connection)
            return connection.execute(_SQL["trim_feed"], (keep,)).rowcount

        return await self._writer.submit(trim)


def _row(row: Sequence[Any]) -> FeedRow:
    """In the place of a damaged one stands that something is missing: who listens loads anew."""
    try:
        n, order_id, kind, at_ms, body = proven("feed", row)
    except DAMAGE:
        n, order_id, kind, at_ms, body = row[0], str(row[1]), MISSED, 0, b"{}"
    return FeedRow(n=n, order_id=order_id, kind=kind, at_ms=at_ms, body=body)

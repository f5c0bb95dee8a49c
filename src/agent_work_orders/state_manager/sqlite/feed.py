"""The feed in SQLite. The contract is state_manager/feed.py."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.state_manager.feed import FeedRow
from agent_work_orders.state_manager.sqlite.logbook import Rows
from agent_work_orders.state_manager.sqlite.named import queries
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
        life = readers.row(_SQL["life"])
        self._n = (int(life[0]) if life else 0) * _PER_LIFE

    def publish(self, order_id: str, kind: str, at_ms: int, body: bytes) -> FeedRow:
        self._n += 1
        row = FeedRow(n=self._n, order_id=order_id, kind=kind, at_ms=at_ms, body=body)
        try:
            self._writer.collect_lazily(self._rows, (row.n, order_id, kind, at_ms, body))
        except AgentWorkOrdersError:
            pass  # the journal says so itself; those who listen now still get the row
        return row

    def after(self, n: int, limit: int = 500, order_id: str | None = None) -> Sequence[FeedRow]:
        rows = self._readers.rows(_SQL["feed_after"], (n, order_id or "", limit))
        return [
            FeedRow(n=number, order_id=order, kind=kind, at_ms=at_ms, body=body)
            for number, order, kind, at_ms, body in rows
        ]

    def oldest(self) -> int:
        row = self._readers.row(_SQL["feed_oldest"])
        return int(row[0]) if row else 0

    def latest(self) -> int:
        return self._n

    async def trim(self, keep: int) -> int:
        def trim(connection: sqlite3.Connection) -> int:
            self._rows.flush(connection)
            return connection.execute(_SQL["trim_feed"], (keep,)).rowcount

        return await self._writer.submit(trim)

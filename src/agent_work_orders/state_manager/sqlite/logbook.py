"""The log of orders in SQLite. The contract is state_manager/logbook.py."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.state_manager.logbook import (
    EVERY_LINE,
    MAX_FIELDS_BYTES,
    LogEntry,
    LogFilter,
    LogPage,
)
from agent_work_orders.state_manager.sqlite.many import execute_rows
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.proof import DAMAGE, onward, proven, sealed
from agent_work_orders.state_manager.sqlite.readers import Readers
from agent_work_orders.state_manager.sqlite.records import anywhere, check_page
from agent_work_orders.state_manager.sqlite.text import from_json, storable, to_json
from agent_work_orders.state_manager.sqlite.writer import Writer

_SQL = queries("records")
_REMEMBERED = 10_000
"""Orders whose last number is kept in memory; the others are read from the disk."""

Row = tuple[Any, ...]


class Rows:
    """A collector of plain rows for one insert."""

    essential = False

    def __init__(self, sql: str) -> None:
        self._sql = sql
        self._rows: list[Row] = []

    def add(self, item: Row) -> None:
        self._rows.append(item)

    def flush(self, connection: sqlite3.Connection) -> None:
        execute_rows(connection, self._sql, self._rows)
        self.clear()

    def clear(self) -> None:
        self._rows = []


class SqliteLogbook:
    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers
        self._rows = Rows(_SQL["add_log_entries"])
        self._last: OrderedDict[str, int] = OrderedDict()
        self._counted: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def add(
        self, order_id: str, *, at_ms: int, level: str, event: str, fields: dict[str, Any]
    ) -> LogEntry:
        n = self._next(order_id)
        encoded = to_json(fields)
        if len(encoded) > MAX_FIELDS_BYTES:
            fields = {"dropped": f"{len(encoded)} characters of fields"}
            encoded = to_json(fields)
        entry = LogEntry(
            order_id=order_id, n=n, at_ms=at_ms, level=level, event=storable(event), fields=fields
        )
        try:
            row = (order_id, n, at_ms, level, entry.event, encoded)
            self._writer.collect_lazily(self._rows, sealed("log_entries", row))
        except AgentWorkOrdersError:
            pass  # the journal says so itself; the JSONL file still has the line
        return entry

    async def page(
        self,
        order_id: str,
        wanted: LogFilter = EVERY_LINE,
        *,
        limit: int = 100,
        offset: int = 0,
        descending: bool = False,
    ) -> LogPage:
        check_page(limit, offset)
        query = _SQL["page_log_entries_newest" if descending else "page_log_entries"]
        # A search or a far page reads much of a long log; nobody else should wait for it.
        return await asyncio.to_thread(self._page, query, order_id, wanted, limit, offset)

    def _page(
        self, query: str, order_id: str, wanted: LogFilter, limit: int, offset: int
    ) -> LogPage:
        order_id, level = storable(order_id), storable(wanted.level or "")
        text = anywhere(wanted.text) if wanted.text else ""
        with self._readers.connection() as connection:
            if level or text:
                counted = connection.execute(_SQL["count_log_entries"], (order_id, level, text))
                total = int(counted.fetchone()[0])
            else:
                total = self._total(connection, order_id)
            # One more than asked for says whether there is more.
            rows = connection.execute(
                query, (order_id, level, text, wanted.after, limit + 1, offset)
            ).fetchall()
        return LogPage(
            log_entries=tuple(map(_entry, rows[:limit])),
            total_count=total,
            has_more=len(rows) > limit,
        )

    def _total(self, connection: sqlite3.Connection, order_id: str) -> int:
        """How many lines there are. Lines are only ever added, so those counted before are kept in
        mind: following a long log must not read all of it again and again."""
        last, known = self._counted.pop(order_id, (0, 0))
        newest, more = connection.execute(
            _SQL["count_log_entries_after"], (order_id, last)
        ).fetchone()
        self._counted[order_id] = (newest or last, known + more)
        if len(self._counted) > _REMEMBERED:
            self._counted.popitem(last=False)
        return known + int(more)

    async def after(self, order_id: str, n: int, limit: int = 100) -> Sequence[LogEntry]:
        check_page(limit, 0)
        rows = self._readers.rows(_SQL["log_entries_after"], (storable(order_id), n, limit))
        return [_entry(row) for row in onward(rows, n, column=1)]

    def _next(self, order_id: str) -> int:
        last = self._last.pop(order_id, None)
        if last is None:
            # An order forgotten here has had 10,000 others log since: its lines are written.
            row = self._readers.row(_SQL["last_log_entry"], (order_id,))
            last = row[0] if row else 0
        self._last[order_id] = last + 1
        if len(self._last) > _REMEMBERED:
            self._last.popitem(last=False)
        return int(last) + 1


def _entry(row: Sequence[Any]) -> LogEntry:
    """A damaged line stays in its place and says so."""
    try:
        order_id, n, at_ms, level, event, fields = proven("log_entries", row)
        said = from_json(fields)
    except DAMAGE as error:
        order_id, n, at_ms, level, event = *row[:2], 0, "error", "row_damaged"
        said = {"error": f"this line of the log cannot be read: {error}"}
    return LogEntry(order_id=order_id, n=n, at_ms=at_ms, level=level, event=event, fields=said)

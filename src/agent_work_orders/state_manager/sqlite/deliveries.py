"""Webhook deliveries in SQLite. The contract is state_manager/deliveries.py.

Deliveries come in bursts, so those of one commit are written by one statement (many.py says why).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from agent_work_orders.errors import Unavailable
from agent_work_orders.state_manager.deliveries import (
    MAX_BATCH_BYTES,
    MAX_WAITING,
    Delivery,
    DeliveryRecord,
    Outcome,
    State,
)
from agent_work_orders.state_manager.sqlite.many import returned_rows
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.readers import Readers
from agent_work_orders.state_manager.sqlite.text import storable, to_json
from agent_work_orders.state_manager.sqlite.writer import Writer

_SQL = queries("deliveries")
_MAX_WHY = 2_000
_LAST = 2**62


class _Taken(msgspec.Struct):
    """One that arrived. `fresh` is set when its group is written."""

    row: tuple[str, str, int, bytes]
    fresh: bool = False


class _Arrivals:
    """The collector: the first of a GUID in a group is written, the others are known."""

    essential = False

    def __init__(self) -> None:
        self._items: dict[str, _Taken] = {}

    def add(self, item: _Taken) -> None:
        item.fresh = False
        self._items.setdefault(item.row[0], item)

    def flush(self, connection: sqlite3.Connection) -> None:
        rows = [item.row for item in self._items.values()]
        if rows:
            connection.execute(_SQL["forget_noted"], (to_json(list(self._items)),))
        for (delivery_id,) in returned_rows(connection, _SQL["add_deliveries"], rows):
            self._items[delivery_id].fresh = True
        self.clear()

    def clear(self) -> None:
        self._items.clear()


class SqliteDeliveries:
    def __init__(self, writer: Writer, readers: Readers, limit: int = MAX_WAITING) -> None:
        self._writer = writer
        self._readers = readers
        self._limit = limit
        self._arrivals = _Arrivals()
        self._arriving = 0
        self._count = self._counted()

    async def take(self, delivery_id: str, event: str, body: bytes, at_ms: int) -> bool:
        if self._count + self._arriving >= self._limit:
            if self.taken(delivery_id):
                return False
            raise _full(self._limit)
        item = _Taken(row=(delivery_id, event, at_ms, body))
        self._arriving += 1
        try:
            await self._writer.collect(self._arrivals, item)
        finally:
            self._arriving -= 1
        self._count += item.fresh
        return item.fresh

    async def note(self, delivery_id: str, event: str, why: str, at_ms: int) -> None:
        row = (delivery_id, event, at_ms, "failed", _short(why), at_ms)
        await self._write("note_delivery", row)

    def waiting(self, limit: int = 100, *, after: int = 0) -> list[Delivery]:
        with self._readers.connection() as connection:
            sizes = connection.execute(_SQL["waiting_sizes"], (after, limit)).fetchall()
            last = _within(sizes)
            rows = connection.execute(_SQL["waiting_deliveries"], (after + 1, last)).fetchall()
        return [
            Delivery(
                n=n,
                delivery_id=delivery_id,
                event=event,
                body=body,
                received_at_ms=received_at_ms,
                attempts=attempts,
            )
            for n, delivery_id, event, body, received_at_ms, attempts in rows
        ]

    async def tried(self, n: int) -> None:
        await self._write("try_delivery", (1, n))

    async def held(self, n: int) -> None:
        await self._write("try_delivery", (-1, n))

    async def settle(self, n: int, outcome: Outcome, why: str, at_ms: int) -> None:
        self._count -= await self._write("settle_delivery", (outcome, _short(why), at_ms, n))

    async def settle_idle(self, ns: Sequence[int], why: str, at_ms: int) -> None:
        values = (_short(why), at_ms, to_json(list(ns)))
        self._count -= await self._write("settle_idle", values)

    async def reopen(self, delivery_id: str) -> bool:
        opened = await self._write("reopen_delivery", (storable(delivery_id),))
        self._count += opened
        return bool(opened)

    async def trim(self, before_ms: int) -> int:
        gone = await self._write("trim_deliveries", (before_ms,))
        self._count = self._counted()
        return gone

    def page(
        self, *, state: State | None = None, before: int | None = None, limit: int = 100
    ) -> list[DeliveryRecord]:
        asked = (_LAST if before is None else before, state or "", limit)
        return [_record(row) for row in self._readers.rows(_SQL["page_deliveries"], asked)]

    def taken(self, delivery_id: str) -> bool:
        row = self._readers.row(_SQL["known_delivery"], (storable(delivery_id),))
        return row is not None

    def find(self, delivery_id: str) -> DeliveryRecord | None:
        row = self._readers.row(_SQL["find_delivery"], (storable(delivery_id),))
        return None if row is None else _record(row)

    def _counted(self) -> int:
        return int(self._readers.rows(_SQL["count_waiting"])[0][0])

    async def _write(self, query: str, values: tuple[Any, ...]) -> int:
        """Rows that were changed."""

        def write(connection: sqlite3.Connection) -> int:
            self._arrivals.flush(connection)
            return connection.execute(_SQL[query], values).rowcount

        return await self._writer.submit(write)


def _within(sizes: Sequence[tuple[int, int | None]]) -> int:
    """The number up to which the bodies fit into a batch; the first one always does."""
    last, total = 0, 0
    for n, size in sizes:
        total += size or 0
        if last and total > MAX_BATCH_BYTES:
            break
        last = n
    return last


def _short(why: str) -> str:
    return storable(why)[:_MAX_WHY]


def _record(row: Sequence[Any]) -> DeliveryRecord:
    n, delivery_id, event, received_at_ms, attempts, state, why, settled_at_ms, has_body = row
    return DeliveryRecord(
        n=n,
        delivery_id=delivery_id,
        event=event,
        received_at_ms=received_at_ms,
        attempts=attempts,
        state=state,
        why=why,
        settled_at_ms=settled_at_ms,
        has_body=bool(has_body),
    )


def _full(limit: int) -> Unavailable:
    return Unavailable(
        "intake_full",
        f"{limit} deliveries wait to be handled",
        hint="Redeliver it later; `awo deliveries list` shows what waits.",
        retry_after_s=60,
    )

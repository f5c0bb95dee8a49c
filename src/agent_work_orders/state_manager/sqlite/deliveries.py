"""Webhook deliveries in SQLite. The contract is state_manager/deliveries.py.

Deliveries come in bursts, so those of one commit are written by one statement (many.py says why).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

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
from agent_work_orders.state_manager.sqlite.many import execute_rows, returned_rows
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.proof import onward, readable, sealed
from agent_work_orders.state_manager.sqlite.readers import Readers
from agent_work_orders.state_manager.sqlite.text import storable, to_json
from agent_work_orders.state_manager.sqlite.writer import Writer

_SQL = queries("deliveries")
_MAX_WHY = 2_000
_LAST = 2**62
_DAMAGED = "its row was damaged; have it delivered again"

Made = TypeVar("Made")


class _Row(NamedTuple):
    n: int
    delivery_id: str
    event: str
    received_at_ms: int
    attempts: int
    outcome: Outcome | None
    why: str
    settled_at_ms: int | None
    body: bytes | None


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
        if self._items:
            _make_room(connection, list(self._items))
            new = [
                (delivery_id, event, at_ms, 0, None, "", None, body)
                for delivery_id, event, at_ms, body in (one.row for one in self._items.values())
            ]
            rows = _numbered(connection, new)
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
        self._damaged: set[int] = set()

    async def take(self, delivery_id: str, event: str, body: bytes, at_ms: int) -> bool:
        if self._count + self._arriving >= self._limit:
            if await self.taken(delivery_id):
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
        values = (delivery_id, event, at_ms, 0, "failed", _short(why), at_ms, None)

        def note(connection: sqlite3.Connection) -> None:
            returned_rows(connection, _SQL["add_deliveries"], _numbered(connection, [values]))

        await self._write(note)

    async def waiting(self, limit: int = 100, *, after: int = 0) -> list[Delivery]:
        while True:
            with self._readers.connection() as connection:
                found = connection.execute(_SQL["waiting_sizes"], (after, limit))
                sizes = onward(found, after)
                if not sizes:
                    return []
                last = _within(sizes)
                rows = connection.execute(_SQL["waiting_deliveries"], (after + 1, last)).fetchall()
            whole = readable(_delivery, onward(rows, after), "deliveries")
            self._damaged |= {row[0] for row in rows} - {one.n for one in whole}
            if whole:
                return whole
            after = last

    async def set_aside(self, at_ms: int) -> list[str]:
        damaged, self._damaged = self._damaged, set()
        if not damaged:
            return []

        def settle(connection: sqlite3.Connection) -> list[str]:
            rows = connection.execute(_SQL["deliveries_by_number"], (to_json(list(damaged)),))
            named = [(row[0], str(row[1]), str(row[2])) for row in rows if not _holds(row)]
            _put(
                connection,
                [_Row(*one, at_ms, 0, "failed", _DAMAGED, at_ms, None) for one in named],
            )
            return [delivery_id for _, delivery_id, _ in named]

        settled = await self._write(settle)
        self._count = self._counted()
        return settled

    async def tried(self, n: int) -> None:
        await self._change([n], lambda row: row._replace(attempts=row.attempts + 1))

    async def held(self, n: int) -> None:
        await self._change([n], lambda row: row._replace(attempts=max(0, row.attempts - 1)))

    async def settle(self, n: int, outcome: Outcome, why: str, at_ms: int) -> None:
        self._count -= await self._change([n], _settled(outcome, why, at_ms))

    async def settle_idle(self, ns: Sequence[int], why: str, at_ms: int) -> None:
        self._count -= await self._change(ns, _settled("ignored", why, at_ms))

    async def reopen(self, delivery_id: str) -> bool:
        asked = (to_json([storable(delivery_id)]),)

        def reopen(connection: sqlite3.Connection) -> int:
            rows = connection.execute(_SQL["known_deliveries"], asked).fetchall()
            failed = [
                row
                for row in readable(_Row._make, rows, "deliveries")
                if row.outcome == "failed" and row.body is not None
            ]
            again = [
                row._replace(outcome=None, why="", settled_at_ms=None, attempts=0) for row in failed
            ]
            _put(connection, again)
            return len(failed)

        opened = await self._write(reopen)
        self._count += opened
        return bool(opened)

    async def trim(self, before_ms: int) -> int:
        gone = await self._write(
            lambda connection: connection.execute(_SQL["trim_deliveries"], (before_ms,)).rowcount
        )
        self._count = self._counted()
        return gone

    async def page(
        self, *, state: State | None = None, before: int | None = None, limit: int = 100
    ) -> list[DeliveryRecord]:
        asked = (_LAST if before is None else before, state or "", limit)
        return [_record(row) for row in self._readers.rows(_SQL["page_deliveries"], asked)]

    async def taken(self, delivery_id: str) -> bool:
        rows = self._known(delivery_id)
        return any(_holds(row) and not _noted(_Row._make(row[:-1])) for row in rows)

    async def find(self, delivery_id: str) -> DeliveryRecord | None:
        rows = self._known(delivery_id)
        return _record(rows[0]) if rows else None

    def _known(self, delivery_id: str) -> list[Any]:
        return self._readers.rows(_SQL["known_deliveries"], (to_json([storable(delivery_id)]),))

    def _counted(self) -> int:
        return int(self._readers.rows(_SQL["count_waiting"])[0][0])

    async def _change(self, ns: Sequence[int], change: Callable[[_Row], _Row]) -> int:
        """How many of those that wait were changed. A damaged one is not: it is set aside when it
        is read again."""

        def write(connection: sqlite3.Connection) -> int:
            rows = connection.execute(_SQL["deliveries_by_number"], (to_json(list(ns)),)).fetchall()
            found = readable(_Row._make, rows, "deliveries")
            waiting = [row for row in found if row.outcome is None]
            _put(connection, [change(row) for row in waiting])
            return len(waiting)

        return await self._write(write)

    async def _write(self, write: Callable[[sqlite3.Connection], Made]) -> Made:
        def after_arrivals(connection: sqlite3.Connection) -> Made:
            self._arrivals.flush(connection)
            return write(connection)

        return await self._writer.submit(after_arrivals)


def _make_room(connection: sqlite3.Connection, delivery_ids: list[str]) -> None:
    """What was only noted, or is damaged, makes room for itself: it came again and can be taken."""
    for row in connection.execute(_SQL["known_deliveries"], (to_json(delivery_ids),)).fetchall():
        if not _holds(row) or _noted(_Row._make(row[:-1])):
            connection.execute(_SQL["forget_delivery"], (row[0],))


def _numbered(
    connection: sqlite3.Connection, rows: Sequence[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    [last] = connection.execute(_SQL["last_delivery"]).fetchone()
    return [sealed("deliveries", (n, *row)) for n, row in enumerate(rows, last + 1)]


def _put(connection: sqlite3.Connection, rows: Sequence[_Row]) -> None:
    """In place of what has their numbers."""
    sealed_rows = [sealed("deliveries", row) for row in rows]
    execute_rows(connection, _SQL["replace_deliveries"], sealed_rows)


def _settled(outcome: Outcome, why: str, at_ms: int) -> Callable[[_Row], _Row]:
    """Only of a failed one the body stays."""
    return lambda row: row._replace(
        outcome=outcome,
        why=_short(why),
        settled_at_ms=at_ms,
        body=row.body if outcome == "failed" else None,
    )


def _noted(row: _Row) -> bool:
    return row.outcome == "failed" and row.body is None


def _holds(row: Sequence[Any]) -> bool:
    return bool(readable(tuple, [row], "deliveries"))


def _within(sizes: Sequence[Sequence[Any]]) -> int:
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


def _delivery(values: Sequence[Any]) -> Delivery:
    row = _Row._make(values)
    return Delivery(
        n=row.n,
        delivery_id=row.delivery_id,
        event=row.event,
        body=row.body or b"",
        received_at_ms=row.received_at_ms,
        attempts=row.attempts,
    )


def _record(row: Sequence[Any]) -> DeliveryRecord:
    """A damaged one stays in the list and says so."""
    if _holds(row):
        found = _Row._make(row[:-1])
    else:
        found = _Row(row[0], str(row[1]), str(row[2]), 0, 0, "failed", _DAMAGED, None, None)
    return DeliveryRecord(
        n=found.n,
        delivery_id=found.delivery_id,
        event=found.event,
        received_at_ms=found.received_at_ms,
        attempts=found.attempts,
        state=found.outcome or "waiting",
        why=found.why,
        settled_at_ms=found.settled_at_ms,
        has_body=found.body is not None,
    )


def _full(limit: int) -> Unavailable:
    return Unavailable(
        "intake_full",
        f"{limit} deliveries wait to be handled",
        hint="Redeliver it later; `awo deliveries list` shows what waits.",
        retry_after_s=60,
    )

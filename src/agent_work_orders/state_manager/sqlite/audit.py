"""The audit log in SQLite. The contract is state_manager/audit.py.

The head (last number and chain) is kept apart from the rows, so that a cut end is found; triggers
keep the rows from being changed by mistake, the chain shows when it was done on purpose.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from typing import Any

from agent_work_orders.errors import TooLarge
from agent_work_orders.state_manager.audit import AuditBreak, AuditEntry, AuditRow
from agent_work_orders.state_manager.chain import START, seal
from agent_work_orders.state_manager.sqlite import meta
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.proof import DAMAGE, proven, sealed
from agent_work_orders.state_manager.sqlite.readers import Readers
from agent_work_orders.state_manager.sqlite.text import from_json, storable, to_json
from agent_work_orders.state_manager.sqlite.writer import Writer

_SQL = queries("store")
_MAX_DETAILS = 64 * 1024
_PAGE = 1_000


class SqliteAudit:
    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def append(
        self,
        *,
        at_ms: int,
        who: str,
        what: str,
        target: str = "",
        order_id: str | None = None,
        details: dict[str, Any] | None = None,
    ) -> AuditRow:
        entry = AuditEntry(
            at_ms=at_ms,
            who=who,
            what=what,
            target=target,
            order_id=order_id,
            details=details or {},
        )
        values = _values(entry)
        rows = await self._writer.submit(lambda connection: append_rows(connection, [values]))
        return _row(rows[0])

    async def page(
        self, *, after: int = 0, limit: int = 100, order_id: str | None = None
    ) -> Sequence[AuditRow]:
        rows = self._readers.rows(_SQL["audit_after"], (after, storable(order_id or ""), limit))
        return [_legible(row) for row in rows]

    async def verify(self) -> AuditBreak | None:
        return await asyncio.to_thread(self._first_break)

    def _first_break(self) -> AuditBreak | None:
        n, chain = 0, START
        with self._readers.connection() as connection:
            last, head = meta.get(connection, "audit_n"), meta.get(connection, "audit_chain")
            while rows := connection.execute(_SQL["audit_after"], (n, "", _PAGE)).fetchall():
                for *row, _ in rows:
                    n += 1
                    if row[0] != n:
                        return AuditBreak(n=n, reason=f"row {n} is missing")
                    if not isinstance(row[-1], bytes) or _link(chain, *row[:-1]) != row[-1]:
                        return AuditBreak(n=n, reason=f"row {n} was changed")
                    chain = row[-1]
        if n != (last or 0) or chain != (head or START):
            reason = f"{last or 0} rows were written, {n} are there"
            return AuditBreak(n=min(n, last or 0) + 1, reason=reason)
        return None


def append_entries(connection: sqlite3.Connection, entries: Sequence[AuditEntry]) -> None:
    """Inside somebody's transaction. TooLarge `audit_details_too_large`."""
    append_rows(connection, [_values(one) for one in entries])


def append_rows(
    connection: sqlite3.Connection, rows: Sequence[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    n, chain, added = *_head(connection), []
    for values in rows:
        n += 1
        chain = _link(chain, n, *values)
        added.append((n, *values, chain))
        connection.execute(_SQL["add_audit"], sealed("audit", added[-1]))
    meta.put(connection, "audit_n", n)
    meta.put(connection, "audit_chain", chain)
    return added


def _head(connection: sqlite3.Connection) -> tuple[int, bytes]:
    """Where the chain goes on. A head that is damaged must not keep orders from being made: then
    it is the last row, and the start has said what was found."""
    n, chain = meta.get(connection, "audit_n"), meta.get(connection, "audit_chain")
    if n is None or chain is None:
        n, chain = connection.execute(_SQL["last_audit"]).fetchone() or (0, START)
    return n, chain


def _values(entry: AuditEntry) -> tuple[Any, ...]:
    encoded = to_json(entry.details)
    if len(encoded) > _MAX_DETAILS:
        raise TooLarge(
            "audit_details_too_large",
            f"the details of {entry.what} have {len(encoded)} characters",
            hint="Keep the evidence as an artifact and put its hash into the details.",
        )
    who, what, target = map(storable, (entry.who, entry.what, entry.target))
    return (entry.at_ms, who, what, entry.order_id, target, encoded)


def _link(chain: bytes, n: int, *values: Any) -> bytes:
    # Nothing and the empty text must differ, or an order could be wiped from a row.
    return seal(chain, n, *(b"\x00" if value is None else value for value in values))


def _row(row: Sequence[Any]) -> AuditRow:
    n, at_ms, who, what, order_id, target, details, _ = row
    return AuditRow(
        n=n,
        at_ms=at_ms,
        who=who,
        what=what,
        order_id=order_id,
        target=target,
        details=from_json(details),
    )


def _legible(row: Sequence[Any]) -> AuditRow:
    """A damaged row stays in its place and says so."""
    try:
        return _row(proven("audit", row))
    except DAMAGE as error:
        details = {"error": str(error)}
        return AuditRow(
            n=row[0], at_ms=0, who="", what="row_damaged", order_id=None, target="", details=details
        )

"""What orders are about, in SQLite. The contract is state_manager/subjects.py."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.proof import one_row, sealed
from agent_work_orders.state_manager.sqlite.readers import Readers
from agent_work_orders.state_manager.sqlite.text import storable
from agent_work_orders.state_manager.sqlite.writer import Writer
from agent_work_orders.state_manager.subjects import OrderSubject

_SQL = queries("deliveries")


class SqliteSubjects:
    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def add(self, subject: OrderSubject) -> None:
        row = (
            subject.order_id,
            subject.repository_id,
            storable(subject.subject),
            storable(subject.purpose),
            storable(subject.asked_by),
        )

        def add(connection: sqlite3.Connection) -> None:
            # Always later than what was said before about the same thing: which is the newest
            # must not depend on the clock.
            [last] = connection.execute(_SQL["last_said_about"], row[1:3]).fetchone()
            values = (*row, max(subject.at_ms, last + 1))
            connection.execute(_SQL["add_subject"], sealed("order_subjects", values))

        await self._writer.submit(add)

    async def of_order(self, order_id: str) -> OrderSubject | None:
        row = self._readers.row(_SQL["get_subject"], (storable(order_id),))
        return None if row is None else one_row(_subject, row, "order_subjects")

    async def about(
        self, repository_id: int, subject: str | None = None, limit: int = 1_000
    ) -> list[OrderSubject]:
        asked = (repository_id, storable(subject or ""), limit)
        rows = self._readers.rows(_SQL["orders_about"], asked)
        return [one_row(_subject, row, "order_subjects") for row in rows]


def _subject(row: Sequence[Any]) -> OrderSubject:
    order_id, repository_id, subject, purpose, asked_by, at_ms = row
    return OrderSubject(
        order_id=order_id,
        repository_id=repository_id,
        subject=subject,
        purpose=purpose,
        asked_by=asked_by,
        at_ms=at_ms,
    )

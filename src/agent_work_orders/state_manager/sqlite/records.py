"""The list of orders in SQLite. The contract is state_manager/records.py.

Every value is a parameter; what cannot be one (the column to sort by) comes from a fixed table.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from agent_work_orders.errors import BadRequest
from agent_work_orders.ids import is_order_prefix
from agent_work_orders.state_manager.records import (
    EVERY_ORDER,
    MAX_CANDIDATES,
    MAX_LIMIT,
    MAX_TEXT,
    OrderBy,
    OrderFilter,
    OrderPage,
    OrderRecord,
)
from agent_work_orders.state_manager.sqlite.many import execute_rows
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.proof import DAMAGE, proven, sealed
from agent_work_orders.state_manager.sqlite.readers import Readers
from agent_work_orders.state_manager.sqlite.text import from_json, storable, to_json
from agent_work_orders.state_manager.sqlite.writer import Writer
from agent_work_orders.workflow_engine.waiting import QUARANTINED

_SQL = queries("records")
_FIELDS = OrderRecord.__struct_fields__
_COLUMNS = ", ".join((*_FIELDS, "checksum"))
_STATUSES = ("pending", "running", "paused", "waiting", "completed", "failed", "cancelled")
_PRIORITIES = ("low", "medium", "high", "urgent")
_ORDER_BY: dict[str, str] = {
    "created_at": "created_at_ms",
    "updated_at": "updated_at_ms",
    "status": "status",
    "priority": "CASE priority WHEN 'urgent' THEN 3 WHEN 'high' THEN 2 "
    "WHEN 'medium' THEN 1 ELSE 0 END",
    "repository": "repository",
    "cost": "cost_usd",
}
_SEARCHED = (
    "agent_work_order_id",
    "repository_url",
    "title",
    "initial_prompt",
    "git_branch_name",
    "github_issue_number",
)


class OrderLines:
    """The collector: of each order only the last line of a group is written."""

    essential = False

    def __init__(self) -> None:
        self._lines: dict[str, OrderRecord] = {}

    def add(self, item: OrderRecord) -> None:
        known = self._lines.get(item.agent_work_order_id)
        if known is None or known.run_seq <= item.run_seq:
            self._lines[item.agent_work_order_id] = item

    def flush(self, connection: sqlite3.Connection) -> None:
        put_records(connection, self._lines.values())
        self.clear()

    def clear(self) -> None:
        self._lines.clear()


class SqliteRecords:
    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers
        self._lines = OrderLines()

    async def upsert(self, record: OrderRecord) -> None:
        await self._writer.collect(self._lines, record)

    def upsert_lazily(self, record: OrderRecord) -> None:
        self._writer.collect_lazily(self._lines, record)

    async def get(self, order_id: str) -> OrderRecord | None:
        row = self._readers.row(_SQL["get_order"], (storable(order_id),))
        return None if row is None else _legible(row)

    async def find_by_prefix(self, prefix: str) -> Sequence[str]:
        if not is_order_prefix(prefix):
            raise BadRequest(
                "order_prefix_invalid",
                f"{prefix[:40]!r} is not the beginning of a work order's id",
                hint="Ids look like wo-k3v7…; letters a-z and digits 2-7.",
                field="agent_work_order_id",
            )
        start = prefix if prefix.startswith("wo-") else "wo-" + prefix
        # `{` follows `z` in ASCII, so this is the end of all ids with the prefix.
        rows = self._readers.rows(_SQL["ids_in_range"], (start, start + "{", MAX_CANDIDATES))
        return [row[0] for row in rows]

    async def page(
        self,
        wanted: OrderFilter = EVERY_ORDER,
        *,
        order_by: OrderBy = "created_at",
        descending: bool = True,
        limit: int = 50,
        offset: int = 0,
    ) -> OrderPage:
        column = _ORDER_BY.get(order_by)
        if column is None:
            raise BadRequest(
                "order_by_invalid",
                f"cannot sort by {str(order_by)[:40]!r}",
                hint="One of: " + ", ".join(_ORDER_BY),
                field="order_by",
            )
        check_page(limit, offset)
        direction = "DESC" if descending else "ASC"
        # A search or a far page reads much of a long list; nobody else should wait for it.
        return await asyncio.to_thread(self._page, wanted, column, direction, limit, offset)

    def _page(
        self, wanted: OrderFilter, column: str, direction: str, limit: int, offset: int
    ) -> OrderPage:
        where, values = _where(wanted)
        with self._readers.connection() as connection:
            total = connection.execute(f"SELECT count(*) FROM orders{where}", values).fetchone()[0]
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM orders{where} ORDER BY {column} {direction}, "
                f"agent_work_order_id {direction} LIMIT ? OFFSET ?",
                [*values, limit, offset],
            ).fetchall()
        return OrderPage(
            agent_work_orders=tuple(map(_legible, rows)),
            total_count=total,
            # A page without rows is the last: who counts by a damaged index may count too many.
            has_more=bool(rows) and offset + len(rows) < total,
        )

    async def counts(self) -> dict[str, int]:
        rows = self._readers.rows(_SQL["status_counts"])
        return {str(status): number for status, number in rows}

    async def truncate_projection(self) -> None:
        def forget(connection: sqlite3.Connection) -> None:
            self._lines.flush(connection)
            connection.execute(_SQL["forget_orders"])
            connection.execute(_SQL["forget_approvals"])

        await self._writer.submit(forget)


def put_records(connection: sqlite3.Connection, records: Iterable[OrderRecord]) -> None:
    """Inside somebody's transaction."""
    execute_rows(connection, _SQL["put_orders"], [sealed("orders", _row(line)) for line in records])


def check_page(limit: int, offset: int) -> None:
    if not 0 < limit <= MAX_LIMIT or not 0 <= offset < 2**62:
        raise BadRequest(
            "limit_invalid",
            f"limit {limit} or offset {offset} is out of range",
            hint=f"1 <= limit <= {MAX_LIMIT}, offset >= 0",
            field="limit",
        )


def _where(wanted: OrderFilter) -> tuple[str, list[Any]]:
    clauses: list[str] = []
    values: list[Any] = []
    if wanted.status:
        clauses.append(_one_of("status", wanted.status))
        values += map(storable, wanted.status)
    if wanted.repositories is not None:
        clauses.append(_one_of("repository", wanted.repositories))
        values += map(storable, wanted.repositories)
    for column, value in (("repository", wanted.repository), ("workflow_type", wanted.workflow)):
        if value is not None:
            clauses.append(f"{column} = ?")
            values.append(storable(value))
    if wanted.text:
        clauses.append("(" + " OR ".join(f"{c} LIKE ? ESCAPE '\\'" for c in _SEARCHED) + ")")
        values += [anywhere(wanted.text)] * len(_SEARCHED)
    return (" WHERE " + " AND ".join(clauses) if clauses else ""), values


def _one_of(column: str, values: Sequence[str]) -> str:
    return f"{column} IN (" + ",".join("?" * len(values)) + ")"


def anywhere(text: str) -> str:
    """A pattern of LIKE that finds a text as it is. BadRequest `search_too_long`."""
    if len(text) > MAX_TEXT:
        raise BadRequest(
            "search_too_long",
            f"search for at most {MAX_TEXT} characters",
            hint="Search for a shorter part of it.",
            field="text",
        )
    escaped = storable(text).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _row(record: OrderRecord) -> list[Any]:
    values = {name: getattr(record, name) for name in _FIELDS}
    values["agent"] = to_json(record.agent)
    values["warnings"] = to_json(record.warnings)
    values["cost_usd"] = record.cost_usd + 0.0  # as SQLite gives it back
    values["rolled_back"] = int(record.rolled_back)
    values["branch_offered"] = int(record.branch_offered)
    return [storable(v) if isinstance(v, str) else v for v in values.values()]


def _record(row: Sequence[Any]) -> OrderRecord:
    values = dict(zip(_FIELDS, row, strict=True))
    values["agent"] = from_json(values["agent"])
    values["warnings"] = from_json(values["warnings"])
    values["rolled_back"] = bool(values["rolled_back"])
    values["branch_offered"] = bool(values["branch_offered"])
    if values["status"] not in _STATUSES or values["priority"] not in _PRIORITIES:
        raise ValueError("a word of it is none of ours")
    return msgspec.convert(values, OrderRecord)


def _legible(row: Sequence[Any]) -> OrderRecord:
    """A damaged line stays in the list, and says so: the journal knows better."""
    try:
        return _record(proven("orders", row))
    except DAMAGE as error:
        return OrderRecord(
            agent_work_order_id=str(row[0]),
            repository_url="",
            repository=str(row[_FIELDS.index("repository")]),
            sandbox_type="",
            workflow_type="",
            workflow_version="",
            status="waiting",
            waiting_reason=QUARANTINED,
            created_by="",
            created_at_ms=0,
            updated_at_ms=0,
            error_code="row_damaged",
            error_message=f"its line in the list cannot be read ({error})",
            error_hint="`awo doctor --rebuild` makes the lists again from the journal.",
            run_seq=0,
        )

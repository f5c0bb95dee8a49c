"""Looks for damaged rows in whole tables, whatever their keys say. Blocking."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agent_work_orders.state_manager.damaged_row import DamagedRow
from agent_work_orders.state_manager.sqlite.proof import DAMAGE, TABLES, checksum, proven

DECIDING = (
    "api_keys", "approvals", "branches", "credentials", "deliveries", "idempotency_keys", "ledger",
    "meta", "order_subjects", "quota", "sessions", "workflow_versions",
)  # fmt: skip
"""Looked at in full at each start: here a row that its key does not find would be taken for one
that never was. Runs are looked at when they are loaded."""

_ORDERS = ("order_id", "agent_work_order_id", "run_id")
_MAX_KEY = 120


def damaged_rows(
    connection: sqlite3.Connection, tables: Iterable[str] = TABLES
) -> Iterator[DamagedRow]:
    for table in tables:
        names, keys = _columns(connection, table)
        try:
            for row in connection.execute(_select(table, names)):
                try:
                    proven(table, row)
                except DAMAGE as error:
                    yield _named(table, names, keys, row, str(error))
        except sqlite3.DatabaseError as error:
            yield DamagedRow(table=table, key="?", order_id="", reason=str(error))


def fill(connection: sqlite3.Connection) -> None:
    """Write every checksum anew, inside of a migration: what is there is believed. Triggers that
    keep rows from being changed stand aside meanwhile."""
    triggers = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name"
    ).fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    for table in TABLES:
        names, keys = _columns(connection, table)
        where = " AND ".join(f"{key} IS ?" for key in keys)
        places = [names.index(key) for key in keys]
        rows = connection.execute(_select(table, names)).fetchall()
        connection.executemany(
            f"UPDATE {table} SET checksum = ? WHERE {where}",
            [(checksum(table, row[:-1]), *(row[place] for place in places)) for row in rows],
        )
    for _, sql in triggers:
        connection.execute(sql)


def _columns(connection: sqlite3.Connection, table: str) -> tuple[list[str], list[str]]:
    """The names of the columns that the checksum covers, and of those that are the key."""
    rows = connection.execute(f"PRAGMA table_info({table})").fetchall()
    names = [name for _, name, _, _, _, _ in rows if name != "checksum"]
    return names, [name for _, name, _, _, _, part in rows if part]


def _select(table: str, names: Sequence[str]) -> str:
    # NOT INDEXED: the rows themselves, not what an index says about them.
    return f"SELECT {', '.join(names)}, checksum FROM {table} NOT INDEXED"


def _named(
    table: str, names: list[str], keys: list[str], row: Sequence[Any], reason: str
) -> DamagedRow:
    values = dict(zip(names, row[:-1], strict=True))
    key = ", ".join(_readable(values[name]) for name in keys)
    found = next((values[name] for name in _ORDERS if values.get(name)), "")
    order_id = _readable(found) if found else ""
    return DamagedRow(table=table, key=key, order_id=order_id, reason=reason, values=tuple(row))


def _readable(value: object) -> str:
    text = value.hex() if isinstance(value, bytes) else str(value)
    return text[:_MAX_KEY]

"""Small values by name that belong to no table: where counting and chaining go on."""

from __future__ import annotations

import sqlite3
from typing import Any

from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.proof import readable, sealed

_SQL = queries("meta")


def get(connection: sqlite3.Connection, name: str) -> Any:
    """None when it is not there or damaged: whoever counts on goes on from the rows it counts."""
    rows = connection.execute(_SQL["get_meta"], (name,)).fetchall()
    found = readable(lambda row: row[1], rows, "meta")
    return found[0] if found else None


def put(connection: sqlite3.Connection, name: str, value: int | bytes) -> None:
    connection.execute(_SQL["put_meta"], sealed("meta", (name, value)))

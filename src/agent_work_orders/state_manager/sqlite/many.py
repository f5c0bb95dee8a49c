"""One statement for many rows.

`executemany` gives up and takes back the interpreter lock once per row; while the event loop is
busy each of these can cost a switch interval (5 ms). A statement with many rows of values does so
once per chunk.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

ROWS = "(ROWS)"
"""Stands in a query where the rows go."""

_SIZES = (128, 32, 8, 2, 1)
"""Few distinct statements, so that each stays prepared; 128 rows of 7 columns are far below
SQLite's 32,766 parameters."""


def execute_rows(connection: sqlite3.Connection, sql: str, rows: Sequence[Sequence[Any]]) -> None:
    """Run `sql` (with `(ROWS)` in it) over all rows, in order."""
    start, total = 0, len(rows)
    for size in _SIZES:
        while total - start >= size:
            piece = rows[start : start + size]
            connection.execute(_widened(sql, len(piece[0]), size), list(chain.from_iterable(piece)))
            start += size


def returned_rows(
    connection: sqlite3.Connection, sql: str, rows: Sequence[Sequence[Any]]
) -> list[Any]:
    """The same for a statement with RETURNING: what it returned."""
    start, total, found = 0, len(rows), []
    for size in _SIZES:
        while total - start >= size:
            piece = list(chain.from_iterable(rows[start : start + size]))
            wide = _widened(sql, len(rows[start]), size)
            found += connection.execute(wide, piece).fetchall()
            start += size
    return found


@lru_cache(maxsize=256)
def _widened(sql: str, width: int, size: int) -> str:
    row = "(" + ",".join("?" * width) + ")"
    return sql.replace(ROWS, ",".join([row] * size))

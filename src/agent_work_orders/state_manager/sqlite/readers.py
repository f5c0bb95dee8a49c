"""Connections for reading: each is used by one caller at a time and kept for the next."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agent_work_orders.state_manager.sqlite.database import UNREADABLE, connect_reader, failure_of

_KEEP = 8
"""Idle connections kept; each costs about 100 kB."""


class Readers:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._idle: deque[sqlite3.Connection] = deque()
        self._closed = False

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """One consistent view of the data. Blocking; keep it short: an open view holds back the
        checkpoint. Raises Environmental when the file cannot be read."""
        connection = self._take()
        try:
            connection.execute("BEGIN")
            yield connection
        except UNREADABLE as error:
            raise failure_of(error, self._path) from error
        finally:
            self._give_back(connection)

    def rows(self, sql: str, parameters: Any = ()) -> list[Any]:
        connection = self._take()
        try:
            return connection.execute(sql, parameters).fetchall()
        except UNREADABLE as error:
            raise failure_of(error, self._path) from error
        finally:
            self._give_back(connection)

    def row(self, sql: str, parameters: Any = ()) -> Any | None:
        rows = self.rows(sql, parameters)
        return rows[0] if rows else None

    def close(self) -> None:
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    def _take(self) -> sqlite3.Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return connect_reader(self._path)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        if connection.in_transaction:
            connection.rollback()
        if self._closed or len(self._idle) >= _KEEP:
            connection.close()
        else:
            self._idle.append(connection)

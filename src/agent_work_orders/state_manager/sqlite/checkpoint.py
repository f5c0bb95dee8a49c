"""Moves the WAL back into the main file, away from the writer.

A passive checkpoint waits for nobody and blocks nobody. A long reader can hold it back; then the
WAL grows, writing goes on, and `wal_bytes` shows it. Under an endless stream of commits a passive
checkpoint never quite catches up; past `CATCH_UP_BYTES` the writer makes one between two groups.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from agent_work_orders.state_manager.sqlite.database import connect

AFTER_ROWS = 8_000
"""Rows changed between two checkpoints: roughly 4 MB of WAL."""
AFTER_GROUPS = 1_000
"""A commit of one event writes about four pages: roughly 16 MB of WAL."""
CATCH_UP_BYTES = 64 * 1024 * 1024

Copied = Literal["all", "some", "none"]
"""How much of the WAL a checkpoint brought home; none while another one is at work."""


class Checkpointer:
    def __init__(self, path: Path) -> None:
        self._path = path
        self.on_failure: Callable[[str], None] = lambda cause: None
        """Told when the main file cannot be written or synced."""
        self._wal = path.with_name(path.name + "-wal")
        self._due = threading.Event()
        self._closing = False
        self._rows = 0
        self._groups = 0
        self._catch_up_at = CATCH_UP_BYTES
        self._thread = threading.Thread(target=self._serve, name="checkpointer", daemon=True)
        self._thread.start()

    def wal_bytes(self) -> int:
        """The size of the WAL file. It keeps 16 MB when all is well."""
        try:
            return self._wal.stat().st_size
        except FileNotFoundError:
            return 0

    def after_group(self, connection: sqlite3.Connection, rows: int) -> None:
        """Called by the writer's thread after each commit, with its connection."""
        self._rows += rows
        self._groups += 1
        if self._rows < AFTER_ROWS and self._groups < AFTER_GROUPS:
            return
        self._rows = self._groups = 0
        if self.wal_bytes() < self._catch_up_at:
            self._due.set()
            return
        match self._checkpoint(connection):
            case "all":
                self._catch_up_at = CATCH_UP_BYTES
            case "some":
                # A reader holds it: the bar rises, so that this is not tried in vain each time.
                self._catch_up_at = CATCH_UP_BYTES + self.wal_bytes()
            case "none":
                pass  # the other thread is at it; the next time comes soon

    def close(self) -> None:
        self._closing = True
        self._due.set()
        self._thread.join()

    def _serve(self) -> None:
        connection = connect(self._path)
        try:
            while True:
                self._due.wait()
                self._due.clear()
                if self._closing:
                    return
                self._checkpoint(connection)
        finally:
            connection.close()

    def _checkpoint(self, connection: sqlite3.Connection) -> Copied:
        try:
            return checkpoint(connection)
        except sqlite3.Error as error:
            # Without space the WAL simply stays; a lock is somebody else's checkpoint.
            if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_IOERR:
                self.on_failure(f"checkpoint: {error}")
            return "none"


def checkpoint(connection: sqlite3.Connection) -> Copied:
    """Copy what can be copied into the main file."""
    busy, frames, copied = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    if busy:
        return "none"
    return "all" if frames == copied else "some"

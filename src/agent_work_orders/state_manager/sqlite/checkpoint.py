"""Moves the WAL back into the main file, away from the writer.

A passive checkpoint waits for nobody and blocks nobody. A long reader can hold it back; then the
WAL grows, writing goes on, and `wal_bytes` shows it. The thread here copies the bulk; what was
committed meanwhile is left, and only a WAL copied to its end is written again from its start, which
makes each fsync cheaper than growing the file (300 instead of 500 µs, measured on ext4). So the
writer copies that small rest itself, between two groups.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

from agent_work_orders.state_manager.sqlite.database import connect

AFTER_ROWS = 8_000
"""Rows changed between two checkpoints: roughly 4 MB of WAL."""
AFTER_GROUPS = 1_000
"""A commit of one event writes about four pages: roughly 16 MB of WAL."""


class Checkpointer:
    def __init__(self, path: Path) -> None:
        self._path = path
        self.on_failure: Callable[[str], None] = lambda cause: None
        """Told when the main file cannot be written or synced."""
        self.on_progress: Callable[[], None] = lambda: None
        """Called on the thread here after each of its checkpoints."""
        self._wal = path.with_name(path.name + "-wal")
        self._due = threading.Event()
        self._closing = False
        self._rows = 0
        self._groups = 0
        self._nearly = False
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
        if self._nearly:
            self._nearly = False
            self._checkpoint(connection)
        self._rows += rows
        self._groups += 1
        if self._rows < AFTER_ROWS and self._groups < AFTER_GROUPS:
            return
        self._rows = self._groups = 0
        self._due.set()

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
                self._nearly = self._checkpoint(connection)
                self._progressed()
        finally:
            connection.close()

    def _progressed(self) -> None:
        try:
            self.on_progress()
        except OSError as error:
            self.on_failure(f"note: {error}")

    def _checkpoint(self, connection: sqlite3.Connection) -> bool:
        try:
            return checkpoint(connection)
        except sqlite3.Error as error:
            # Without space the WAL simply stays; a lock is somebody else's checkpoint.
            if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_IOERR:
                self.on_failure(f"checkpoint: {error}")
            return False


def checkpoint(connection: sqlite3.Connection) -> bool:
    """Copy what can be copied into the main file. False while another one is at it."""
    busy, _, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    return not busy

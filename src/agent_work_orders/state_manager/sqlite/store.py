"""Assembles everything that the embedded server remembers. No logic of its own."""

from __future__ import annotations

import asyncio
import atexit
from pathlib import Path

from agent_work_orders.clock import Clock
from agent_work_orders.state_manager.damaged_row import DamagedRow
from agent_work_orders.state_manager.files.artifacts import MAX_ARTIFACT_BYTES, FileArtifacts
from agent_work_orders.state_manager.lock import OwnerLock
from agent_work_orders.state_manager.sqlite.approvals import SqliteApprovals
from agent_work_orders.state_manager.sqlite.artifacts import SqliteArtifactList
from agent_work_orders.state_manager.sqlite.audit import SqliteAudit
from agent_work_orders.state_manager.sqlite.backup import backup
from agent_work_orders.state_manager.sqlite.branches import SqliteBranches
from agent_work_orders.state_manager.sqlite.checkpoint import Checkpointer
from agent_work_orders.state_manager.sqlite.credentials import SqliteCredentials
from agent_work_orders.state_manager.sqlite.damage import DECIDING, damaged_rows
from agent_work_orders.state_manager.sqlite.database import (
    DIRTY_NAME,
    ROOM_BYTES,
    Synchronous,
    connect,
    free_bytes,
    prepare,
    settle,
)
from agent_work_orders.state_manager.sqlite.deliveries import SqliteDeliveries
from agent_work_orders.state_manager.sqlite.feed import SqliteFeed
from agent_work_orders.state_manager.sqlite.idempotency import SqliteIdempotencyKeys
from agent_work_orders.state_manager.sqlite.journal import SqliteJournal
from agent_work_orders.state_manager.sqlite.keys import SqliteKeys
from agent_work_orders.state_manager.sqlite.ledger import SqliteLedger
from agent_work_orders.state_manager.sqlite.logbook import SqliteLogbook
from agent_work_orders.state_manager.sqlite.quota import SqliteQuota
from agent_work_orders.state_manager.sqlite.readers import Readers
from agent_work_orders.state_manager.sqlite.records import SqliteRecords
from agent_work_orders.state_manager.sqlite.sessions import SqliteSessions
from agent_work_orders.state_manager.sqlite.subjects import SqliteSubjects
from agent_work_orders.state_manager.sqlite.tally import Tally
from agent_work_orders.state_manager.sqlite.versions import SqliteVersions
from agent_work_orders.state_manager.sqlite.writer import Writer


class SqliteStore:
    """Made by `open`. Everything in it shares one writer."""

    def __init__(
        self,
        home: Path,
        clock: Clock,
        lock: OwnerLock,
        synchronous: Synchronous,
        artifact_limit_bytes: int,
    ) -> None:
        self.home = home
        self.lock = lock
        self.damaged: tuple[DamagedRow, ...] = ()
        """What was found at the start, of the tables that decide something."""
        self._closed = False
        self.path, connection = prepare(home, clock, synchronous=synchronous)
        self.checkpointer = Checkpointer(self.path)
        self._tally = Tally(self.path, home / DIRTY_NAME) if synchronous != "NORMAL" else None
        if self._tally is not None:
            self._tally.note()
            self.checkpointer.on_progress = self._tally.sync
        self.writer = Writer(
            connection,
            lambda: connect(self.path, synchronous=synchronous),
            after_group=self.checkpointer.after_group,
            has_room=lambda: free_bytes(home) >= ROOM_BYTES,
            note=self._tally.note if self._tally is not None else lambda: None,
        )
        self.checkpointer.on_failure = self.writer.halt
        # An interpreter that ends without `close` would let SQLite remove the WAL unmarked.
        atexit.register(self._close)
        self.readers = Readers(self.path)
        try:
            self._assemble(clock, artifact_limit_bytes)
        except BaseException:
            self._close()
            raise

    def _assemble(self, clock: Clock, artifact_limit_bytes: int) -> None:
        readers = self.readers
        with readers.connection() as connection:
            self.damaged = tuple(damaged_rows(connection, DECIDING))
        self.journal = SqliteJournal(self.writer, readers)
        self.records = SqliteRecords(self.writer, readers)
        self.logbook = SqliteLogbook(self.writer, readers)
        self.approvals = SqliteApprovals(self.writer, readers)
        self.idempotency = SqliteIdempotencyKeys(self.writer, self.damaged)
        self.feed = SqliteFeed(self.writer, readers)
        self.versions = SqliteVersions(self.writer, readers)
        doubted = any(one.table == "ledger" for one in self.damaged)
        self.ledger = SqliteLedger(self.writer, readers, doubted=doubted)
        self.keys = SqliteKeys(self.writer, readers, clock)
        self.sessions = SqliteSessions(self.writer, readers, clock)
        self.audit = SqliteAudit(self.writer, readers)
        self.quota = SqliteQuota(self.writer, readers)
        self.credentials = SqliteCredentials(self.writer, readers)
        self.deliveries = SqliteDeliveries(self.writer, readers)
        self.subjects = SqliteSubjects(self.writer, readers)
        self.branches = SqliteBranches(self.writer, readers)
        self.artifacts = FileArtifacts(
            self.home / "artifacts",
            SqliteArtifactList(self.writer, readers),
            limit_bytes=artifact_limit_bytes,
        )

    @classmethod
    def open(
        cls,
        home: Path,
        clock: Clock,
        *,
        synchronous: Synchronous = "FULL",
        artifact_limit_bytes: int = MAX_ARTIFACT_BYTES,
        url: str = "",
    ) -> SqliteStore:
        """Take the data directory and open everything. Raises Conflict `data_directory_in_use`
        and what `database.prepare` raises. Blocking."""
        lock = OwnerLock.acquire(home, started_at_ms=clock.now_ms(), url=url)
        try:
            return cls(home, clock, lock, synchronous, artifact_limit_bytes)
        except BaseException:
            lock.release()
            raise

    def wal_bytes(self) -> int:
        """How large the WAL is; an alarm is due when it keeps growing (a reader holds it)."""
        return self.checkpointer.wal_bytes()

    def trouble(self) -> tuple[str, str] | None:
        """(code, cause) while nothing can be written."""
        return self.writer.trouble

    async def backup(self, target: Path) -> int:
        """A consistent copy while everything goes on; returns its bytes. See backup.py."""
        return await asyncio.to_thread(backup, self.path, target)

    async def close(self) -> None:
        """Write what waits, bring the WAL home, give the directory back."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self._close)
        self.checkpointer.close()
        connection = self.writer.close()
        self.readers.close()
        if self._tally is not None:
            self._tally.close()
        settle(connection, self.home)
        self.lock.release()

"""The store for looking only: no lock, no writer, also beside a process that is at work.

Connections are opened read-only, which is more than politeness: the last ordinary connection to
close would remove a WAL that a killed server left, and with it the sign of what happened.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote

from agent_work_orders.clock import Clock
from agent_work_orders.errors import Broken, Conflict
from agent_work_orders.state_manager.files.artifacts import MAX_ARTIFACT_BYTES, FileArtifacts
from agent_work_orders.state_manager.sqlite.approvals import SqliteApprovals
from agent_work_orders.state_manager.sqlite.artifacts import SqliteArtifactList
from agent_work_orders.state_manager.sqlite.audit import SqliteAudit
from agent_work_orders.state_manager.sqlite.credentials import SqliteCredentials
from agent_work_orders.state_manager.sqlite.database import (
    BUSY_TIMEOUT_MS,
    DATABASE_NAME,
    failure_of,
    migrations,
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
from agent_work_orders.state_manager.sqlite.subjects import SqliteSubjects
from agent_work_orders.state_manager.sqlite.versions import SqliteVersions
from agent_work_orders.state_manager.sqlite.writer import Writer


class SqliteArchive:
    """Everything of `SqliteStore` that can be read. Whatever would write raises `Broken`."""

    def __init__(self, home: Path, clock: Clock) -> None:
        """Raises Environmental when the database cannot be read, Conflict `schema_other`."""
        self.home = home
        self.path = home / DATABASE_NAME
        readers = self.readers = _ReadOnly(self.path)
        self._check_schema()
        writer = _NoWriter()
        self.journal = SqliteJournal(writer, readers)
        self.records = SqliteRecords(writer, readers)
        self.logbook = SqliteLogbook(writer, readers)
        self.approvals = SqliteApprovals(writer, readers)
        self.idempotency = SqliteIdempotencyKeys(writer)
        self.feed = SqliteFeed(writer, readers)
        self.versions = SqliteVersions(writer, readers)
        self.ledger = SqliteLedger(writer, readers)
        self.keys = SqliteKeys(writer, readers, clock)
        self.audit = SqliteAudit(writer, readers)
        self.quota = SqliteQuota(writer, readers)
        self.credentials = SqliteCredentials(writer, readers)
        self.deliveries = SqliteDeliveries(writer, readers)
        self.subjects = SqliteSubjects(writer, readers)
        self.artifacts = _Kept(home / "artifacts", SqliteArtifactList(writer, readers))

    def close(self) -> None:
        self.readers.close()

    def _check_schema(self) -> None:
        found = self.readers.row("SELECT coalesce(max(version), 0) FROM schema_version")
        known = migrations()[-1][0]
        if found is None or int(found[0]) != known:
            raise Conflict(
                "schema_other",
                f"{self.path} has schema {found[0] if found else 0}, this program reads {known}",
                hint="Start the program that owns it once (`awo up`): it upgrades older data.",
            )


class _ReadOnly(Readers):
    def _take(self) -> sqlite3.Connection:
        try:
            return self._idle.pop()
        except IndexError:
            pass
        try:
            connection = sqlite3.connect(
                f"file:{quote(str(self._path))}?mode=ro",
                uri=True,
                isolation_level=None,
                check_same_thread=False,
            )
            connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        except sqlite3.Error as error:
            raise failure_of(error, self._path) from error
        return connection


class _Kept(FileArtifacts):
    """Without the sweep of half-written files: they may be another process's work."""

    def __init__(self, directory: Path, listing: SqliteArtifactList) -> None:
        self._directory = directory
        self._listing = listing
        self._limit_bytes = MAX_ARTIFACT_BYTES


class _NoWriter(Writer):
    def __init__(self) -> None:
        self._trouble = ("archive_read_only", "opened for looking only")

    def _enqueue(self, job: Any) -> None:
        _refuse()

    def _enqueue_lazily(self, job: Any) -> None:
        _refuse()

    def admit(self) -> None:
        _refuse()


def _refuse() -> NoReturn:
    raise Broken(
        "archive_read_only",
        "the data directory was opened for looking only",
        hint="This is a bug: a command that only looks tried to write.",
    )

"""The store for looking only: no lock, no writer, also beside a process that is at work.

Connections are opened read-only, which is more than politeness: the last ordinary connection to
close would remove a WAL that a killed server left, and with it the sign of what happened. Nor does
looking make a file: without a WAL the database is read as immutable; with a WAL and no index, which
SQLite would have to make, a copy is looked at.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import Any, NoReturn

from agent_work_orders.clock import Clock
from agent_work_orders.errors import Broken, Conflict
from agent_work_orders.state_manager.damaged_row import DamagedRow
from agent_work_orders.state_manager.files.artifacts import MAX_ARTIFACT_BYTES, FileArtifacts
from agent_work_orders.state_manager.lock import read_owner
from agent_work_orders.state_manager.sqlite.approvals import SqliteApprovals
from agent_work_orders.state_manager.sqlite.artifacts import SqliteArtifactList
from agent_work_orders.state_manager.sqlite.audit import SqliteAudit
from agent_work_orders.state_manager.sqlite.branches import SqliteBranches
from agent_work_orders.state_manager.sqlite.credentials import SqliteCredentials
from agent_work_orders.state_manager.sqlite.damage import damaged_rows
from agent_work_orders.state_manager.sqlite.database import (
    DATABASE_NAME,
    UNREADABLE,
    check_not_newer,
    failure_of,
    look,
    migrations,
    refuse_loss,
    schema_of,
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
from agent_work_orders.state_manager.sqlite.versions import SqliteVersions
from agent_work_orders.state_manager.sqlite.writer import Writer


class NothingYet(Exception):
    """The database is there and empty: its owner is about to make it, or was ended before."""


class SqliteArchive:
    """Everything of `SqliteStore` that can be read. Whatever would write raises `Broken`."""

    def __init__(self, home: Path, clock: Clock) -> None:
        """Raises Environmental when the database cannot be read, Conflict `schema_other`, Refused
        `schema_too_new`, NothingYet."""
        self.home = home
        self.path = home / DATABASE_NAME
        self.damaged: tuple[DamagedRow, ...] = ()
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        readers = self.readers = self._open()
        try:
            self._check_schema()
        except BaseException:
            self.close()
            raise
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
        self.sessions = SqliteSessions(writer, readers, clock)
        self.audit = SqliteAudit(writer, readers)
        self.quota = SqliteQuota(writer, readers)
        self.credentials = SqliteCredentials(writer, readers)
        self.deliveries = SqliteDeliveries(writer, readers)
        self.subjects = SqliteSubjects(writer, readers)
        self.branches = SqliteBranches(writer, readers)
        self.artifacts = _Kept(home / "artifacts", SqliteArtifactList(writer, readers))

    def trouble(self) -> tuple[str, str] | None:
        return "archive_read_only", "opened for looking only"

    def close(self) -> None:
        self.readers.close()
        if self._copy is not None:
            self._copy.cleanup()

    def every_damaged(self) -> list[DamagedRow]:
        """Every row of every table that does not hold, over one view."""
        with self.readers.connection() as connection:
            found = list(damaged_rows(connection))
            steps = connection.execute("SELECT version, name FROM schema_version").fetchall()
        for known in [(version, name) for version, name, _ in migrations()]:
            if known not in steps:
                reason = "this step of the schema is not there"
                key = "{}_{}".format(*known)
                found.append(
                    DamagedRow(table="schema_version", key=key, order_id="", reason=reason)
                )
        return found

    def _open(self) -> _ReadOnly:
        wal, index = (self.path.with_name(self.path.name + end) for end in ("-wal", "-shm"))
        if read_owner(self.home) is not None:
            return _ReadOnly(self.path)
        refuse_loss(self.home)
        if not wal.exists():
            return _ReadOnly(self.path, immutable=True)
        if index.exists():
            return _ReadOnly(self.path)
        self._copy = tempfile.TemporaryDirectory(prefix="awo-look-")
        for one in (self.path, wal):
            shutil.copyfile(one, Path(self._copy.name, one.name))
        return _ReadOnly(Path(self._copy.name, self.path.name))

    def _check_schema(self) -> None:
        with self.readers.connection() as connection:
            found = schema_of(connection)
        check_not_newer(found)
        if found == 0:
            raise NothingYet
        known = migrations()[-1][0]
        if found != known:
            raise Conflict(
                "schema_other",
                f"{self.path} has schema {found}, this program reads {known}",
                hint="Start the program that owns it once (`awo up`): it upgrades older data.",
            )


class _ReadOnly(Readers):
    def __init__(self, path: Path, *, immutable: bool = False) -> None:
        super().__init__(path)
        self._immutable = immutable

    def _take(self) -> sqlite3.Connection:
        try:
            return self._idle.pop()
        except IndexError:
            pass
        try:
            return look(self._path, immutable=self._immutable)
        except UNREADABLE as error:
            raise failure_of(error, self._path) from error


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

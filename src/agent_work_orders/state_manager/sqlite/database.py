"""Opens `<home>/journal.db`, or says why not and how to get the data back.

Rules:
- WAL, foreign keys on, `synchronous` FULL unless the operator chose otherwise.
- Migrations run in order, all in one transaction together with their rows in `schema_version`: a
  kill leaves the old schema or the new one, and who looks meanwhile sees the old one.
- `journal.dirty` exists from the first write of a life until everything is back in the main
  file, and says how far the WAL went (tally.py). With it, a missing or damaged `-wal` (which SQLite
  itself would silently take for "nothing new") or a missing database is recognised as loss.
- Who only looks makes no file, or the sign of a loss would be gone afterwards.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from agent_work_orders.clock import Clock
from agent_work_orders.errors import Environmental, Failed, Refused
from agent_work_orders.state_manager.sqlite import damage, meta, tally
from agent_work_orders.state_manager.sqlite.named import queries

DATABASE_NAME = "journal.db"
DIRTY_NAME = "journal.dirty"
BUSY_TIMEOUT_MS = 5_000
"""Only foreign tools (a person's sqlite3 shell) can hold the lock that long."""
WAL_KEEP_BYTES = 16 * 1024 * 1024
"""Overwriting an allocated WAL costs less per fsync than growing it, so a reset keeps this much."""

ROOM_BYTES = 256 * 1024
"""Free space from which writing is tried again after the disk was full."""

UNREADABLE = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite raises; the second when its words quote a schema that is damaged."""

Synchronous = Literal["FULL", "NORMAL", "EXTRA"]

_MIGRATION = re.compile(r"(\d{4})_(\w+)\.sql")
_FILLED = {14}
"""Steps after which the checksums of all rows are computed anew."""
_FULL = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE}
_SCHEMA_VERSION = (
    "CREATE TABLE IF NOT EXISTS schema_version "
    "(version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at_ms INTEGER NOT NULL)"
)


def migrations() -> list[tuple[int, str, str]]:
    """(version, name, SQL) of every known step, in order."""
    found = []
    for entry in (resources.files(__package__) / "migrations").iterdir():
        if match := _MIGRATION.fullmatch(entry.name):
            found.append((int(match[1]), match[2], entry.read_text("utf-8")))
    return sorted(found)


def connect(path: Path, *, synchronous: Synchronous = "FULL") -> sqlite3.Connection:
    """A connection for writing. Usable from any one thread at a time."""
    connection = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, cached_statements=512
    )
    try:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute(f"PRAGMA journal_size_limit = {WAL_KEEP_BYTES}")
        connection.execute("PRAGMA cache_size = -16384")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.text_factory = legible
    except BaseException:
        connection.close()
        raise
    return connection


def look(path: Path, *, immutable: bool = False) -> sqlite3.Connection:
    """A connection that leaves the files as they are, also when it is the last to go. `immutable`
    is for a database without a WAL: it takes no lock and makes no index."""
    only = "immutable=1" if immutable else "mode=ro"
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?{only}", uri=True, isolation_level=None, check_same_thread=False
    )
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    connection.text_factory = legible
    return connection


def legible(raw: bytes) -> str:
    """Damaged text must not keep the rows beside it from being read; checksums find it."""
    return raw.decode("utf-8", "replace")


def connect_reader(path: Path) -> sqlite3.Connection:
    """A connection that cannot write."""
    connection = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    connection.execute("PRAGMA query_only = ON")
    connection.text_factory = legible
    return connection


def prepare(
    home: Path, clock: Clock, *, synchronous: Synchronous = "FULL"
) -> tuple[Path, sqlite3.Connection]:
    """Check, create or upgrade the database, and mark it as in use. Returns its path and a
    connection for writing: as long as one is open, SQLite does not remove the `-wal`.

    Raises Environmental `database_unreadable`, `database_read_only`, `database_missing`,
    `database_wal_missing`, `database_wal_damaged`, `data_directory_unusable`, `disk_full`;
    Refused `schema_too_new`.
    """
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = home / DATABASE_NAME
    refuse_loss(home)
    try:
        connection = connect(path, synchronous=synchronous)
        try:
            migrate(connection, clock)
            _count_life(connection)
            mark_dirty(home)
        except BaseException:
            settle(connection, home)
            raise
        path.chmod(0o600)
    except UNREADABLE as error:
        raise failure_of(error, path) from error
    except OSError as error:
        raise Environmental(
            "data_directory_unusable",
            f"cannot write into {home} ({error.strerror})",
            hint="Check its permissions and its free space.",
        ) from error
    return path, connection


def settle(connection: sqlite3.Connection, home: Path) -> None:
    """Close the last connection: first the WAL into the main file, then the mark, then the `-wal`
    may go. If the first fails, the WAL and the mark stay, and the next start reads them."""
    marker = home / DIRTY_NAME
    try:
        busy, frames, copied = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if not busy and frames == copied:
            if marker.exists():
                tally.settle(marker)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            marker.unlink(missing_ok=True)
            _sync_directory(home)
    except (sqlite3.Error, OSError):
        return
    finally:
        connection.close()


def migrate(connection: sqlite3.Connection, clock: Clock) -> None:
    """Bring the schema to the newest version. Raises Refused `schema_too_new`."""
    current, steps = schema_of(connection), migrations()
    check_not_newer(current)
    missing = [step for step in steps if step[0] > current]
    if not missing:
        return
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_SCHEMA_VERSION)
        for version, name, sql in missing:
            _apply(connection, version, name, sql, clock.now_ms())
        connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def schema_of(connection: sqlite3.Connection) -> int:
    """0 where nothing was ever made."""
    there = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'schema_version'")
    if there.fetchone() is None:
        return 0
    [version] = connection.execute(
        "SELECT coalesce(max(version), 0) FROM schema_version"
    ).fetchone()
    return int(version)


def check_not_newer(schema: int) -> None:
    """Raises Refused `schema_too_new`."""
    known = migrations()[-1][0]
    if schema > known:
        raise Refused(
            "schema_too_new",
            f"the database has schema {schema}, this program knows {known}",
            hint="Start the newer version of the program that wrote it, or restore a backup "
            "made before the upgrade: stop, move the directory away, then "
            "`awo restore BACKUP --to HOME`.",
        )


def _apply(connection: sqlite3.Connection, version: int, name: str, sql: str, at_ms: int) -> None:
    for statement in _statements(sql):
        connection.execute(statement)
    if version in _FILLED:
        damage.fill(connection)
    connection.execute("INSERT INTO schema_version VALUES (?, ?, ?)", (version, name, at_ms))


def _statements(sql: str) -> Iterator[str]:
    """One by one: `executescript` would end the transaction first."""
    begun = ""
    for line in sql.splitlines(keepends=True):
        begun += line
        if sqlite3.complete_statement(begun):
            yield begun
            begun = ""
    if begun.strip():
        yield begun


def _count_life(connection: sqlite3.Connection) -> None:
    """The first write of this life: it proves that writing works, and numbers the feed."""
    connection.execute("BEGIN IMMEDIATE")
    life = meta.get(connection, "life")
    if life is None:
        [life] = connection.execute(queries("meta")["last_life"]).fetchone()
    meta.put(connection, "life", life + 1)
    connection.execute("COMMIT")


def mark_dirty(home: Path) -> None:
    """From now on a missing `-wal` means loss. The `-wal` must exist (a writer is open)."""
    descriptor = os.open(home / DIRTY_NAME, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    os.fsync(descriptor)
    os.close(descriptor)
    _sync_directory(home)


def _sync_directory(home: Path) -> None:
    descriptor = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def refuse_loss(home: Path) -> None:
    """What was acknowledged and is not there any more is no beginning. For a directory that no
    process writes. Environmental `database_missing`, `database_wal_missing`,
    `database_wal_damaged`, `database_unreadable`."""
    path, marker = home / DATABASE_NAME, home / DIRTY_NAME
    if not marker.exists():
        return
    if not path.exists() or path.stat().st_size == 0:
        raise Environmental(
            "database_missing",
            f"{path} is missing or empty, though the last run did not end cleanly",
            hint=_restore_steps(path),
        )
    if not path.with_name(path.name + "-wal").exists():
        raise Environmental(
            "database_wal_missing",
            f"{path}-wal is missing: the last commits before the crash may be lost",
            hint=f"Put {path.name}-wal back beside {path.name}. If another SQLite tool has merged "
            f"it, or you accept the loss, delete {marker} and start again. {_restore_steps(path)}",
        )
    try:
        lost = tally.lost(path, marker)
    except UNREADABLE as error:
        raise failure_of(error, path) from error
    if lost is not None:
        raise Environmental(
            "database_wal_damaged",
            f"{path}-wal is damaged: {lost}, so the last commits before the crash are lost",
            hint=f"Nothing was changed. Put an undamaged {path.name}-wal back, or restore a "
            f"backup. If you accept the loss, copy the directory and delete {marker}; what "
            f"belongs to orders that are gone is then set aside, not removed. "
            f"{_restore_steps(path)}",
        )


def failure_of(error: Exception, path: Path) -> Failed:
    """What a person can do about an error of SQLite outside the writer."""
    code = getattr(error, "sqlite_errorcode", 0)
    if is_full(error):
        return Environmental(
            "disk_full", f"no space left for {path}", hint="Free space, then start again."
        )
    if code & 0xFF in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return Environmental(
            "database_read_only",
            f"{path} cannot be opened for writing ({error})",
            hint=f"Give this user write access to {path.parent} and the files in it, and check "
            "that the volume is not mounted read-only.",
        )
    return Environmental(
        "database_unreadable",
        f"{path} cannot be read ({error})",
        hint=_restore_steps(path),
    )


def free_bytes(home: Path) -> int:
    """What the disk of the data directory has left for this user."""
    found = os.statvfs(home)
    return found.f_bavail * found.f_frsize


def is_full(error: Exception) -> bool:
    """Whether the disk was full (the shared-memory index of the WAL counts: it is not data)."""
    return getattr(error, "sqlite_errorcode", 0) in _FULL


def _restore_steps(path: Path) -> str:
    return (
        f"To restore: 1. stop the server; 2. move {path.parent} to a safe place; 3. `awo restore "
        f"BACKUP --to {path.parent}` with the newest backup; 4. start the server."
    )

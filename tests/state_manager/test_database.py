"""Opening, refusing, migrating, locking."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_work_orders.bootstrap import looking
from agent_work_orders.clock import Clock
from agent_work_orders.errors import Conflict, Environmental, Refused
from agent_work_orders.settings import load
from agent_work_orders.state_manager.lock import OwnerLock, read_owner
from agent_work_orders.state_manager.sqlite import database
from agent_work_orders.state_manager.sqlite.archive import NothingYet, SqliteArchive
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.testing.conformance.journal import commit, loaded

GOLDEN = Path(__file__).with_name("schema.sql")


def schema_of(path: Path) -> str:
    connection = sqlite3.connect(path)
    rows = connection.execute(
        "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name"
    ).fetchall()
    connection.close()
    return ";\n\n".join(row[0] for row in rows) + ";\n"


async def test_the_schema_is_the_one_written_down(store: SqliteStore, tmp_path: Path) -> None:
    """To change it, add a migration and write the new schema into schema.sql."""
    assert schema_of(store.path) == GOLDEN.read_text()


@pytest.mark.fault("A7")
@pytest.mark.parametrize("released", [version for version, _, _ in database.migrations()])
def test_an_upgrade_gives_the_fresh_schema(tmp_path: Path, clock: Clock, released: int) -> None:
    path = tmp_path / "journal.db"
    connection = database.connect(path)
    connection.execute(database._SCHEMA_VERSION)
    for version, name, sql in database.migrations():
        if version <= released:
            database._apply(connection, version, name, sql, 1)
    connection.execute("INSERT INTO meta (name, value) VALUES ('kept', 1)")
    connection.close()
    path, connection = database.prepare(tmp_path, clock)
    assert connection.execute("SELECT value FROM meta WHERE name = 'kept'").fetchone() == (1,)
    database.settle(connection, tmp_path)
    assert schema_of(path) == GOLDEN.read_text()


@pytest.mark.fault("A7")
@pytest.mark.parametrize("released", [0, 5, 13])
def test_who_looks_while_a_schema_is_made_sees_the_old_one(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, released: int
) -> None:
    connection = database.connect(tmp_path / "journal.db")
    real = database._apply
    with monkeypatch.context() as older:
        steps = [one for one in database.migrations() if one[0] <= released]
        older.setattr(database, "migrations", lambda: steps or [(0, "none", "")])
        database.migrate(connection, clock)
    seen: list[str] = []

    def looked_at(*given: Any) -> None:
        real(*given)
        with pytest.raises((NothingYet, Conflict)) as refused:
            SqliteArchive(tmp_path, clock)
        seen.append(str(refused.value))

    monkeypatch.setattr(database, "_apply", looked_at)
    owner = OwnerLock.acquire(tmp_path, started_at_ms=1)
    database.migrate(connection, clock)
    known = database.migrations()[-1][0]
    assert len(seen) == known - released
    assert all((f"has schema {released}," in one) == (released > 0) for one in seen)
    SqliteArchive(tmp_path, clock).close()
    owner.release()
    connection.close()


async def test_looking_waits_for_the_owner_who_upgrades(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = database.connect(tmp_path / "journal.db")
    with monkeypatch.context() as older:
        steps = database.migrations()[:-1]
        older.setattr(database, "migrations", lambda: steps)
        database.migrate(connection, clock)
    settings = load({}, home=tmp_path)
    with pytest.raises(Conflict, match="has schema"):
        async with looking.open_archive(settings, clock):
            pass
    owner = OwnerLock.acquire(tmp_path, started_at_ms=1)
    waits = 0

    async def upgrade_meanwhile(_seconds: float) -> None:
        nonlocal waits
        waits += 1
        if waits == 3:
            database.migrate(connection, clock)

    monkeypatch.setattr(looking.asyncio, "sleep", upgrade_meanwhile)
    async with looking.open_archive(settings, clock) as context:
        assert (await context.store.records.page()).total_count == 0
    assert waits == 3
    owner.release()
    connection.close()


@pytest.mark.parametrize("begun", ["no file", "an empty file", "a first page"])
async def test_where_nothing_was_made_yet_there_is_nothing(
    tmp_path: Path, clock: Clock, begun: str
) -> None:
    if begun == "an empty file":
        (tmp_path / "journal.db").touch()
    if begun == "a first page":
        database.connect(tmp_path / "journal.db").close()
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    async with looking.open_archive(load({}, home=tmp_path), clock) as context:
        assert (await context.store.records.page()).total_count == 0
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == before


OPEN_AND_CLOSE = """
import sys
from pathlib import Path
from agent_work_orders.clock import SystemClock
from agent_work_orders.state_manager.sqlite import database
path, connection = database.prepare(Path(sys.argv[1]), SystemClock())
database.settle(connection, Path(sys.argv[1]))
"""


@pytest.mark.fault("A7")
def test_a_kill_at_every_sync_of_a_migration(tmp_path: Path, clock: Clock, strace: str) -> None:
    for k in range(1, 60):
        home = tmp_path / str(k)
        inject = f"inject=fdatasync,fsync:signal=KILL:when={k}"
        killed = subprocess.run(
            [
                strace,
                "-f",
                "-qq",
                "-o",
                os.devnull,
                "-e",
                "trace=fdatasync,fsync",
                "-e",
                inject,
                sys.executable,
                "-c",
                OPEN_AND_CLOSE,
                str(home),
            ],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=False,
        )
        assert killed.returncode in (0, -signal.SIGKILL, 128 + signal.SIGKILL)
        path, connection = database.prepare(home, clock)
        database.settle(connection, home)
        assert schema_of(path) == GOLDEN.read_text()
        if killed.returncode == 0:
            break
    else:
        pytest.fail("never ran to its end")
    assert k > 5


@pytest.mark.fault("A16")
def test_a_garbage_header_is_refused_with_steps(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "journal.db").write_bytes(b"this is no database" * 1000)
    with pytest.raises(Environmental) as caught:
        SqliteStore.open(tmp_path, clock)
    assert caught.value.code == "database_unreadable"
    assert "awo restore BACKUP" in caught.value.hint
    assert read_owner(tmp_path) is None


@pytest.mark.fault("N7")
async def test_a_damaged_schema_is_refused_with_steps(tmp_path: Path, clock: Clock) -> None:
    await SqliteStore.open(tmp_path, clock).close()
    path = tmp_path / "journal.db"
    body = path.read_bytes()
    path.write_bytes(body.replace(b"ON orders (repository", b"ON orders (r\xe9pository"))
    for open_it in (SqliteStore.open, SqliteArchive):
        with pytest.raises(Environmental) as caught:
            open_it(tmp_path, clock)
        assert caught.value.code == "database_unreadable"


@pytest.mark.fault("A16")
async def test_the_restore_steps_work(tmp_path: Path, clock: Clock) -> None:
    home, copy = tmp_path / "home", tmp_path / "copy.db"
    store = SqliteStore.open(home, clock)
    await store.journal.append(commit("wo-a", 1))
    await store.backup(copy)
    await store.close()
    (home / "journal.db").write_bytes(b"garbage" * 999)
    with pytest.raises(Environmental):
        SqliteStore.open(home, clock)
    for name in ("journal.db", "journal.db-wal", "journal.db-shm", "journal.dirty"):
        (home / name).unlink(missing_ok=True)
    shutil.copy(copy, home / "journal.db")
    store = SqliteStore.open(home, clock)
    assert len((await loaded(store.journal, "wo-a")).events) == 1
    await store.close()


@pytest.mark.fault("A16")
async def test_a_missing_wal_after_a_crash_is_refused(tmp_path: Path, clock: Clock) -> None:
    home, crashed = tmp_path / "home", tmp_path / "crashed"
    store = SqliteStore.open(home, clock)
    await store.journal.append(commit("wo-a", 1))
    shutil.copytree(home, crashed)
    await store.close()
    wal = (crashed / "journal.db-wal").read_bytes()
    (crashed / "journal.db-wal").unlink()
    with pytest.raises(Environmental) as caught:
        SqliteStore.open(crashed, clock)
    assert caught.value.code == "database_wal_missing"
    (crashed / "journal.db-wal").write_bytes(wal)
    store = SqliteStore.open(crashed, clock)
    assert len((await loaded(store.journal, "wo-a")).events) == 1
    await store.close()
    SqliteStore.open(home, clock)._close()


@pytest.mark.fault("A16")
async def test_a_missing_database_after_a_crash_is_refused(tmp_path: Path, clock: Clock) -> None:
    home, crashed = tmp_path / "home", tmp_path / "crashed"
    store = SqliteStore.open(home, clock)
    shutil.copytree(home, crashed)
    await store.close()
    (crashed / "journal.db").unlink()
    with pytest.raises(Environmental) as caught:
        SqliteStore.open(crashed, clock)
    assert caught.value.code == "database_missing"


@pytest.mark.fault("A16")
async def test_a_read_only_volume_is_refused(volume: Path, clock: Clock) -> None:
    store = SqliteStore.open(volume, clock)
    await store.close()
    subprocess.run(["mount", "-o", "remount,ro", volume], check=True)
    with pytest.raises(Environmental) as caught:
        database.prepare(volume, clock)
    assert caught.value.code == "database_read_only"
    with pytest.raises(Environmental) as caught:
        SqliteStore.open(volume, clock)
    assert caught.value.code == "data_directory_unusable"


async def test_a_newer_schema_is_refused_and_left_alone(tmp_path: Path, clock: Clock) -> None:
    await SqliteStore.open(tmp_path, clock).close()
    with sqlite3.connect(tmp_path / "journal.db") as connection:
        connection.execute("INSERT INTO schema_version VALUES (9999, 'future', 1)")
    connection.close()
    for _ in range(2):
        with pytest.raises(Refused) as caught:
            SqliteStore.open(tmp_path, clock)
        assert caught.value.code == "schema_too_new"


@pytest.mark.fault("A9")
async def test_a_second_server_is_refused_and_told_who(tmp_path: Path, clock: Clock) -> None:
    store = SqliteStore.open(tmp_path, clock)
    store.lock.announce("http://127.0.0.1:8700")
    with pytest.raises(Conflict) as caught:
        SqliteStore.open(tmp_path, clock)
    assert caught.value.code == "data_directory_in_use"
    assert str(os.getpid()) in caught.value.message
    assert caught.value.context["url"] == "http://127.0.0.1:8700"
    owner = read_owner(tmp_path)
    assert owner is not None and owner.pid == os.getpid() and owner.started_at
    await store.close()
    assert read_owner(tmp_path) is None


@pytest.mark.fault("A9")
def test_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    hold = (
        "import sys, time; from pathlib import Path\n"
        "from agent_work_orders.state_manager.lock import OwnerLock\n"
        "lock = OwnerLock.acquire(Path(sys.argv[1]), started_at_ms=1)\n"
        "print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", hold, str(tmp_path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
    with pytest.raises(Conflict) as caught:
        OwnerLock.acquire(tmp_path, started_at_ms=1)
    assert caught.value.context["pid"] == holder.pid
    holder.kill()
    holder.wait()
    holder.stdout.close()
    assert read_owner(tmp_path) is None
    OwnerLock.acquire(tmp_path, started_at_ms=1).release()

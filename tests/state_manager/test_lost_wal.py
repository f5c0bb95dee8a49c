"""A WAL that is gone or damaged is noticed, whoever looked before; an honest crash is not one."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_work_orders.clock import Clock
from agent_work_orders.errors import Environmental
from agent_work_orders.state_manager.sqlite import database, tally
from agent_work_orders.state_manager.sqlite.archive import SqliteArchive
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.testing.conformance.journal import commit


@pytest.fixture
async def crashed(tmp_path: Path, clock: Clock) -> AsyncIterator[Path]:
    """A data directory as a killed server leaves it, with four orders in the WAL alone."""
    home, left = tmp_path / "home", tmp_path / "crashed"
    store = SqliteStore.open(home, clock)
    for number in range(4):
        await store.journal.append(commit(f"wo-{number}", 1))
    shutil.copytree(home, left)
    await store.close()
    yield left


async def look(home: Path, clock: Clock) -> list[str]:
    archive = SqliteArchive(home, clock)
    try:
        return list(await archive.journal.run_ids())
    finally:
        archive.close()


def names(home: Path) -> dict[str, int]:
    return {one.name: one.stat().st_size for one in home.iterdir()}


def refused(home: Path, clock: Clock) -> str:
    with pytest.raises(Environmental) as caught:
        SqliteStore.open(home, clock)
    assert "awo restore" in caught.value.hint
    return caught.value.code


@pytest.mark.fault("N7")
@pytest.mark.fault("A16")
async def test_looking_does_not_disarm_the_guard(crashed: Path, clock: Clock) -> None:
    (crashed / "journal.db-wal").unlink()
    before = names(crashed)
    for _ in range(2):
        with pytest.raises(Environmental) as caught:
            await look(crashed, clock)
        assert caught.value.code == "database_wal_missing"
    assert names(crashed) == before
    assert refused(crashed, clock) == "database_wal_missing"
    # As an older version's look had left it.
    (crashed / "journal.db-wal").touch()
    assert refused(crashed, clock) == "database_wal_damaged"


@pytest.mark.fault("N7")
async def test_looking_makes_no_file(crashed: Path, clock: Clock) -> None:
    for left_out in ([], ["journal.db-shm"]):
        for name in left_out:
            (crashed / name).unlink()
        before = names(crashed)
        assert len(await look(crashed, clock)) == 4
        assert names(crashed) == before
    SqliteStore.open(crashed, clock)._close()
    before = names(crashed)
    assert "journal.db-wal" not in before
    assert len(await look(crashed, clock)) == 4
    assert names(crashed) == before


def flip(path: Path, at: int) -> None:
    body = bytearray(path.read_bytes())
    body[at] ^= 4
    path.write_bytes(body)


@pytest.mark.fault("N7")
@pytest.mark.parametrize("damage", ["garbage", "empty", "cut", "head", "salt", "first", "last"])
async def test_a_damaged_wal_is_refused_and_left_as_it_is(
    crashed: Path, clock: Clock, damage: str
) -> None:
    wal = crashed / "journal.db-wal"
    body = wal.read_bytes()
    match damage:
        case "garbage":
            wal.write_bytes(b"garbage!" * (len(body) // 8))
        case "empty":
            wal.write_bytes(b"")
        case "cut":
            wal.write_bytes(body[:-4096])
        case "head":
            flip(wal, 9)
        case "salt":
            flip(wal, 18)
        case "first":
            flip(wal, 32 + 24 + 100)
        case "last":
            flip(wal, len(body) - 7)
    damaged = wal.read_bytes()
    for _ in range(2):
        assert refused(crashed, clock) == "database_wal_damaged"
        with pytest.raises(Environmental):
            await look(crashed, clock)
    assert wal.read_bytes() == damaged
    wal.write_bytes(body)
    store = SqliteStore.open(crashed, clock)
    assert len(await store.journal.run_ids()) == 4
    store._close()


async def test_an_honest_crash_raises_no_alarm(tmp_path: Path, clock: Clock) -> None:
    """At any point of a life in which the WAL begins anew several times."""
    home = tmp_path / "home"
    store = SqliteStore.open(home, clock)
    seen = 0
    for number in range(1, 41):
        await store.journal.append(commit("wo-a", number))
        if number % 7 == 0:
            connection = database.connect(store.path)
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            connection.close()
        left = tmp_path / f"left-{number}"
        shutil.copytree(home, left)
        again = SqliteStore.open(left, clock)
        seen += len(await again.journal.events("wo-a"))
        again._close()
        assert not (left / database.DIRTY_NAME).exists()
        shutil.rmtree(left)
    assert seen == sum(range(1, 41))
    await store.close()


async def test_a_note_behind_the_wal_is_no_alarm(tmp_path: Path, clock: Clock) -> None:
    """After a power cut the last note may be any earlier one, or half of one."""
    home, left = tmp_path / "home", tmp_path / "left"
    store = SqliteStore.open(home, clock)
    marker = home / database.DIRTY_NAME
    notes = [marker.read_bytes(), b"", marker.read_bytes()[:9]]
    for number in range(1, 20):
        await store.journal.append(commit("wo-a", number))
        store.checkpointer._checkpoint(database.connect(store.path))
        notes.append(marker.read_bytes())
    assert len(set(notes)) > 5
    for note in notes:
        shutil.copytree(home, left)
        (left / database.DIRTY_NAME).write_bytes(note)
        SqliteStore.open(left, clock)._close()
        shutil.rmtree(left)
    await store.close()


@pytest.mark.fault("A7")
async def test_a_kill_while_the_wal_is_brought_home_is_no_alarm(
    crashed: Path, clock: Clock
) -> None:
    marker = crashed / database.DIRTY_NAME
    connection = database.connect(crashed / database.DATABASE_NAME)
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    tally.settle(marker)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    left = crashed.with_name("left")
    shutil.copytree(crashed, left)
    connection.close()
    store = SqliteStore.open(left, clock)
    assert len(await store.journal.run_ids()) == 4
    await store.close()

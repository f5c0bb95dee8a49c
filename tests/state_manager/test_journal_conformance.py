"""The same suite on the SQLite journal and on the fake."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_work_orders.clock import SystemClock
from agent_work_orders.state_manager.journal import Journal
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.testing.conformance.journal import JournalConformance, commit, loaded
from agent_work_orders.testing.fakes.memory_journal import Crashed, MemoryDisk, MemoryJournal

pytestmark = [pytest.mark.fault("A15"), pytest.mark.fault("A13")]


class SqliteWorld:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.lives = 0
        self.store: SqliteStore | None = None

    @property
    def home(self) -> Path:
        return self.directory / f"life-{self.lives}"

    async def open(self) -> Journal:
        await self.close()
        self.store = SqliteStore.open(self.home, SystemClock())
        return self.store.journal

    async def close(self) -> None:
        if self.store is not None:
            await self.store.close()
        self.store = None

    async def crash(self) -> None:
        """What is on the disk now is what a killed process leaves: go on with a copy of it."""
        before = self.home
        self.lives += 1
        shutil.copytree(before, self.home)
        await self.close()

    def change_event(self, run_id: str, seq: int) -> None:
        self._tamper("UPDATE events SET body = x'66' WHERE run = ({run}) AND seq = ?", run_id, seq)

    def drop_event(self, run_id: str, seq: int) -> None:
        self._tamper("DELETE FROM events WHERE run = ({run}) AND seq = ?", run_id, seq)

    def change_snapshot(self, run_id: str, seq: int) -> None:
        sql = "UPDATE snapshots SET body = x'66' WHERE run = ({run}) AND seq = ?"
        self._tamper(sql, run_id, seq)

    def _tamper(self, sql: str, run_id: str, seq: int) -> None:
        run = "SELECT run FROM runs WHERE run_id = ?"
        with sqlite3.connect(self.home / "journal.db") as connection:
            assert connection.execute(sql.format(run=run), (run_id, seq)).rowcount == 1
        connection.close()

    def fill_disk(self) -> None:
        assert self.store is not None
        self.store.writer.run(_no_more_pages)

    def free_disk(self) -> None:
        """A fresh connection has no limit of pages."""


def _no_more_pages(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA max_page_count = 1").fetchall()


class MemoryWorld:
    def __init__(self) -> None:
        self.disk = MemoryDisk()
        self.journal: MemoryJournal | None = None

    async def open(self) -> Journal:
        await self.close()
        self.journal = MemoryJournal(self.disk)
        return self.journal

    async def close(self) -> None:
        if self.journal is not None:
            await self.journal.close()
        self.journal = None

    async def crash(self) -> None:
        assert self.journal is not None
        self.journal.lose_unsynced()
        self.journal = None

    def change_event(self, run_id: str, seq: int) -> None:
        self.disk.change_event(run_id, seq, b"f")

    def drop_event(self, run_id: str, seq: int) -> None:
        self.disk.drop_event(run_id, seq)

    def change_snapshot(self, run_id: str, seq: int) -> None:
        self.disk.change_snapshot(run_id, seq, b"f")

    def fill_disk(self) -> None:
        self.disk.full = True

    def free_disk(self) -> None:
        self.disk.full = False


class TestSqliteJournal(JournalConformance):
    @pytest.fixture
    async def world(self, tmp_path: Path) -> AsyncIterator[SqliteWorld]:
        world = SqliteWorld(tmp_path)
        yield world
        await world.close()


class TestMemoryJournal(JournalConformance):
    @pytest.fixture
    def world(self) -> MemoryWorld:
        return MemoryWorld()


@pytest.mark.fault("A3")
async def test_the_fake_crashes_at_every_write() -> None:
    for k in range(1, 6):
        disk = MemoryDisk()
        disk.crash_at = k
        journal = MemoryJournal(disk)
        acknowledged = 0
        try:
            for seq in range(1, 6):
                await journal.append(commit("wo-a", seq))
                acknowledged = seq
        except Crashed:
            pass
        assert acknowledged == k - 1
        found = await MemoryJournal(disk).events("wo-a")
        assert [row.seq for row in found] == list(range(1, k))


async def test_the_fake_may_keep_what_nobody_was_told() -> None:
    disk = MemoryDisk()
    journal = MemoryJournal(disk, auto_sync=False)
    waiting = [journal.append(commit("wo-a", seq)) for seq in (1, 2, 3)]
    journal.lose_unsynced(keep=2)
    for waiter in waiting:
        with pytest.raises(Crashed):
            await waiter
    assert len((await loaded(MemoryJournal(disk), "wo-a")).events) == 2

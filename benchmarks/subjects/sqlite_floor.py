"""The limit: a bare SQLite journal with group commit, and no engine above it.

One row per finished task in WAL mode with `synchronous=FULL`. Everything that waits when the
loop comes round is one transaction, so a chain pays one commit per task and a fan-out one in all.
"""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

from benchmarks.subjects import driver


class Floor:
    concurrent_runs = 1000

    async def start(self, home: Path, mark: driver.Mark) -> None:
        self._mark = mark
        self._waiting: list[tuple[tuple[str, int], asyncio.Future[None]]] = []
        self._db = sqlite3.connect(home / "journal.db", isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS done (run TEXT, task INTEGER, PRIMARY KEY (run, task))"
            " WITHOUT ROWID"
        )
        self._done = set(self._db.execute("SELECT run, task FROM done"))

    async def run(self, run_id: str, shape: str, tasks: int) -> None:
        if shape == "chain":
            for index in range(tasks):
                await self._task(run_id, index)
        else:
            await asyncio.gather(*[self._task(run_id, index) for index in range(tasks)])

    async def stop(self) -> None:
        self._db.close()

    def _task(self, run_id: str, index: int) -> asyncio.Future[None]:
        loop = asyncio.get_running_loop()
        written: asyncio.Future[None] = loop.create_future()
        if (run_id, index) in self._done:
            written.set_result(None)
            return written
        self._mark(run_id, index)
        if not self._waiting:
            loop.call_soon(self._commit)
        self._waiting.append(((run_id, index), written))
        return written

    def _commit(self) -> None:
        batch, self._waiting = self._waiting, []
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany("INSERT INTO done VALUES (?, ?)", [row for row, _ in batch])
        self._db.execute("COMMIT")
        for _, written in batch:
            written.set_result(None)


if __name__ == "__main__":
    driver.main(Floor())

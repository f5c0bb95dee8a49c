"""The journal in SQLite. The contract is state_manager/journal.py."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agent_work_orders.state_manager.heads import Head, Heads
from agent_work_orders.state_manager.journal import (
    Commit,
    EventRow,
    Loaded,
    LoadedRun,
    Quarantined,
)
from agent_work_orders.state_manager.sqlite.commits import Commits
from agent_work_orders.state_manager.sqlite.loading import Loader, head_of
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.readers import Readers
from agent_work_orders.state_manager.sqlite.writer import MAX_GROUP, MAX_WAITING, Writer

_SQL = queries("journal")


class SqliteJournal:
    """Belongs to one event loop: `append` works out the chain there, in the order of the calls."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers
        self._commits = Commits()
        self._heads = self._fresh_heads()

    def append(self, commit: Commit) -> asyncio.Future[None]:
        self._writer.admit()  # first: after a failed write the heads are wrong
        advance = self._heads.place(commit)
        waiter = self._writer.collect(self._commits, advance)
        self._heads.moved(advance)
        return waiter

    def append_lazily(self, commit: Commit) -> None:
        self._writer.admit()  # first: after a failed write the heads are wrong
        advance = self._heads.place(commit)
        self._writer.collect_lazily(self._commits, advance)
        self._heads.moved(advance)

    def load_open(self) -> Loaded:
        runs: list[LoadedRun] = []
        quarantined: list[Quarantined] = []
        with self._readers.connection() as connection:
            loader = Loader(connection)
            for row in connection.execute(_SQL["open_heads"]).fetchall():
                loaded = loader.load(head_of(row), in_full=False)
                if isinstance(loaded, LoadedRun):
                    runs.append(loaded)
                else:
                    quarantined.append(loaded)
        return Loaded(runs=tuple(runs), quarantined=tuple(quarantined))

    def load_run(self, run_id: str) -> LoadedRun | Quarantined | None:
        with self._readers.connection() as connection:
            row = connection.execute(_SQL["find_head"], (run_id,)).fetchone()
            return None if row is None else Loader(connection).load(head_of(row), in_full=True)

    def events(self, run_id: str, after_seq: int = 0, limit: int = 1000) -> Sequence[EventRow]:
        head = self._find_head(run_id)
        if head is None:
            return ()
        rows = self._readers.rows(_SQL["events_after"], (head.run, after_seq, limit))
        return [
            EventRow(run_id=run_id, seq=seq, at_ms=at_ms, kind=kind, body=body)
            for seq, at_ms, kind, body, _ in rows
        ]

    def run_ids(self, after: str = "", limit: int = 1000) -> Sequence[str]:
        return [row[0] for row in self._readers.rows(_SQL["run_ids"], (after, limit))]

    def verify(self) -> Sequence[Quarantined]:
        with self._readers.connection() as connection:
            loader = Loader(connection)
            heads = connection.execute(_SQL["all_heads"]).fetchall()
            broken = [loader.first_break(head_of(row)) for row in heads]
            orphans = [
                Quarantined(run_id=f"#{run}", seq=seq, reason="the run's own row is missing")
                for run, seq in connection.execute(_SQL["orphans"])
            ]
            orphans += [
                Quarantined(run_id=f"#{run}", seq=0, reason="its outbox belongs to no run")
                for (run,) in connection.execute(_SQL["strays"])
            ]
        return [found for found in broken if found is not None] + orphans

    def next_epoch(self) -> int:
        return self._writer.run(
            lambda connection: int(connection.execute(_SQL["advance_epoch"]).fetchone()[0])
        )

    async def reopen(self) -> None:
        await self._writer.reopen()
        self._heads = self._fresh_heads()

    async def close(self) -> None:
        """Wait for what was handed in. The store closes the writer, which others share."""
        if self._writer.trouble is None:
            await self._writer.submit(lambda connection: None)

    def _fresh_heads(self) -> Heads:
        last = self._readers.row(_SQL["last_run"])
        return Heads(self._find_head, last[0] if last else 0, MAX_WAITING + MAX_GROUP)

    def _find_head(self, run_id: str) -> Head | None:
        row = self._readers.row(_SQL["find_head"], (run_id,))
        return None if row is None else head_of(row)

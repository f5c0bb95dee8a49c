"""The journal in SQLite. The contract is state_manager/journal.py."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from typing import Any

from agent_work_orders.state_manager.heads import Head, Heads
from agent_work_orders.state_manager.journal import (
    Commit,
    EventRow,
    Loaded,
    LoadedRun,
    Quarantined,
)
from agent_work_orders.state_manager.sqlite import meta
from agent_work_orders.state_manager.sqlite.commits import Commits
from agent_work_orders.state_manager.sqlite.loading import Loader, head_of
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.proof import DAMAGE, one_row, onward, proven
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

    async def load_open(self) -> Loaded:
        return await asyncio.to_thread(self._load_open)

    def _load_open(self) -> Loaded:
        runs: list[LoadedRun] = []
        quarantined: list[Quarantined] = []
        with self._readers.connection() as connection:
            loader = Loader(connection)
            # All of them: which are open is told by rows that hold, not by an index.
            for row in connection.execute(_SQL["all_heads"]):
                head = _head(row)
                if isinstance(head, Head) and head.ended:
                    continue
                loaded = loader.load(head, in_full=False) if isinstance(head, Head) else head
                if isinstance(loaded, LoadedRun):
                    runs.append(loaded)
                else:
                    quarantined.append(loaded)
        return Loaded(runs=tuple(runs), quarantined=tuple(quarantined))

    async def load_run(self, run_id: str) -> LoadedRun | Quarantined | None:
        with self._readers.connection() as connection:
            row = connection.execute(_SQL["find_head"], (run_id,)).fetchone()
            if row is None:
                return None
            head = _head(row)
            return Loader(connection).load(head, in_full=True) if isinstance(head, Head) else head

    async def events(
        self, run_id: str, after_seq: int = 0, limit: int = 1000
    ) -> Sequence[EventRow]:
        head = self._find_head(run_id)
        if head is None:
            return ()
        rows = self._readers.rows(_SQL["events_after"], (head.run, after_seq, limit))
        return [
            EventRow(run_id=run_id, seq=seq, at_ms=at_ms, kind=kind, body=body)
            for seq, at_ms, kind, body, _ in rows
        ]

    async def run_ids(self, after: str = "", limit: int = 1000) -> Sequence[str]:
        rows = self._readers.rows(_SQL["run_ids"], (after, limit))
        return [row[0] for row in onward(rows, after)]

    async def verify(self) -> Sequence[Quarantined]:
        return await asyncio.to_thread(self._verify)

    def _verify(self) -> Sequence[Quarantined]:
        with self._readers.connection() as connection:
            loader = Loader(connection)
            heads = connection.execute(_SQL["all_heads"]).fetchall()
            found = [_head(row) for row in heads]
            broken = [loader.first_break(h) if isinstance(h, Head) else h for h in found]
            orphans = [
                Quarantined(run_id=f"#{run}", seq=seq, reason="the run's own row is missing")
                for run, seq in connection.execute(_SQL["orphans"])
            ]
            orphans += [
                Quarantined(run_id=f"#{run}", seq=0, reason="its outbox belongs to no run")
                for (run,) in connection.execute(_SQL["strays"])
            ]
        return [one for one in broken if one is not None] + orphans

    async def next_epoch(self) -> int:
        """One more life of the server, past every lease that was ever given."""

        def advance(connection: sqlite3.Connection) -> int:
            [last] = connection.execute(_SQL["last_lease"]).fetchone()
            epoch: int = 1 + max(last, meta.get(connection, "epoch") or 0)
            meta.put(connection, "epoch", epoch)
            return epoch

        return await self._writer.submit(advance)

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
        return None if row is None else one_row(head_of, row, "runs")


def _head(row: Sequence[Any]) -> Head | Quarantined:
    try:
        return head_of(proven("runs", row))
    except DAMAGE as error:
        reason = f"its own row cannot be read ({error})"
        return Quarantined(run_id=str(row[1]), seq=0, reason=reason)

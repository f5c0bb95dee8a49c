"""The only hand that writes: one thread, group commit.

Rules:
- Everything that waits when the thread comes round is one transaction and one fsync. Jobs run in
  the order in which they were submitted. A waiter is told only after the fsync.
- A job is a function over the connection. It may be run a second time (after a rollback), so it
  must touch nothing else. If it raises, it alone fails: the group is rolled back and done again
  with a savepoint around each job.
- A collector gathers the items of a group and writes them at its end with few statements. It owns
  its tables: a function that reads or writes them flushes the collector first. An item that
  SQLite rejects fails alone, unless the collector is `essential`: then it is our bug and the
  writer halts.
- An index that does not fit its table any more is made again, and the group tried once more: a
  damaged row must not stop the others (proof.py finds it).
- A full disk fails the group and everything behind it and refuses the rest until `reopen`. Any
  other I/O error leaves unknown what is on the disk (FAULTS A12): the writer halts for good.
- Lazy jobs keep their place in the order but wake nobody; they are written with the next eager
  job, or after 50 ms.

Known ugliness: the loop is woken once per group by `call_soon_threadsafe`, with all outcomes.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import queue
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from agent_work_orders.errors import Unavailable
from agent_work_orders.state_manager.sqlite import meta
from agent_work_orders.state_manager.sqlite.database import is_full
from agent_work_orders.state_manager.sqlite.write_outcome import (
    Outcome,
    Waiter,
    closed,
    is_fatal,
    refusal,
    tell,
)

T = TypeVar("T")
Item = TypeVar("Item", contravariant=True)
Write = Callable[[sqlite3.Connection], T]

LAZY_S = 0.05
MAX_GROUP = 4_096
"""Bounds the time the first of a group waits; 4,096 small events take about 60 ms."""
BUSY_ATTEMPTS = 12
"""A person's SQLite shell may hold the file; waiting (5 s each) is safe. Then it is a fault."""
MAX_WAITING = 100_000
"""About 100 MB of small commits; past that the disk is not keeping up."""

_INDEX_DAMAGED = 779  # SQLITE_CORRUPT_INDEX: a row that is written over is not in its index


class Collector(Protocol[Item]):
    """Gathers items of one group. Used by the writer's thread only."""

    essential: bool

    def add(self, item: Item) -> None: ...

    def flush(self, connection: sqlite3.Connection) -> None:
        """Write what was gathered."""
        ...

    def clear(self) -> None: ...


AfterGroup = Callable[[sqlite3.Connection, int], None]
"""Gets the connection and the rows changed, on the writer's thread, after each commit."""
Job = tuple[Collector[Any] | None, Any, Waiter]


class _Reopen:
    """A job that only the thread itself understands."""


class Writer:
    def __init__(
        self,
        connection: sqlite3.Connection,
        connect: Callable[[], sqlite3.Connection],
        *,
        after_group: AfterGroup,
        has_room: Callable[[], bool],
        note: Callable[[], None] = lambda: None,
    ) -> None:
        """`connection` is the writer's; `connect` makes another for `reopen`, when `has_room` says
        that the disk has room. `note` is called after each commit, before anybody is told."""
        self._connect = connect
        self._connection = connection
        self._after_group = after_group
        self._has_room = has_room
        self._note = note
        self.on_trouble: Callable[[Exception], None] = lambda error: None
        """Told on the writer's thread, whoever's write it was that failed."""
        self.on_mended: Callable[[str], None] = lambda cause: None  # indexes were made again
        self._jobs: deque[Job] = deque()
        self._tokens: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._signalled = False
        self._lazy_signalled = False
        self._closing = False
        self._trouble: tuple[str, str] | None = None
        self._thread = threading.Thread(target=self._serve, name="journal-writer", daemon=True)
        self._thread.start()

    @property
    def trouble(self) -> tuple[str, str] | None:
        """(code, cause) while nothing can be written: `journal_full` or `journal_halted`."""
        return self._trouble

    def submit(self, write: Write[T]) -> asyncio.Future[T]:
        """Run in the next group; the future resolves after the fsync."""
        waiter: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._enqueue((None, write, waiter))
        return waiter

    def collect(self, collector: Collector[Item], item: Item) -> asyncio.Future[None]:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._enqueue((collector, item, waiter))
        return waiter

    def submit_lazily(self, write: Write[Any]) -> None:
        self._enqueue_lazily((None, write, None))

    def collect_lazily(self, collector: Collector[Item], item: Item) -> None:
        self._enqueue_lazily((collector, item, None))

    def run(self, write: Write[T]) -> T:
        """As `submit`, but blocks the calling thread."""
        waiter: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._enqueue((None, write, waiter))
        return waiter.result()

    async def reopen(self) -> None:
        """Try to write again after `journal_full`; raises it again if that fails."""
        if self._trouble is None:
            return
        if self._trouble[0] == "journal_halted":
            raise refusal(*self._trouble)
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._push((None, _Reopen, waiter))
        await waiter

    def halt(self, cause: str) -> None:
        """Refuse everything from now on: the disk failed elsewhere."""
        self._trouble = ("journal_halted", cause)

    def close(self) -> sqlite3.Connection:
        """Write what waits, end the thread and hand the connection back. Blocking."""
        self._closing = True
        self._tokens.put(True)
        self._thread.join()
        # Another thread may have passed `admit` just before.
        tell([(waiter, None, closed()) for _, _, waiter in self._jobs])
        self._jobs.clear()
        return self._connection

    def _enqueue(self, job: Job) -> None:
        self.admit()
        self._push(job)

    def _push(self, job: Job) -> None:
        self._jobs.append(job)
        # A race of two submitting threads costs one spare token; the thread clears the flag
        # before it looks at the jobs, so none is overlooked.
        if not self._signalled:
            self._signalled = True
            self._tokens.put(True)

    def _enqueue_lazily(self, job: Job) -> None:
        self.admit()
        self._jobs.append(job)
        if not self._lazy_signalled:
            self._lazy_signalled = True
            self._tokens.put(False)

    def admit(self) -> None:
        """Raises what `submit` would raise now: journal_full, journal_halted, Unavailable."""
        if self._trouble is not None:
            raise refusal(*self._trouble)
        if self._closing:
            raise closed()
        if len(self._jobs) >= MAX_WAITING:
            raise Unavailable(
                "journal_overloaded",
                f"{MAX_WAITING} writes are waiting for the disk",
                hint="The disk does not keep up: try again, and look at its load.",
            )

    def _serve(self) -> None:
        while True:
            if not self._tokens.get() and not self._closing:
                try:
                    self._tokens.get(timeout=LAZY_S)
                except queue.Empty:
                    pass
            self._signalled = self._lazy_signalled = False
            while self._jobs:
                self._take_group()
            if self._closing:
                return

    def _take_group(self) -> None:
        group: list[Job] = []
        jobs = self._jobs
        while jobs and len(group) < MAX_GROUP:
            if jobs[0][1] is _Reopen:
                if not group:
                    self._reopen(jobs.popleft()[2])
                break
            group.append(jobs.popleft())
        if not group:
            return
        if self._trouble is not None:
            self._fail(group)
            return
        self._write(group)

    def _write(self, group: list[Job]) -> None:
        before = self._connection.total_changes
        try:
            outcomes = self._attempt(group)
        except Exception as error:  # noqa: BLE001 - the thread's border: all waiters are told
            self._give_up(error)
            self._fail(group)
            return
        self._note()
        tell(outcomes)
        self._after_group(self._connection, self._connection.total_changes - before)

    def _attempt(self, group: list[Job]) -> list[Outcome]:
        try:
            return self._transaction(group, self._run_all)
        except Exception as error:  # a job may raise anything: the second try finds out
            if getattr(error, "sqlite_errorcode", 0) == _INDEX_DAMAGED:
                self._connection.execute("REINDEX")
                self.on_mended(str(error))
            elif is_fatal(error):
                raise
            return self._transaction(group, self._run_one_by_one)

    def _transaction(
        self, group: list[Job], body: Callable[[list[Job]], list[Outcome]]
    ) -> list[Outcome]:
        connection = self._connection
        self._begin()
        try:
            outcomes = body(group)
            connection.execute("COMMIT")
        except BaseException:
            for collector, _, _ in group:
                if collector is not None:
                    collector.clear()
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return outcomes

    def _begin(self) -> None:
        for _ in range(BUSY_ATTEMPTS - 1):
            try:
                self._connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    raise
            else:
                return
        self._connection.execute("BEGIN IMMEDIATE")

    def _run_all(self, group: list[Job]) -> list[Outcome]:
        connection = self._connection
        touched: dict[int, Collector[Any]] = {}
        outcomes: list[Outcome] = []
        for collector, work, waiter in group:
            if collector is None:
                outcomes.append((waiter, work(connection), None))
            else:
                touched[id(collector)] = collector
                collector.add(work)
                outcomes.append((waiter, None, None))
        for collector in touched.values():
            collector.flush(connection)
        return outcomes

    def _run_one_by_one(self, group: list[Job]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for job in group:
            collector, _, waiter = job
            self._connection.execute("SAVEPOINT job")
            try:
                outcomes += self._run_all([job])
            except Exception as error:  # it belongs to the waiter of this job
                if is_fatal(error) or (collector is not None and collector.essential):
                    raise
                if collector is not None:
                    collector.clear()
                self._connection.execute("ROLLBACK TO job")
                outcomes.append((waiter, None, error))
            self._connection.execute("RELEASE job")
        return outcomes

    def _give_up(self, error: Exception) -> None:
        full = isinstance(error, sqlite3.Error) and is_full(error)
        self._trouble = ("journal_full" if full else "journal_halted", str(error))
        self.on_trouble(refusal(*self._trouble))

    def _fail(self, group: list[Job]) -> None:
        assert self._trouble is not None
        group = group + self._drain()
        tell([(waiter, None, refusal(*self._trouble)) for _, _, waiter in group])

    def _drain(self) -> list[Job]:
        drained: list[Job] = []
        jobs = self._jobs
        while jobs and jobs[0][1] is not _Reopen:
            drained.append(jobs.popleft())
        return drained

    def _reopen(self, waiter: Waiter) -> None:
        # Asked first: a small write may fit into what the failed one left of the WAL.
        if not self._has_room():
            tell([(waiter, None, refusal("journal_full", "still no space"))])
            return
        try:
            fresh = self._connect()  # before the old one goes: the last to go removes the WAL
            self._connection.close()
            self._connection = fresh
            self._connection.execute("BEGIN IMMEDIATE")
            meta.put(self._connection, "room", 1)
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._give_up(error)
            assert self._trouble is not None
            tell([(waiter, None, refusal(*self._trouble))])
            return
        self._trouble = None
        tell([(waiter, None, None)])

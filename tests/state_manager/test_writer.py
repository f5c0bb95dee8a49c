"""The one writer: groups, order, jobs that fail, reads beside it."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from pathlib import Path

import pytest

from agent_work_orders.clock import Clock
from agent_work_orders.errors import AgentWorkOrdersError, Conflict, Unavailable
from agent_work_orders.state_manager.sqlite import checkpoint, writer
from agent_work_orders.state_manager.sqlite.logbook import Rows
from agent_work_orders.state_manager.sqlite.many import execute_rows
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.testing.conformance.journal import commit, loaded


def put(name: str, value: object) -> writer.Write[None]:
    def write(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", (name, value))

    return write


def value_of(store: SqliteStore, name: str) -> object:
    row = store.readers.row("SELECT value FROM meta WHERE name = ?", (name,))
    return None if row is None else row[0]


class Gate:
    """Holds the writer inside a group, so that what comes meanwhile makes up the next one."""

    def __init__(self, store: SqliteStore) -> None:
        self._open = threading.Event()
        self._inside = threading.Event()
        self.done = store.writer.submit(self._wait)
        self._inside.wait()

    def _wait(self, connection: sqlite3.Connection) -> None:
        self._inside.set()
        self._open.wait()

    def open(self) -> None:
        self._open.set()


async def test_what_waits_is_one_transaction(store: SqliteStore) -> None:
    groups: list[int] = []
    store.writer._after_group = lambda connection, rows: groups.append(rows)
    gate = Gate(store)
    waiting = [store.writer.submit(put(f"n{n}", n)) for n in range(100)]
    waiting += [store.journal.append(commit("wo-a", seq)) for seq in range(1, 51)]
    gate.open()
    await asyncio.gather(*waiting)
    await store.writer.submit(put("end", 1))
    assert groups[1] >= 150


async def test_one_failing_job_fails_alone(store: SqliteStore) -> None:
    def refuse(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT OR REPLACE INTO meta (name, value) VALUES ('half', 1)")
        raise Conflict("approval_settled", "no")

    def wrong(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO meta (name, value) VALUES ('before', 1)")

    gate = Gate(store)
    before = store.writer.submit(put("before", 0))
    refused = store.writer.submit(refuse)
    twice = store.writer.submit(wrong)
    appended = store.journal.append(commit("wo-a", 1))
    after = store.writer.submit(put("after", 2))
    gate.open()
    await asyncio.gather(before, appended, after)
    with pytest.raises(Conflict):
        await refused
    with pytest.raises(sqlite3.IntegrityError):
        await twice
    assert value_of(store, "half") is None
    assert (value_of(store, "before"), value_of(store, "after")) == (0, 2)
    assert len((await loaded(store.journal, "wo-a")).events) == 1
    assert store.trouble() is None


async def test_a_bad_item_of_a_collector_fails_alone(store: SqliteStore) -> None:
    rows = Rows("INSERT INTO meta (name, value) VALUES (ROWS)")
    gate = Gate(store)
    good = store.writer.collect(rows, ("x", 1))
    bad = store.writer.collect(rows, ("x", 2))
    late = store.writer.collect(rows, ("y", 3))
    gate.open()
    await asyncio.gather(good, late)
    with pytest.raises(sqlite3.IntegrityError):
        await bad
    assert (value_of(store, "x"), value_of(store, "y")) == (1, 3)


async def test_a_commit_that_cannot_be_is_our_bug_and_halts(store: SqliteStore) -> None:
    await store.journal.append(commit("wo-a", 1))
    store.journal._heads._open.clear()
    store.journal._heads._find = lambda run_id: None
    doubled = store.journal.append(commit("wo-a", 1))
    with pytest.raises(AgentWorkOrdersError) as caught:
        await doubled
    assert caught.value.code == "journal_halted"
    with pytest.raises(AgentWorkOrdersError):
        store.writer.submit(put("x", 1))
    with pytest.raises(AgentWorkOrdersError):
        await store.journal.reopen()
    assert len(await store.journal.events("wo-a")) == 1


async def test_a_cancelled_waiter_does_not_stop_the_write(store: SqliteStore) -> None:
    gate = Gate(store)
    waiting = store.writer.submit(put("x", 1))
    waiting.cancel()
    gate.open()
    await store.writer.submit(put("y", 1))
    assert value_of(store, "x") == 1


async def test_blocking_writes_from_threads(store: SqliteStore) -> None:
    await asyncio.gather(*(asyncio.to_thread(store.writer.run, put(f"t{n}", n)) for n in range(20)))
    assert [value_of(store, f"t{n}") for n in range(20)] == list(range(20))


async def test_the_queue_has_an_end(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "MAX_WAITING", 3)
    gate = Gate(store)
    waiting = [store.journal.append(commit("wo-a", seq)) for seq in (1, 2, 3)]
    with pytest.raises(Unavailable) as caught:
        store.journal.append(commit("wo-a", 4))
    assert caught.value.code == "journal_overloaded"
    gate.open()
    await asyncio.gather(*waiting)
    await store.journal.append(commit("wo-a", 4))


async def test_a_closed_store_refuses(tmp_path: Path, clock: Clock) -> None:
    store = SqliteStore.open(tmp_path, clock)
    await store.close()
    await store.close()
    with pytest.raises(Unavailable):
        store.journal.append(commit("wo-a", 1))


def test_rows_of_any_number_are_written_in_order() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (n INTEGER PRIMARY KEY AUTOINCREMENT, a, b)")
    sql = "INSERT INTO t (a, b) VALUES (ROWS)"
    for total in (0, 1, 2, 3, 31, 32, 33, 127, 128, 129, 300):
        connection.execute("DELETE FROM t")
        execute_rows(connection, sql, [(n, -n) for n in range(total)])
        rows = connection.execute("SELECT a, b FROM t ORDER BY n").fetchall()
        assert rows == [(n, -n) for n in range(total)]
    connection.close()


@pytest.mark.fault("A17")
async def test_a_long_reader_grows_the_wal_and_blocks_nobody(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "AFTER_GROUPS", 5)
    body = bytes(100_000)

    async def write(first: int, last: int) -> None:
        for seq in range(first, last):
            await store.journal.append(commit("wo-a", seq, body=body))

    with store.readers.connection() as reader:
        reader.execute("SELECT count(*) FROM events").fetchone()
        await write(1, 250)
        held = store.wal_bytes()
        assert held > 20_000_000
        assert reader.execute("SELECT count(*) FROM events").fetchone() == (0,)
    for seq in range(250, 1_000):
        await write(seq, seq + 1)
        if store.wal_bytes() <= 17_000_000:
            return
    pytest.fail("the WAL never shrank")


@pytest.mark.fault("A18")
async def test_a_backup_under_load_is_a_consistent_prefix(
    store: SqliteStore, tmp_path: Path, clock: Clock
) -> None:
    stop = False

    async def load(run_id: str) -> int:
        seq = 0
        while not stop:
            seq += 1
            await store.journal.append(commit(run_id, seq))
        return seq

    running = [asyncio.ensure_future(load(f"wo-{n}")) for n in range(20)]
    await asyncio.sleep(0.1)
    floor = {f"wo-{n}": len(await store.journal.events(f"wo-{n}")) for n in range(20)}
    home = tmp_path / "restored"
    home.mkdir()
    assert await store.backup(home / "journal.db") > 0
    stop = True
    ends = await asyncio.gather(*running)
    restored = SqliteStore.open(home, clock)
    assert list(await restored.journal.verify()) == []
    for n, end in enumerate(ends):
        kept = len(await restored.journal.events(f"wo-{n}"))
        assert floor[f"wo-{n}"] <= kept <= end
        await restored.journal.append(commit(f"wo-{n}", kept + 1))
    await restored.close()
    with pytest.raises(Conflict) as caught:
        await store.backup(home / "journal.db")
    assert caught.value.code == "backup_exists"


async def test_a_foreign_lock_delays_and_halts_nothing(store: SqliteStore) -> None:
    await store.writer.submit(
        lambda connection: connection.execute("PRAGMA busy_timeout = 50").fetchall()
    )
    foreign = sqlite3.connect(store.path, isolation_level=None)
    foreign.execute("BEGIN IMMEDIATE")
    waiting = store.journal.append(commit("wo-a", 1))
    await asyncio.sleep(0.2)
    assert not waiting.done()
    foreign.execute("ROLLBACK")
    foreign.close()
    await waiting
    assert store.trouble() is None


@pytest.mark.fault("A15")
async def test_a_thousand_open_runs_are_loaded_and_proved(store: SqliteStore) -> None:
    await asyncio.gather(
        *(store.journal.append(commit(f"wo-{n}", seq)) for seq in range(1, 21) for n in range(1000))
    )
    loaded_now = await store.journal.load_open()
    assert len(loaded_now.runs) == 1000
    assert sum(len(run.events) for run in loaded_now.runs) == 20_000

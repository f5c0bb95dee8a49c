"""One damaged row costs at most its order, wherever it is, and is named."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import one_of_each
import pytest

from agent_work_orders.clock import Clock, SystemClock
from agent_work_orders.errors import Broken, Conflict
from agent_work_orders.state_manager.approvals import ApprovalRecord
from agent_work_orders.state_manager.journal import Commit, EffectRow, TimerRow
from agent_work_orders.state_manager.once import once
from agent_work_orders.state_manager.records import OrderFilter
from agent_work_orders.state_manager.sqlite import damage, database, proof
from agent_work_orders.state_manager.sqlite.archive import SqliteArchive
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.testing.conformance.journal import commit

DAMAGE = {
    "a chain of another type": "UPDATE events SET chain = 7 WHERE run = 1",
    "a kind that is no text": "UPDATE events SET kind = x'ff00' WHERE run = 1",
    "a body that is text": "UPDATE events SET body = 'x' WHERE run = 1",
    "a time of another type": "UPDATE events SET at_ms = 'x' WHERE run = 1",
    "a head of another type": "UPDATE runs SET head_chain = 'x' WHERE run = 1",
    "a head without a number": "UPDATE runs SET head_seq = 'x' WHERE run = 1",
    "a snapshot of another type": "UPDATE runs SET head_seq = x'01' WHERE run = 1",
    "an effect that is gone": "DELETE FROM effects WHERE run = 1",
    "an effect of another run": "UPDATE effects SET run = 2 WHERE run = 1",
    "an effect that was changed": "UPDATE effects SET body = x'00' WHERE run = 1",
    "an effect that is text": "UPDATE effects SET body = 'x' WHERE run = 1",
    "an effect with another id": "UPDATE effects SET effect_id = x'ff' WHERE run = 1",
    "a lease of another type": "UPDATE effects SET lease = 'x' WHERE run = 1",
    "a timer that is gone": "DELETE FROM timers WHERE run = 1",
    "a timer that was moved": "UPDATE timers SET at_ms = 99 WHERE run = 1",
}


@pytest.mark.fault("N7")
@pytest.mark.fault("A15")
@pytest.mark.parametrize("damage", DAMAGE)
async def test_a_damaged_row_costs_at_most_its_run(
    tmp_path: Path, clock: Clock, damage: str
) -> None:
    store = SqliteStore.open(tmp_path, clock)
    for run_id in ("wo-a", "wo-b"):
        await store.journal.append(commit(run_id, 1, 2))
        await store.journal.append(
            Commit(
                run_id=run_id,
                effects=(EffectRow(run_id=run_id, effect_id="perform:x:1", body=b"{}"),),
                set_timers=(TimerRow(run_id=run_id, timer="t", at_ms=5),),
                owed=(1, 1),
            )
        )
    await store.close()
    with sqlite3.connect(tmp_path / "journal.db") as connection:
        connection.execute(DAMAGE[damage].replace("run = 2", "run = 3"))
    connection.close()
    store = SqliteStore.open(tmp_path, clock)
    loaded = await store.journal.load_open()
    assert [one.run_id for one in loaded.quarantined] == ["wo-a"]
    assert loaded.quarantined[0].reason
    assert [one.run_id for one in loaded.runs] == ["wo-b"]
    assert "wo-a" in [one.run_id for one in await store.journal.verify()]
    await store.close()


async def test_an_outbox_from_before_is_believed(tmp_path: Path, clock: Clock) -> None:
    store = SqliteStore.open(tmp_path, clock)
    await store.journal.append(commit("wo-a", 1))
    effect = EffectRow(run_id="wo-a", effect_id="perform:x:1", body=b"{}")
    await store.journal.append(Commit(run_id="wo-a", effects=(effect,), owed=(1, 0)))
    await store.close()
    with sqlite3.connect(tmp_path / "journal.db") as connection:
        connection.execute("UPDATE runs SET owed_effects = NULL, owed_timers = NULL")
        connection.execute("UPDATE effects SET checksum = NULL")
        damage.fill(connection)  # as the upgrade does
    connection.close()
    store = SqliteStore.open(tmp_path, clock)
    [run] = (await store.journal.load_open()).runs
    assert run.effects == (effect,)
    await store.close()


@pytest.mark.fault("N7")
async def test_a_damaged_question_is_asked_again_as_the_journal_has_it(store: SqliteStore) -> None:
    asked = [
        ApprovalRecord(
            approval_id=f"wo-a:{name}:1", order_id="wo-a", run_id="wo-a", path=name,
            message="Go on?", subject={"a": 1}, subject_hash="h", asked_at_ms=1,
        )
        for name in ("one", "two")
    ]  # fmt: skip
    for one in asked:
        await store.approvals.ask(one)
    await store.writer.submit(
        lambda connection: connection.execute(
            "UPDATE approvals SET subject = '{{' WHERE path = 'one'"
        )
    )
    assert [one.path for one in await store.approvals.asked()] == ["two"]
    assert [one.path for one in await store.approvals.of_order("wo-a")] == ["two"]
    with pytest.raises(Broken) as caught:
        await store.approvals.get("wo-a:one:1")
    assert caught.value.code == "row_damaged"
    assert await store.approvals.ask(asked[0]) == asked[0]
    assert len(await store.approvals.asked()) == 2


def spoil(home: Path, sql: str) -> int:
    """As a stranger's SQLite would: no checksum is computed."""
    connection = sqlite3.connect(home / "journal.db")
    for name in ("audit_stays", "workflow_versions_stay"):
        connection.execute(f"DROP TRIGGER {name}")
    changed = connection.execute(sql).rowcount
    connection.commit()
    connection.close()
    return changed


def behind_its_index(home: Path, index: str, sql: str) -> None:
    """Change a table so that an index still has what was there, as after a flipped bit."""
    connection = sqlite3.connect(home / "journal.db")
    connection.execute("PRAGMA writable_schema = ON")
    row = connection.execute("SELECT * FROM sqlite_master WHERE name = ?", (index,)).fetchone()
    connection.execute("DELETE FROM sqlite_master WHERE name = ?", (index,))
    connection.commit()
    connection.close()
    connection = sqlite3.connect(home / "journal.db")
    assert connection.execute(sql).rowcount
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)
    connection.commit()
    connection.close()


def tables() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        path, connection = database.prepare(Path(folder), SystemClock())
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        database.settle(connection, path.parent)
    return sorted(name for (name,) in found)


SPOILED: dict[str, tuple[str, Any]] = {
    "api_keys": ("UPDATE api_keys SET role = 'admin'", [None, []]),
    "approvals": ("UPDATE approvals SET message = 'Go away?'", []),
    "artifacts": ("UPDATE artifacts SET size_bytes = size_bytes + 1", "named: row_damaged"),
    "audit": ("UPDATE audit SET who = 'eve'", "row_damaged"),
    "branches": ("UPDATE branches SET head_sha = base_sha", "named: row_damaged"),
    "credentials": ("UPDATE credentials SET last4 = '1235'", []),
    "deliveries": ("UPDATE deliveries SET event = 'pinf' WHERE outcome IS NULL", "was damaged"),
    "feed": ("UPDATE feed SET body = x'7b7d'", "reset"),
    "idempotency_keys": (
        "UPDATE idempotency_keys SET order_id = 'wo-other'",
        "named: idempotency_key_damaged",
    ),
    "ledger": (
        "UPDATE ledger SET receipt = NULL, received_at_ms = NULL WHERE receipt IS NOT NULL",
        "named: row_damaged",
    ),
    "log_entries": ("UPDATE log_entries SET event = 'task_gone'", "row_damaged"),
    "meta": ("UPDATE meta SET value = value - 1 WHERE name = 'audit_n'", None),
    "order_subjects": ("UPDATE order_subjects SET purpose = 'ruin'", "named: row_damaged"),
    "orders": ("UPDATE orders SET title = 'another'", "row_damaged"),
    "quota": ("UPDATE quota SET state = '{}'", []),
    "runs": ("UPDATE runs SET ended = 1", "its own row cannot be read"),
    "sessions": ("UPDATE sessions SET used_at_ms = used_at_ms + 1", None),
    "workflow_versions": ("UPDATE workflow_versions SET source = 'name: other'", "row_damaged"),
}
"""For each table a change that still makes sense, and what is seen of the row instead: exactly
that, or a text that stands in it."""


@pytest.mark.fault("N7")
@pytest.mark.parametrize("table", tables())
async def test_a_row_that_still_makes_sense_is_not_believed(
    tmp_path: Path, clock: Clock, table: str
) -> None:
    if table in proof.OTHERWISE:
        assert table not in proof.TABLES and table not in SPOILED
        return
    sql, wanted = SPOILED[table]
    store = SqliteStore.open(tmp_path, clock)
    given = await one_of_each.write(store, "wo-a")
    await one_of_each.write_order(store, "wo-a")
    before = await one_of_each.read(store, given)
    await store.close()
    archive = SqliteArchive(tmp_path, clock)
    assert archive.every_damaged() == []
    archive.close()
    assert spoil(tmp_path, sql)
    archive = SqliteArchive(tmp_path, clock)
    named = {(one.table, one.order_id) for one in archive.every_damaged()}
    assert {one for one, _ in named} == {table}
    assert all(one.key in str(one) for one in archive.every_damaged())
    archive.close()
    store = SqliteStore.open(tmp_path, clock)
    assert {one.table for one in store.damaged} == ({table} & set(damage.DECIDING))
    seen = await one_of_each.read(store, given)
    others = {name for name in before if table not in (name, name.split()[0], f"order_{name}")}
    assert {name: seen[name] for name in others - {"sessions"}} == {
        name: before[name] for name in others - {"sessions"}
    }
    if isinstance(wanted, str):
        assert wanted in str(seen[table])
    elif table != "meta":
        assert seen[table] == wanted
    await store.close()


@pytest.mark.fault("N7")
async def test_every_column_is_covered_and_every_key(tmp_path: Path, clock: Clock) -> None:
    store = SqliteStore.open(tmp_path, clock)
    await one_of_each.write(store, "wo-a")
    await one_of_each.write_order(store, "wo-a")
    await store.close()
    connection = sqlite3.connect(tmp_path / "journal.db", isolation_level=None)
    for name in ("audit_stays", "workflow_versions_stay"):
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.text_factory = database.legible
    for table in proof.TABLES:
        for _, column, *_ in connection.execute(f"PRAGMA table_info({table})").fetchall():
            connection.execute("BEGIN")
            change = "CASE typeof({0}) WHEN 'integer' THEN {0} + 1 WHEN 'real' THEN {0} + 1 "
            change += "WHEN 'blob' THEN {0} || x'00' WHEN 'null' THEN 1 ELSE {0} || 'x' END"
            rows = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            connection.execute(
                f"UPDATE {table} SET {column} = -n"
                if column == "n"
                else f"UPDATE {table} SET {column} = {change.format(column)}"
            )
            found = list(damage.damaged_rows(connection))
            assert [one.table for one in found] == [table] * rows, (table, column)
            connection.execute("ROLLBACK")
        assert rows, table
    connection.close()


@pytest.mark.fault("N7")
async def test_a_damaged_key_can_be_put_away(tmp_path: Path, clock: Clock) -> None:
    store = SqliteStore.open(tmp_path, clock)
    key, token = await store.keys.create("ann", "viewer")
    await store.close()
    assert spoil(tmp_path, "UPDATE api_keys SET role = 'admin'")
    store = SqliteStore.open(tmp_path, clock)
    assert await store.keys.authenticate(token) is None
    assert (await store.keys.revoke(key.key_id)).revoked_at_ms is not None
    assert [one.role for one in await store.keys.all()] == ["viewer"]
    assert await store.keys.authenticate(token) is None
    await store.close()


@pytest.mark.fault("N7")
async def test_a_damaged_delivery_is_settled_and_can_come_again(
    tmp_path: Path, clock: Clock
) -> None:
    store = SqliteStore.open(tmp_path, clock)
    for name in ("one", "two"):
        await store.deliveries.take(name, "ping", b"{}", 1)
    await store.close()
    assert spoil(tmp_path, "UPDATE deliveries SET body = x'7b' WHERE delivery_id = 'one'")
    store = SqliteStore.open(tmp_path, clock)
    assert [one.delivery_id for one in await store.deliveries.waiting(1)] == ["two"]
    assert await store.deliveries.set_aside(5) == ["one"]
    found = await store.deliveries.find("one")
    assert found is not None and found.state == "failed" and "delivered again" in found.why
    assert await store.deliveries.set_aside(6) == []
    assert not await store.deliveries.taken("one")
    assert await store.deliveries.take("one", "ping", b"{}", 7)
    assert sorted(one.delivery_id for one in await store.deliveries.waiting()) == ["one", "two"]
    await store.close()


@pytest.mark.fault("N7")
async def test_a_write_whose_key_was_damaged_is_not_made_twice(
    tmp_path: Path, clock: Clock
) -> None:
    store = SqliteStore.open(tmp_path, clock)
    await one_of_each.write(store, "wo-a")
    await store.close()
    assert spoil(tmp_path, "UPDATE ledger SET key = 'wo-a:pusg' WHERE key = 'wo-a:push'")
    store = SqliteStore.open(tmp_path, clock)
    assert store.ledger.doubted

    async def look() -> dict[str, str]:
        return {"commit": "found"}

    async def do() -> dict[str, str]:
        raise AssertionError("it was written a second time")

    receipt = await once(
        store.ledger, clock, "wo-a:push", order_id="wo-a", what="w", intent={}, look=look, do=do
    )
    assert receipt == {"commit": "found"}
    await store.close()


@pytest.mark.fault("N7")
@pytest.mark.parametrize("column", ["caller", "key", "body_hash", "order_id"])
async def test_a_damaged_idempotency_key_makes_no_second_order(
    tmp_path: Path, clock: Clock, column: str
) -> None:
    store = SqliteStore.open(tmp_path, clock)
    await store.idempotency.claim("ann", "k", body_hash="h", order_id="wo-a", at_ms=1)
    await store.close()
    assert spoil(tmp_path, f"UPDATE idempotency_keys SET {column} = {column} || 'x'")
    store = SqliteStore.open(tmp_path, clock)
    with pytest.raises(Conflict) as caught:
        await store.idempotency.claim("ann", "k", body_hash="h", order_id="wo-b", at_ms=2)
    assert caught.value.code == "idempotency_key_damaged"
    other = await store.idempotency.claim("bob", "n", body_hash="i", order_id="wo-c", at_ms=2)
    assert other == "wo-c"
    await store.close()


@pytest.mark.fault("N7")
async def test_a_damaged_head_of_the_audit_log_stops_no_order(tmp_path: Path, clock: Clock) -> None:
    store = SqliteStore.open(tmp_path, clock)
    for _ in range(3):
        await store.audit.append(at_ms=1, who="ann", what="test.done")
    await store.close()
    assert spoil(tmp_path, "UPDATE meta SET value = 1 WHERE name = 'audit_n'")
    store = SqliteStore.open(tmp_path, clock)
    assert [one.key for one in store.damaged] == ["audit_n"]
    assert (await store.audit.append(at_ms=2, who="ann", what="test.done")).n == 4
    assert await store.audit.verify() is None
    await store.close()


@pytest.mark.fault("N7")
async def test_an_index_that_does_not_fit_is_made_again(tmp_path: Path, clock: Clock) -> None:
    store = SqliteStore.open(tmp_path, clock)
    await one_of_each.write_order(store, "wo-a")
    await store.close()
    behind_its_index(tmp_path, "orders_by_status", "UPDATE orders SET status = 'runnimg'")
    store = SqliteStore.open(tmp_path, clock)
    mended: list[str] = []
    store.writer.on_mended = mended.append
    line = await store.records.get("wo-a")
    assert line is not None and line.error_code == "row_damaged"
    await store.records.upsert(one_of_each.line("wo-a", "completed"))
    line = await store.records.get("wo-a")
    assert line is not None and line.status == "completed"
    assert await store.records.counts() == {"completed": 1}
    assert mended and store.trouble() is None
    await store.close()


@pytest.mark.fault("N7")
async def test_a_list_that_counts_too_many_comes_to_its_end(tmp_path: Path, clock: Clock) -> None:
    store = SqliteStore.open(tmp_path, clock)
    for order_id in ("wo-a", "wo-b"):
        await store.records.upsert(one_of_each.line(order_id, "running"))
    await store.close()
    gone = "DELETE FROM orders WHERE agent_work_order_id = 'wo-b'"
    behind_its_index(tmp_path, "orders_by_status", gone)
    store = SqliteStore.open(tmp_path, clock)
    running, offset = OrderFilter(status=("running",)), 0
    for _ in range(10):
        page = await store.records.page(running, limit=1, offset=offset)
        offset += len(page.agent_work_orders)
    assert not page.has_more
    await store.close()


def test_pages_go_onward_whatever_their_rows_say() -> None:
    rows = [("b", 1), (b"x", 2), ("a", 3), ("d", 4), (None, 5), ("c", 6)]
    assert proof.onward(rows, "a") == [("b", 1), ("c", 6), ("d", 4)]
    assert proof.onward([(1, "x"), (9, "y"), (4, "z")], 3) == [(4, "z"), (9, "y")]


async def test_an_upgrade_fills_the_checksums(tmp_path: Path, clock: Clock) -> None:
    store = SqliteStore.open(tmp_path, clock)
    given = await one_of_each.write(store, "wo-a")
    await one_of_each.write_order(store, "wo-a")
    before = await one_of_each.read(store, given)
    await store.close()
    connection = sqlite3.connect(tmp_path / "journal.db")
    for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE type = 'trigger'"):
        connection.execute(f"DROP TRIGGER {sql.split()[2]}")
    for table in proof.TABLES:
        connection.execute(f"ALTER TABLE {table} DROP COLUMN checksum")
    connection.execute("DELETE FROM schema_version WHERE version >= 14")
    connection.commit()
    connection.close()
    store = SqliteStore.open(tmp_path, clock)
    assert store.damaged == ()
    assert await one_of_each.read(store, given) == before
    await store.close()


async def test_a_key_of_a_damaged_time_is_not_forgotten(tmp_path: Path, clock: Any) -> None:
    store = SqliteStore.open(tmp_path, clock)
    for key, at_ms in (("old", 1), ("new", 100)):
        await store.idempotency.claim("ann", key, body_hash="h", order_id="wo-1", at_ms=at_ms)
    await store.close()
    with sqlite3.connect(tmp_path / "journal.db") as connection:
        connection.execute("UPDATE idempotency_keys SET at_ms = 2 WHERE key = 'new'")
    connection.close()
    store = SqliteStore.open(tmp_path, clock)
    assert await store.idempotency.forget_before(50) == 1
    with pytest.raises(Conflict) as refused:
        await store.idempotency.claim("ann", "new", body_hash="h", order_id="wo-2", at_ms=200)
    assert refused.value.code == "idempotency_key_damaged"
    await store.close()

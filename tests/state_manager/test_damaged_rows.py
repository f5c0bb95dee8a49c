"""One damaged row costs at most its order, wherever it is, and is named."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from agent_work_orders.clock import Clock
from agent_work_orders.errors import Broken
from agent_work_orders.state_manager.approvals import ApprovalRecord
from agent_work_orders.state_manager.journal import Commit, EffectRow, TimerRow
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
    loaded = store.journal.load_open()
    assert [one.run_id for one in loaded.quarantined] == ["wo-a"]
    assert loaded.quarantined[0].reason
    assert [one.run_id for one in loaded.runs] == ["wo-b"]
    assert "wo-a" in [one.run_id for one in store.journal.verify()]
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
    connection.close()
    store = SqliteStore.open(tmp_path, clock)
    [run] = store.journal.load_open().runs
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
    assert [one.path for one in store.approvals.asked()] == ["two"]
    assert [one.path for one in store.approvals.of_order("wo-a")] == ["two"]
    with pytest.raises(Broken) as caught:
        store.approvals.get("wo-a:one:1")
    assert caught.value.code == "row_damaged"
    assert await store.approvals.ask(asked[0]) == asked[0]
    assert len(store.approvals.asked()) == 2

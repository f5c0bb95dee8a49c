"""The read side."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from agent_work_orders.clock import Clock
from agent_work_orders.state_manager.logbook import LogFilter
from agent_work_orders.state_manager.records import OrderRecord
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.testing.conformance.read_side import record

_SQL = queries("records")


async def test_hostile_text_is_stored(store: SqliteStore) -> None:
    line = record("b", initial_prompt="half \ud800 pair", agent={"x": ["\udfff"]})
    await store.records.upsert(line)
    found = await store.records.get(line.agent_work_order_id)
    assert found is not None
    assert (found.initial_prompt, found.agent) == ("half ? pair", {"x": ["?"]})
    store.logbook.add("wo-a", at_ms=1, level="info", event="e\ud800", fields={"t": "\ud800"})
    await store.records.upsert(record("c"))
    assert (await store.logbook.page("wo-a")).log_entries[0].fields == {"t": "?"}


async def test_logs_are_numbered_paged_and_followed(tmp_path: Path, clock: Clock) -> None:
    store = SqliteStore.open(tmp_path, clock)
    for n in range(5):
        level = "error" if n == 3 else "info"
        store.logbook.add("wo-a", at_ms=n, level=level, event=f"e{n}", fields={"n": n})
    store.logbook.add("wo-b", at_ms=9, level="info", event="other", fields={})
    await store.close()
    store = SqliteStore.open(tmp_path, clock)
    page = await store.logbook.page("wo-a", limit=2, offset=1)
    assert [entry.event for entry in page.log_entries] == ["e1", "e2"]
    assert (page.total_count, page.has_more) == (5, True)
    assert [entry.n for entry in await store.logbook.after("wo-a", 3)] == [4, 5]
    assert (await store.logbook.page("wo-a", LogFilter(level="error"))).total_count == 1
    entry = store.logbook.add("wo-a", at_ms=9, level="info", event="next", fields={})
    assert entry.n == 6
    big = store.logbook.add("wo-a", at_ms=9, level="info", event="big", fields={"x": "y" * 70_000})
    assert "dropped" in big.fields
    await store.close()


@pytest.mark.fault("K16")
async def test_long_lists_are_read_by_an_index(store: SqliteStore) -> None:
    """Neither sorting nor scanning: the cost of a page does not grow with what is kept."""
    log = _SQL["page_log_entries_newest"]
    plans = {
        "SELECT * FROM orders ORDER BY created_at_ms DESC, agent_work_order_id DESC LIMIT 50": (),
        "SELECT * FROM orders WHERE status = 'x' "
        "ORDER BY created_at_ms DESC, agent_work_order_id DESC LIMIT 50": (),
        log: ("wo-a", "", "", 0, 100, 0),
        _SQL["count_log_entries_after"]: ("wo-a", 5),
    }
    for sql, values in plans.items():
        plan = " / ".join(
            str(row[-1]) for row in store.readers.rows(f"EXPLAIN QUERY PLAN {sql}", values)
        )
        assert "TEMP B-TREE" not in plan, plan
        assert "USING" in plan, plan


async def test_the_feed_grows_over_lives(tmp_path: Path, clock: Clock) -> None:
    store = SqliteStore.open(tmp_path, clock)
    assert (await store.feed.oldest(), list(await store.feed.after(0))) == (0, [])
    rows = [store.feed.publish(f"wo-{n % 2}", "changed", n, b"%d" % n) for n in range(10)]
    await store.close()
    store = SqliteStore.open(tmp_path, clock)
    assert list(await store.feed.after(rows[6].n)) == rows[7:]
    assert list(await store.feed.after(0, order_id="wo-1")) == rows[1::2]
    assert list(await store.feed.after(0, limit=2)) == rows[:2]
    assert store.feed.latest() > rows[-1].n
    late = store.feed.publish("wo-0", "changed", 11, b"late")
    assert late.n > rows[-1].n
    assert await store.feed.trim(3) == 8
    assert await store.feed.oldest() == rows[8].n
    assert await store.feed.trim(3) == 0
    await store.close()


async def test_records_are_frozen() -> None:
    with pytest.raises(AttributeError):
        record("b").status = "failed"  # type: ignore[misc]
    assert msgspec.json.decode(msgspec.json.encode(record("b")), type=OrderRecord) == record("b")

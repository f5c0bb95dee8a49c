"""The read side."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_work_orders.clock import Clock
from agent_work_orders.errors import BadRequest, Conflict, NotFound
from agent_work_orders.state_manager.approvals import ApprovalRecord
from agent_work_orders.state_manager.logbook import LogFilter
from agent_work_orders.state_manager.records import OrderFilter, OrderPage, OrderRecord
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.store import SqliteStore

_SQL = queries("records")


def record(name: str, **fields: Any) -> OrderRecord:
    values: dict[str, Any] = {
        "agent_work_order_id": "wo-" + name.ljust(16, "a"),
        "repository_url": "https://github.com/o/r",
        "repository": "github.com/o/r",
        "sandbox_type": "git_worktree",
        "workflow_type": "plan-build-test",
        "workflow_version": "hash",
        "status": "running",
        "created_by": "me",
        "created_at_ms": 1,
        "updated_at_ms": 1,
        "run_seq": 1,
    }
    return OrderRecord(**{**values, **fields})


def ids(page: OrderPage) -> list[str]:
    return [line.agent_work_order_id[3:].rstrip("a") for line in page.agent_work_orders]


async def fill(store: SqliteStore, *records: OrderRecord) -> None:
    await asyncio.gather(*(store.records.upsert(line) for line in records))


async def test_a_record_comes_back_whole(store: SqliteStore) -> None:
    line = record(
        "b",
        agent={"name": "claude", "n": 1},
        warnings=["a", "é"],
        cost_usd=0.25,
        title="x\x00y",
        rolled_back=True,
    )
    await store.records.upsert(line)
    assert await store.records.get(line.agent_work_order_id) == line
    assert (await store.records.page()).agent_work_orders[0].rolled_back is True
    assert await store.records.get("wo-unknown") is None


async def test_an_older_record_does_not_replace_a_newer(store: SqliteStore) -> None:
    newer, older = record("b", run_seq=5, status="completed"), record("b", run_seq=4)
    await fill(store, newer, older)
    await store.records.upsert(older)
    assert await store.records.get(newer.agent_work_order_id) == newer


async def test_filters_and_totals(store: SqliteStore) -> None:
    await fill(
        store,
        record("b", created_at_ms=1, status="failed"),
        record("c", created_at_ms=2, repository="github.com/o/other"),
        record("d", created_at_ms=3, workflow_type="custom", status="completed"),
    )
    page = store.records.page
    assert ids(await page()) == ["d", "c", "b"]
    assert ids(await page(descending=False)) == ["b", "c", "d"]
    assert ids(await page(OrderFilter(status=("failed", "completed")))) == ["d", "b"]
    assert ids(await page(OrderFilter(repository="github.com/o/other"))) == ["c"]
    assert ids(await page(OrderFilter(repositories=("github.com/o/r",)))) == ["d", "b"]
    assert ids(await page(OrderFilter(repositories=()))) == []
    assert ids(await page(OrderFilter(workflow="custom"))) == ["d"]
    second = await page(limit=1, offset=1)
    assert (ids(second), second.total_count, second.has_more) == (["c"], 3, True)
    assert (await page(limit=1, offset=2)).has_more is False
    assert await store.records.counts() == {"failed": 1, "running": 1, "completed": 1}


@pytest.mark.fault("K13")
async def test_text_is_text(store: SqliteStore) -> None:
    await fill(
        store,
        record("b", initial_prompt="make it 100% better"),
        record("c", initial_prompt="make it 1000 better", git_branch_name="feat_x"),
        record("d", github_issue_number="42\\7", git_branch_name="featyx"),
    )

    async def found(text: str) -> list[str]:
        return sorted(ids(await store.records.page(OrderFilter(text=text))))

    assert await found("100%") == ["b"]
    assert await found("feat_x") == ["c"]
    assert await found("42\\") == ["d"]
    assert await found("%") == ["b"]
    assert await found("'; DROP TABLE orders; --") == []
    assert await found("MAKE IT") == ["b", "c"]
    assert await found("\ud800") == []
    assert ids(await store.records.page(OrderFilter(status=("' OR 1=1 --",)))) == []
    with pytest.raises(BadRequest):
        await store.records.page(OrderFilter(text="x" * 201))


@pytest.mark.fault("K13")
async def test_only_known_columns_sort(store: SqliteStore) -> None:
    await fill(store, record("b", priority="low"), record("c", priority="urgent"))
    assert ids(await store.records.page(order_by="priority")) == ["c", "b"]
    hostile: Any = "created_at_ms; DROP TABLE orders"
    with pytest.raises(BadRequest) as caught:
        await store.records.page(order_by=hostile)
    assert caught.value.code == "order_by_invalid"
    for limit, offset in ((0, 0), (501, 0), (10, -1), (10, 2**63)):
        with pytest.raises(BadRequest):
            await store.records.page(limit=limit, offset=offset)


async def test_prefixes(store: SqliteStore) -> None:
    await fill(store, record("bc"), record("bd"), record("e"))
    find = store.records.find_by_prefix
    assert len(await find("wo-b")) == 2
    assert await find("bc") == ["wo-bcaaaaaaaaaaaaaa"]
    assert await find("wo-e") == ["wo-eaaaaaaaaaaaaaaa"]
    assert await find("zz") == []
    for bad in ("", "%", "wo-%", "B", "wo-" + "a" * 17):
        with pytest.raises(BadRequest):
            await find(bad)


async def test_hostile_text_is_stored(store: SqliteStore) -> None:
    line = record("b", initial_prompt="half \ud800 pair", agent={"x": ["\udfff"]})
    await store.records.upsert(line)
    found = await store.records.get(line.agent_work_order_id)
    assert found is not None
    assert (found.initial_prompt, found.agent) == ("half ? pair", {"x": ["?"]})
    store.logbook.add("wo-a", at_ms=1, level="info", event="e\ud800", fields={"t": "\ud800"})
    await store.records.upsert(record("c"))
    assert (await store.logbook.page("wo-a")).log_entries[0].fields == {"t": "?"}


async def test_the_projection_can_be_emptied(store: SqliteStore) -> None:
    await store.records.upsert(record("b"))
    await store.approvals.ask(approval("ap-1"))
    store.logbook.add("wo-a", at_ms=1, level="info", event="e", fields={})
    store.records.upsert_lazily(record("c"))
    await store.records.truncate_projection()
    assert (await store.records.page()).total_count == 0
    assert await store.approvals.asked() == []
    assert (await store.logbook.page("wo-a")).total_count == 1


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


async def test_a_log_is_searched_followed_and_read_from_its_end(store: SqliteStore) -> None:
    def add(count: int, **fields: Any) -> None:
        for _ in range(count):
            store.logbook.add("wo-a", at_ms=1, level="info", event="Tick", fields=fields)

    async def written() -> None:
        await store.records.upsert(record("z"))

    async def numbers(wanted: LogFilter, **more: Any) -> list[int]:
        return [entry.n for entry in (await store.logbook.page("wo-a", wanted, **more)).log_entries]

    add(5, text="100% sure")
    add(2, text="Schluss_mit")
    await written()
    page = await store.logbook.page("wo-a", limit=3, descending=True)
    assert [entry.n for entry in page.log_entries] == [7, 6, 5]
    assert (page.total_count, page.has_more) == (7, True)
    assert await numbers(LogFilter(after=5)) == [6, 7]
    assert (await store.logbook.page("wo-a", LogFilter(after=5))).total_count == 7
    assert (await store.logbook.page("wo-a", LogFilter(after=5))).has_more is False
    add(1, text="later")
    await written()
    assert (await store.logbook.page("wo-a", LogFilter(after=7))).total_count == 8, "counted on"
    assert await numbers(LogFilter(text="0% SURE"), limit=2) == [1, 2]
    found = await store.logbook.page("wo-a", LogFilter(text="0% sure", level="info"), limit=2)
    assert (found.total_count, found.has_more) == (5, True)
    assert (await numbers(LogFilter(text="tick"), descending=True))[0] == 8
    assert await numbers(LogFilter(text="s_mit")) == [6, 7]
    assert await numbers(LogFilter(text="0_ sure")) == []
    assert await numbers(LogFilter(text="tick", level="error")) == []
    with pytest.raises(BadRequest):
        await numbers(LogFilter(text="x" * 201))
    assert (await store.logbook.page("wo-none")).total_count == 0


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


def approval(approval_id: str, **fields: Any) -> ApprovalRecord:
    values: dict[str, Any] = {
        "approval_id": approval_id,
        "order_id": "wo-a",
        "run_id": "wo-a",
        "path": "publish",
        "message": "Open it?",
        "subject": {"commit": "abc"},
        "subject_hash": "h1",
        "asked_at_ms": 1,
    }
    return ApprovalRecord(**{**values, **fields})


async def test_the_first_answer_counts(store: SqliteStore) -> None:
    asked = await store.approvals.ask(approval("ap-1"))
    assert await store.approvals.ask(approval("ap-1", message="other")) == asked
    await store.approvals.ask(approval("ap-2", asked_at_ms=2))
    assert [a.approval_id for a in await store.approvals.asked()] == ["ap-1", "ap-2"]
    settle = store.approvals.settle
    with pytest.raises(Conflict) as caught:
        await settle("ap-1", "approved", at_ms=5, subject_hash="h2")
    assert caught.value.code == "approval_subject_changed"
    yes = await settle("ap-1", "approved", at_ms=5, by="ann", comment="ok", subject_hash="h1")
    assert (yes.state, yes.decided_by, yes.decided_at_ms) == ("approved", "ann", 5)
    assert await settle("ap-1", "approved", at_ms=6, by="bob") == yes
    with pytest.raises(Conflict) as caught:
        await settle("ap-1", "rejected", at_ms=7)
    assert caught.value.code == "approval_settled"
    with pytest.raises(NotFound):
        await settle("ap-9", "approved", at_ms=7)
    assert await store.approvals.get("ap-1") == yes
    assert [a.approval_id for a in await store.approvals.asked()] == ["ap-2"]
    assert len(await store.approvals.of_order("wo-a")) == 2


@pytest.mark.fault("K14")
async def test_one_key_makes_one_order(store: SqliteStore) -> None:
    async def claim(n: int, body: str = "b", caller: str = "me") -> str:
        return await store.idempotency.claim(
            caller, "key", body_hash=body, order_id=f"wo-{n}", at_ms=n
        )

    orders = await asyncio.gather(*(claim(n) for n in range(50)))
    assert set(orders) == {orders[0]}
    with pytest.raises(Conflict) as caught:
        await claim(51, body="other")
    assert caught.value.code == "idempotency_key_reused"
    assert await claim(52, caller="you") == "wo-52"
    with pytest.raises(BadRequest):
        await store.idempotency.claim("me", "", body_hash="b", order_id="wo-1", at_ms=1)
    assert await store.idempotency.forget_before(10) == 1
    assert await claim(53, body="other") == "wo-53"


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

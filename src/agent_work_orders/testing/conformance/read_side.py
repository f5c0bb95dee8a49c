"""What every store must show to people. Subclass and give a pytest fixture `store`.

A lazy write is visible after the next durable one: `_written` makes one.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_work_orders.errors import BadRequest, Conflict, NotFound
from agent_work_orders.state_manager.approvals import ApprovalRecord
from agent_work_orders.state_manager.logbook import LogFilter
from agent_work_orders.state_manager.records import OrderFilter, OrderPage, OrderRecord
from agent_work_orders.state_manager.store import Store
from agent_work_orders.state_manager.versions import Origin, WorkflowVersion


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


class RecordsConformance:
    async def test_a_record_comes_back_whole(self, store: Store) -> None:
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

    async def test_an_older_record_does_not_replace_a_newer(self, store: Store) -> None:
        newer, older = record("b", run_seq=5, status="completed"), record("b", run_seq=4)
        await _fill(store, newer, older)
        await store.records.upsert(older)
        assert await store.records.get(newer.agent_work_order_id) == newer

    async def test_filters_and_totals(self, store: Store) -> None:
        await _fill(
            store,
            record("b", created_at_ms=1, status="failed"),
            record("c", created_at_ms=2, repository="github.com/o/other"),
            record("d", created_at_ms=3, workflow_type="custom", status="completed"),
        )
        page = store.records.page
        assert _ids(await page()) == ["d", "c", "b"]
        assert _ids(await page(descending=False)) == ["b", "c", "d"]
        assert _ids(await page(OrderFilter(status=("failed", "completed")))) == ["d", "b"]
        assert _ids(await page(OrderFilter(repository="github.com/o/other"))) == ["c"]
        assert _ids(await page(OrderFilter(repositories=("github.com/o/r",)))) == ["d", "b"]
        assert _ids(await page(OrderFilter(repositories=()))) == []
        assert _ids(await page(OrderFilter(workflow="custom"))) == ["d"]
        second = await page(limit=1, offset=1)
        assert (_ids(second), second.total_count, second.has_more) == (["c"], 3, True)
        assert (await page(limit=1, offset=2)).has_more is False
        assert await store.records.counts() == {"failed": 1, "running": 1, "completed": 1}

    @pytest.mark.fault("K13")
    async def test_text_is_text(self, store: Store) -> None:
        await _fill(
            store,
            record("b", initial_prompt="make it 100% better"),
            record("c", initial_prompt="make it 1000 better", git_branch_name="feat_x"),
            record("d", github_issue_number="42\\7", git_branch_name="featyx", title="Tea_time"),
        )

        async def found(text: str) -> list[str]:
            return sorted(_ids(await store.records.page(OrderFilter(text=text))))

        assert await found("100%") == ["b"]
        assert await found("feat_x") == ["c"]
        assert await found("tea_") == ["d"]
        assert await found("42\\") == ["d"]
        assert await found("%") == ["b"]
        assert await found("'; DROP TABLE orders; --") == []
        assert await found("MAKE IT") == ["b", "c"]
        assert await found("\ud800") == []
        with pytest.raises(BadRequest):
            await store.records.page(OrderFilter(text="x" * 201))

    @pytest.mark.fault("K13")
    async def test_only_known_columns_sort(self, store: Store) -> None:
        await _fill(store, record("b", priority="low"), record("c", priority="urgent"))
        assert _ids(await store.records.page(order_by="priority")) == ["c", "b"]
        hostile: Any = "created_at_ms; DROP TABLE orders"
        with pytest.raises(BadRequest) as caught:
            await store.records.page(order_by=hostile)
        assert caught.value.code == "order_by_invalid"
        for limit, offset in ((0, 0), (501, 0), (10, -1), (10, 2**63)):
            with pytest.raises(BadRequest):
                await store.records.page(limit=limit, offset=offset)

    async def test_prefixes(self, store: Store) -> None:
        await _fill(store, record("bc"), record("bd"), record("e"))
        find = store.records.find_by_prefix
        assert len(await find("wo-b")) == 2
        assert await find("bc") == ["wo-bcaaaaaaaaaaaaaa"]
        assert await find("wo-e") == ["wo-eaaaaaaaaaaaaaaa"]
        assert await find("zz") == []
        for bad in ("", "%", "wo-%", "B", "wo-" + "a" * 17):
            with pytest.raises(BadRequest):
                await find(bad)

    async def test_the_projection_can_be_emptied(self, store: Store) -> None:
        await store.records.upsert(record("b"))
        await store.approvals.ask(approval("ap-1"))
        store.logbook.add("wo-a", at_ms=1, level="info", event="e", fields={})
        store.records.upsert_lazily(record("c"))
        await store.records.truncate_projection()
        assert (await store.records.page()).total_count == 0
        assert await store.approvals.asked() == []
        assert (await store.logbook.page("wo-a")).total_count == 1


class ApprovalsConformance:
    async def test_the_first_answer_counts(self, store: Store) -> None:
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


class LogbookConformance:
    async def test_a_log_is_searched_followed_and_read_from_its_end(self, store: Store) -> None:
        async def numbers(wanted: LogFilter, **more: Any) -> list[int]:
            page = await store.logbook.page("wo-a", wanted, **more)
            return [entry.n for entry in page.log_entries]

        await _tick(store, 5, text="100% sure")
        await _tick(store, 2, text="Schluss_mit")
        page = await store.logbook.page("wo-a", limit=3, descending=True)
        assert [entry.n for entry in page.log_entries] == [7, 6, 5]
        assert (page.total_count, page.has_more) == (7, True)
        assert await numbers(LogFilter(after=5)) == [6, 7]
        assert (await store.logbook.page("wo-a", LogFilter(after=5))).total_count == 7
        assert (await store.logbook.page("wo-a", LogFilter(after=5))).has_more is False
        await _tick(store, 1, text="later")
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

    async def test_orders_are_numbered_by_themselves_and_followed(self, store: Store) -> None:
        await _tick(store, 5)
        other = store.logbook.add("wo-b", at_ms=9, level="info", event="other", fields={})
        assert other.n == 1
        assert [entry.n for entry in await store.logbook.after("wo-a", 3)] == [4, 5]
        big = {"x": "y" * 70_000}
        cut = store.logbook.add("wo-a", at_ms=9, level="info", event="big", fields=big)
        assert cut.n == 6 and "dropped" in cut.fields


class FeedConformance:
    async def test_rows_are_numbered_followed_and_trimmed(self, store: Store) -> None:
        feed = store.feed
        assert (await feed.oldest(), list(await feed.after(0))) == (0, [])
        rows = [feed.publish(f"wo-{n % 2}", "changed", n, b"%d" % n) for n in range(10)]
        assert feed.latest() == rows[-1].n
        assert sorted({row.n for row in rows}) == [row.n for row in rows]
        assert await feed.trim(100) == 0
        assert list(await feed.after(rows[6].n)) == rows[7:]
        assert list(await feed.after(0, order_id="wo-1")) == rows[1::2]
        assert list(await feed.after(0, limit=2)) == rows[:2]
        assert await feed.trim(3) == 7
        assert await feed.oldest() == rows[7].n
        assert await feed.trim(3) == 0


class VersionsConformance:
    async def test_versions_never_change(self, store: Store) -> None:
        one = await save(store, "one", origin="builtin")
        two = await save(store, "two")
        assert (one.version, two.version) == (1, 2)
        assert await save(store, "one") == one
        assert await store.versions.latest("fix") == two
        assert await store.versions.get("fix", 1) == one
        assert await store.versions.get("fix", 3) is None
        back = await store.versions.restore("fix", 1, created_by="ann", at_ms=9)
        assert (back.version, back.hash, back.plan) == (3, "h-one", b"one")
        assert await store.versions.restore("fix", 1, created_by="ann", at_ms=9) == back
        assert await store.versions.latest("fix") == back
        assert [v.version for v in await store.versions.history("fix")] == [3, 2, 1]
        other = await save(store, "other", name="abc")
        assert list(await store.versions.names()) == [other, back]
        assert await store.versions.by_hash("h-two") == two
        with pytest.raises(NotFound):
            await store.versions.restore("fix", 9, created_by="ann", at_ms=9)
        assert await store.versions.get("fix", 1) == one

    async def test_parallel_saves_of_one_content_make_one_version(self, store: Store) -> None:
        saved = await asyncio.gather(*(save(store, "same") for _ in range(20)))
        assert {v.version for v in saved} == {1}


async def save(
    store: Store, content: str, name: str = "fix", origin: Origin = "user"
) -> WorkflowVersion:
    return await store.versions.save(
        name,
        hash="h-" + content,
        source=content,
        plan=content.encode(),
        created_by="me",
        origin=origin,
        at_ms=1,
    )


async def _fill(store: Store, *records: OrderRecord) -> None:
    await asyncio.gather(*(store.records.upsert(line) for line in records))


async def _tick(store: Store, count: int, **fields: Any) -> None:
    for _ in range(count):
        store.logbook.add("wo-a", at_ms=1, level="info", event="Tick", fields=fields)
    await _written(store)


async def _written(store: Store) -> None:
    await store.records.upsert(record("z"))


def _ids(page: OrderPage) -> list[str]:
    return [line.agent_work_order_id[3:].rstrip("a") for line in page.agent_work_orders]

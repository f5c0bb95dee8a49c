"""The disk fills at every write of one request: who is told "no" has made no order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from site_bench import Site

from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.security.roles import LOCAL_OPERATOR
from agent_work_orders.state_manager.sqlite.writer import Writer
from agent_work_orders.work_orders import find, submit


def fill_at(site: Site, monkeypatch: pytest.MonkeyPatch, number: int) -> Callable[[], bool]:
    """SQLite itself finds no room for the transaction with this number, from now on. Returns
    whether it came so far."""
    transaction, count = Writer._transaction, 0

    def limited(self: Writer, group: list[Any], body: Any) -> Any:
        nonlocal count
        count += 1
        return transaction(self, group, filling if count == number else body)

    def filling(group: list[Any]) -> Any:
        writer = site.house.store.writer
        connection = writer._connection
        writer._run_all(group)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        connection.execute("INSERT INTO meta (name, value) VALUES ('large', zeroblob(1000000))")

    monkeypatch.setattr(Writer, "_transaction", limited)
    return lambda: count >= number


@pytest.mark.fault("N8")
@pytest.mark.fault("A13")
async def test_a_refused_order_never_runs(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    await site.until(await site.submit(), "completed")  # the versions of its workflow are kept
    refused, seen = 0, set(await site.house.store.journal.run_ids())
    for number in range(1, 30):
        await asyncio.sleep(0.2)  # lazy writes of the order before
        with monkeypatch.context() as patched:
            reached = fill_at(site, patched, number)
            key, told = f"key-{number}", ""
            try:
                made = await submit.submit(
                    site.context, site.new(idempotency_key=key, title="x" * 200), LOCAL_OPERATOR
                )
            except AgentWorkOrdersError as error:
                told = error.code
            early = reached()
        if told:
            assert told == "journal_full"
            refused += 1
        await _healthy(site)
        known = [run for run in await site.house.store.journal.run_ids() if run not in seen]
        if told:
            assert known == []
            assert not await _created(site, since=seen)
            made = await submit.submit(
                site.context, site.new(idempotency_key=key, title="x" * 200), LOCAL_OPERATOR
            )
        found = await find.record_of(site.context, made.agent_work_order_id, LOCAL_OPERATOR)
        assert found.created_by == "local"
        await site.until(made.agent_work_order_id, "completed")
        assert await _created(site, since=seen) == [made.agent_work_order_id]
        seen.update(await site.house.store.journal.run_ids())
        if not told and not early:
            break
    assert refused >= 2


async def _created(site: Site, since: set[str]) -> list[str]:
    rows = await site.context.store.audit.page(limit=500)
    return [
        str(one.order_id)
        for one in rows
        if one.what == "order.create" and one.who == "local" and one.order_id not in since
    ]


async def _healthy(site: Site) -> None:
    async with asyncio.timeout(30):
        while not site.house.engine.health()["ok"]:
            await asyncio.sleep(0.05)

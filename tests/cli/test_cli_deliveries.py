"""`awo deliveries`: what came from GitHub, and having it tried again."""

from __future__ import annotations

import asyncio
from typing import Any

from agent_work_orders.clock import SystemClock
from agent_work_orders.state_manager.sqlite.store import SqliteStore


def test_list_show_and_retry_without_a_server(awo: Any) -> None:
    async def fill() -> None:
        store = SqliteStore.open(awo.home, SystemClock())
        for guid in ("aa", "bb"):
            await store.deliveries.take(guid, "issues", b"{}", 1_800_000_000_000)
        first = (await store.deliveries.waiting())[0]
        await store.deliveries.settle(first.n, "failed", "tried 5 times: bad", 1)
        await store.deliveries.note("dd", "push", "not JSON (json_invalid)", 2)
        await store.close()

    asyncio.run(fill())
    listed = awo.inside("deliveries", "list", "--json").json["deliveries"]
    assert [(one["delivery_id"], one["state"]) for one in listed] == [
        ("dd", "failed"), ("bb", "waiting"), ("aa", "failed"),
    ]  # fmt: skip
    failed = awo.inside("deliveries", "list", "--state", "failed").out
    assert "tried 5 times" in failed and "not JSON (json_invalid)" in failed
    assert "tried 5 times: bad" in awo.inside("deliveries", "show", "AA").out
    again = awo.inside("deliveries", "retry", "aa", "--json").json["delivery"]
    assert (again["state"], again["attempts"]) == ("waiting", 0)
    for wrong in (("retry", "aa"), ("show", "cc"), ("list", "--state", "odd")):
        assert awo.inside("deliveries", *wrong).code == 2, wrong

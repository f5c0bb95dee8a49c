"""What every ledger must do. Subclass and give a pytest fixture `ledger`."""

from __future__ import annotations

import asyncio

from agent_work_orders.errors import Broken
from agent_work_orders.state_manager.ledger import Entry, Ledger


async def intend(ledger: Ledger, key: str, at_ms: int = 1, **intent: object) -> Entry:
    return await ledger.intend(key, order_id="wo-a", what="comment", intent=intent, at_ms=at_ms)


class LedgerConformance:
    async def test_nothing_is_found_before(self, ledger: Ledger) -> None:
        assert await ledger.find("k") is None
        assert await ledger.entries("wo-a") == []

    async def test_an_intent_is_found_without_receipt(self, ledger: Ledger) -> None:
        entry = await intend(ledger, "k", body="hello")
        assert entry.intent == {"body": "hello"}
        assert entry.receipt is None and entry.received_at_ms is None
        assert await ledger.find("k") == entry

    async def test_the_first_intent_stays(self, ledger: Ledger) -> None:
        first = await intend(ledger, "k", body="first")
        assert await intend(ledger, "k", at_ms=2, body="second") == first

    async def test_of_many_at_once_one_is_kept(self, ledger: Ledger) -> None:
        entries = await asyncio.gather(*(intend(ledger, "k", at_ms=n, n=n) for n in range(50)))
        assert all(entry == entries[0] for entry in entries)

    async def test_the_first_receipt_stays(self, ledger: Ledger) -> None:
        await intend(ledger, "k")
        first = await ledger.receive("k", {"id": 1}, at_ms=5)
        assert first.receipt == {"id": 1} and first.received_at_ms == 5
        assert await ledger.receive("k", {"id": 2}, at_ms=6) == first
        assert await ledger.find("k") == first
        assert await intend(ledger, "k") == first

    async def test_a_receipt_needs_an_intent(self, ledger: Ledger) -> None:
        try:
            await ledger.receive("k", {}, at_ms=1)
        except Broken as error:
            assert error.code == "ledger_intent_missing"
        else:
            raise AssertionError("a receipt without an intent was taken")

    async def test_intents_without_a_receipt_are_found_by_kind(self, ledger: Ledger) -> None:
        for number, key in enumerate(("b", "a", "c")):
            await intend(ledger, key, at_ms=number)
        await ledger.intend("d", order_id="wo-a", what="push", intent={}, at_ms=0)
        await ledger.receive("a", {}, at_ms=9)
        assert [entry.key for entry in await ledger.unreceived("comment")] == ["b", "c"]
        assert await ledger.unreceived("nothing") == []

    async def test_entries_of_an_order_in_time(self, ledger: Ledger) -> None:
        await intend(ledger, "b", at_ms=1)
        await intend(ledger, "a", at_ms=2)
        await ledger.intend("c", order_id="wo-b", what="push", intent={}, at_ms=3)
        assert [entry.key for entry in await ledger.entries("wo-a")] == ["b", "a"]

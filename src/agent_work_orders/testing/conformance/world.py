"""What every store must keep of the world outside. Subclass and give a pytest fixture `store`.

The ledger, which engines also use by itself, has its suite in ledger.py.
"""

from __future__ import annotations

import asyncio
import hashlib

import pytest

from agent_work_orders.errors import BadRequest, Conflict, NotFound
from agent_work_orders.state_manager import deliveries as contract
from agent_work_orders.state_manager.branches import Branch
from agent_work_orders.state_manager.store import Store
from agent_work_orders.state_manager.subjects import OrderSubject


class BranchesConformance:
    async def test_the_last_word_on_an_order_counts(self, store: Store) -> None:
        assert await store.branches.get("wo-a") is None
        for head in ("base", "one", "two"):
            await store.branches.keep(_branch("wo-a", head))
        await store.branches.keep(_branch("wo-b", "base"))
        assert await store.branches.get("wo-a") == _branch("wo-a", "two")
        found = {one.order_id: one.head_sha for one in await store.branches.all()}
        assert found == {"wo-a": "two", "wo-b": "base"}


class ArtifactsConformance:
    async def test_they_are_kept_once_and_listed(self, store: Store) -> None:
        put = store.artifacts.put
        first = await put("wo-a", "plan", "transcript.jsonl", b"hello", "text/plain", 1)
        again = await put("wo-b", "plan", "other", b"hello", "text/plain", 2)
        assert first.sha256 == again.sha256 == hashlib.sha256(b"hello").hexdigest()
        assert await store.artifacts.read(first.sha256) == b"hello"
        newer = await put("wo-a", "plan", "transcript.jsonl", b"more", "text/plain", 3)
        assert list(await store.artifacts.list("wo-a")) == [newer]
        assert list(await store.artifacts.absent()) == []

    async def test_what_is_unknown_is_not_found(self, store: Store) -> None:
        for unknown in ("0" * 64, "../../owner.lock", ""):
            with pytest.raises(NotFound):
                await store.artifacts.read(unknown)


class DeliveriesConformance:
    async def test_they_wait_in_the_order_of_arrival_until_they_are_settled(
        self, store: Store
    ) -> None:
        for number in range(5):
            assert await store.deliveries.take(f"g{number}", "push", b"%d" % number, number)
        waiting = await store.deliveries.waiting()
        assert [one.body for one in waiting] == [b"0", b"1", b"2", b"3", b"4"]
        await store.deliveries.settle(waiting[1].n, "handled", "wo-1", 9)
        await store.deliveries.settle(waiting[1].n, "failed", "late", 10)
        left = await store.deliveries.waiting(2, after=waiting[0].n)
        assert [one.delivery_id for one in left] == ["g2", "g3"]
        settled = await store.deliveries.find("g1")
        assert settled is not None
        assert (settled.state, settled.why, settled.has_body) == ("handled", "wo-1", False)
        newest = await store.deliveries.page(state="waiting", limit=2)
        assert [one.delivery_id for one in newest] == ["g4", "g3"]
        before = (await store.deliveries.page(limit=1))[0].n
        assert (await store.deliveries.page(before=before))[0].delivery_id == "g3"

    @pytest.mark.fault("C3")
    async def test_one_id_in_parallel_is_kept_once(self, store: Store) -> None:
        took = [store.deliveries.take("g", "push", b"%d" % n, n) for n in range(100)]
        assert sorted(await asyncio.gather(*took)) == [False] * 99 + [True]
        assert [one.body for one in await store.deliveries.waiting()] == [b"0"]
        assert not await store.deliveries.take("g", "push", b"later", 5)

    async def test_a_known_one_and_new_ones_of_one_group_are_told_apart(self, store: Store) -> None:
        await store.deliveries.take("known", "push", b"", 1)
        ids = ["a", "known", "b", "a", "c"]
        took = await asyncio.gather(*(store.deliveries.take(one, "push", b"", 2) for one in ids))
        assert took == [True, False, True, False, True]

    @pytest.mark.fault("C5")
    async def test_a_settled_one_is_known_until_it_is_trimmed(self, store: Store) -> None:
        await store.deliveries.take("old", "push", b"", 1_000)
        await store.deliveries.take("open", "push", b"", 1_000)
        await store.deliveries.settle((await store.deliveries.waiting())[0].n, "ignored", "", 1_000)
        assert await store.deliveries.trim(1_000) == 0
        assert not await store.deliveries.take("old", "push", b"", 2_000)
        assert await store.deliveries.trim(1_001) == 1, "what waits is never forgotten"
        assert await store.deliveries.take("old", "push", b"", 2_000)
        assert contract.KEEP_MS >= 30 * contract.DAY_MS, "GitHub redelivers within days"

    async def test_attempts_are_counted_and_given_back(self, store: Store) -> None:
        await store.deliveries.take("g", "push", b"x", 1)
        n = (await store.deliveries.waiting())[0].n
        await store.deliveries.tried(n)
        await store.deliveries.tried(n)
        await store.deliveries.held(n)
        assert (await store.deliveries.waiting())[0].attempts == 1
        await store.deliveries.settle(n, "failed", "five times", 3)
        assert await store.deliveries.reopen("g")
        [again] = await store.deliveries.waiting()
        assert (again.body, again.attempts) == (b"x", 0)
        await store.deliveries.settle(n, "handled", "", 3)
        assert not await store.deliveries.reopen("g"), "only what failed is tried again"

    async def test_many_are_settled_at_once_and_settled_ones_stay(self, store: Store) -> None:
        for n in range(4):
            await store.deliveries.take(f"g{n}", "push", b"x", 1)
        first, *others = [one.n for one in await store.deliveries.waiting()]
        await store.deliveries.settle(first, "handled", "wo-1", 2)
        await store.deliveries.settle_idle([first, *others[:2]], "nothing", 3)
        states = [(one.state, one.why, one.has_body) for one in await store.deliveries.page()]
        assert states == [
            ("waiting", "", True),
            ("ignored", "nothing", False),
            ("ignored", "nothing", False),
            ("handled", "wo-1", False),
        ]

    async def test_what_could_not_be_taken_is_noted(self, store: Store) -> None:
        await store.deliveries.note("bad", "push", "not JSON", 5)
        await store.deliveries.note("bad", "push", "again", 6)
        noted = await store.deliveries.find("bad")
        assert noted is not None
        assert (noted.state, noted.why, noted.has_body) == ("failed", "not JSON", False)
        assert not await store.deliveries.reopen("bad"), "there is nothing to handle"
        assert not await store.deliveries.taken("bad")
        assert await store.deliveries.take("bad", "push", b"{}", 7), "it came again, and is good"
        assert not await store.deliveries.take("bad", "push", b"{}", 8)
        await store.deliveries.note("bad", "push", "too late", 9)
        [one] = await store.deliveries.waiting()
        assert (one.delivery_id, one.body, one.received_at_ms) == ("bad", b"{}", 7)
        assert await store.deliveries.set_aside(10) == []


class SubjectsConformance:
    async def test_they_are_found_by_repository(self, store: Store) -> None:
        rows = [_about("a", 1, 7, 1), _about("b", 1, 8, 2), _about("c", 2, 7, 3)]
        for row in [*rows, _about("a", 9, 9, 9)]:
            await store.subjects.add(row)
        assert await store.subjects.about(1) == [rows[1], rows[0]]
        assert await store.subjects.about(1, "issue:7") == [rows[0]]
        assert await store.subjects.of_order("a") == rows[0], "what was said first stays"
        assert await store.subjects.of_order("x") is None

    @pytest.mark.fault("B1")
    async def test_which_order_is_the_newest_does_not_depend_on_the_clock(
        self, store: Store
    ) -> None:
        """Several in one millisecond, and one after the clock went back."""
        for order_id, at_ms in [*((letter, 5_000) for letter in "cfaebd"), ("x", 1)]:
            await store.subjects.add(_about(order_id, 1, 7, at_ms))
        found = await store.subjects.about(1, "issue:7")
        assert [one.order_id for one in found] == list("xdbeafc")


class IdempotencyKeysConformance:
    @pytest.mark.fault("K14")
    async def test_one_key_makes_one_order(self, store: Store) -> None:
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


class QuotaConformance:
    async def test_the_newest_state_of_each_credential_is_kept(self, store: Store) -> None:
        assert await store.quota.load() == []
        for credential, state in (("a", "1"), ("b", "2"), ("a", "3")):
            store.quota.save(credential, state)
        await store.quota.settle()
        assert sorted(await store.quota.load()) == ["2", "3"]


def _branch(order_id: str, head: str) -> Branch:
    return Branch(order_id=order_id, repository="h/o/n", base_sha="base", head_sha=head)


def _about(order_id: str, repository_id: int, issue: int, at_ms: int) -> OrderSubject:
    return OrderSubject(
        order_id=order_id,
        repository_id=repository_id,
        subject=f"issue:{issue}",
        purpose="run",
        asked_by="7:ann",
        at_ms=at_ms,
    )

"""What every store must keep of who may do what. Subclass and give pytest fixtures `store` and
`clock`; the clock is the store's, and moves when its `at_ms` is set."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_work_orders.errors import NotFound, Refused, TooLarge
from agent_work_orders.state_manager.credentials import KeptCredential
from agent_work_orders.state_manager.sessions import (
    ABSOLUTE_MS,
    DAY_MS,
    IDLE_MS,
    MAX_PER_HOLDER,
    local_holder,
)
from agent_work_orders.state_manager.store import Store

HOLDER = local_holder("local.secret")


class KeysConformance:
    async def test_only_the_whole_token_opens(self, store: Store) -> None:
        key, token = await store.keys.create("ci", "operator", repositories=["github.com/o/r"])
        assert await store.keys.authenticate(token) == key
        for wrong in ("", ".", key.key_id, token + "x", token[:-1], "x" * 300, "\ud800.x"):
            assert await store.keys.authenticate(wrong) is None
        with pytest.raises(Refused):
            await store.keys.create("none", "operator", repositories=[])

    async def test_a_revoked_one_opens_nothing_and_stays_revoked(
        self, store: Store, clock: Any
    ) -> None:
        key, token = await store.keys.create("ci", "operator")
        revoked = await store.keys.revoke(key.key_id)
        assert revoked.revoked_at_ms == clock.at_ms
        clock.at_ms += 1
        assert await store.keys.revoke(key.key_id) == revoked
        assert await store.keys.authenticate(token) is None
        with pytest.raises(NotFound):
            await store.keys.revoke("key-unknown")
        everywhere, _ = await store.keys.create("root", "admin")
        assert (await store.keys.all())[-1] == everywhere


class SessionsConformance:
    async def test_only_its_secret_opens_it(self, store: Store) -> None:
        made, secret = await store.sessions.create(HOLDER)
        assert await store.sessions.authenticate(secret) == made
        for wrong in (secret + "x", "", "x" * 1_000, "\ud800"):
            assert await store.sessions.authenticate(wrong) is None

    async def test_an_ended_session_is_over(self, store: Store) -> None:
        made, secret = await store.sessions.create(HOLDER)
        assert await store.sessions.end(made.session_id)
        assert await store.sessions.authenticate(secret) is None
        assert not await store.sessions.end(made.session_id)

    async def test_it_ends_when_unused_for_a_week(self, store: Store, clock: Any) -> None:
        _, secret = await store.sessions.create(HOLDER)
        clock.at_ms += IDLE_MS - 1
        used = await store.sessions.authenticate(secret)
        assert used is not None
        assert used.expires_at_ms == clock.at_ms + IDLE_MS
        await store.sessions.end("")  # what was written lazily before it is kept now
        clock.at_ms += IDLE_MS - 1
        assert await store.sessions.authenticate(secret) is not None
        await store.sessions.end("")
        clock.at_ms += IDLE_MS
        assert await store.sessions.authenticate(secret) is None

    async def test_it_ends_after_thirty_days_however_it_is_used(
        self, store: Store, clock: Any
    ) -> None:
        began_ms = clock.at_ms
        made, secret = await store.sessions.create(HOLDER)
        while clock.at_ms + DAY_MS < began_ms + ABSOLUTE_MS:
            clock.at_ms += DAY_MS
            found = await store.sessions.authenticate(secret)
            assert found is not None
            assert found.expires_at_ms <= began_ms + ABSOLUTE_MS
            await store.sessions.end("")
        clock.at_ms = began_ms + ABSOLUTE_MS
        assert await store.sessions.authenticate(secret) is None
        await store.sessions.create(HOLDER)
        assert not await store.sessions.end(made.session_id), "the next sign-in forgets it"

    async def test_a_revoked_key_ends_its_sessions(self, store: Store) -> None:
        key, _ = await store.keys.create("ann", "operator", repositories=["r"])
        _, secret = await store.sessions.create(key.key_id)
        found = await store.sessions.authenticate(secret)
        assert found is not None
        assert found.key == key
        await store.keys.revoke(key.key_id)
        assert await store.sessions.authenticate(secret) is None

    async def test_many_sign_ins_push_out_only_ones_own(self, store: Store, clock: Any) -> None:
        _, other = await store.sessions.create("key-other")
        secrets = []
        for _ in range(MAX_PER_HOLDER + 3):
            clock.at_ms += 1
            secrets.append((await store.sessions.create(HOLDER))[1])
        alive = [await store.sessions.authenticate(secret) is not None for secret in secrets]
        assert alive == [False] * 3 + [True] * MAX_PER_HOLDER
        assert await store.sessions.authenticate(other) is not None


class CredentialsConformance:
    async def test_the_newest_of_a_name_is_kept(self, store: Store) -> None:
        for name, sealed in (("b", b"1"), ("a", b"2"), ("b", b"3")):
            await store.credentials.put(_kept(name, sealed))
        found = {one.name: one.sealed for one in await store.credentials.all()}
        assert found == {"a": b"2", "b": b"3"}
        assert await store.credentials.remove("a")
        assert not await store.credentials.remove("a")
        assert [one.name for one in await store.credentials.all()] == ["b"]

    async def test_all_are_sealed_anew_or_none(self, store: Store) -> None:
        for name in ("a", "b"):
            await store.credentials.put(_kept(name, b"old"))

        def fails_at_b(one: KeptCredential) -> bytes:
            if one.name == "b":
                raise ValueError("cannot be opened")
            return b"new"

        with pytest.raises(ValueError, match="cannot be opened"):
            await store.credentials.reseal(fails_at_b)
        assert {one.sealed for one in await store.credentials.all()} == {b"old"}
        assert await store.credentials.reseal(lambda _: b"new") == 2
        assert {one.sealed for one in await store.credentials.all()} == {b"new"}


class AuditConformance:
    async def test_rows_are_numbered_without_gaps_and_verify(self, store: Store) -> None:
        append = store.audit.append
        await asyncio.gather(
            *(append(at_ms=n, who="ann", what="approve", order_id="wo-a") for n in range(1, 6))
        )
        last = await append(at_ms=9, who="bob", what="login", details={"from": "cli"})
        assert (last.n, last.details) == (6, {"from": "cli"})
        assert [row.n for row in await store.audit.page()] == [1, 2, 3, 4, 5, 6]
        assert [row.n for row in await store.audit.page(order_id="wo-a", after=3)] == [4, 5]
        assert len(await store.audit.page(limit=2)) == 2
        with pytest.raises(TooLarge):
            await append(at_ms=1, who="a", what="b", details={"x": "y" * 70_000})
        assert await store.audit.verify() is None


def _kept(name: str, sealed: bytes) -> KeptCredential:
    return KeptCredential(name=name, sealed=sealed, last4="1234", changed_at_ms=1)

"""Sessions: durable, bounded, and never more than their holder has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_work_orders.state_manager.sessions import (
    ABSOLUTE_MS,
    DAY_MS,
    IDLE_MS,
    MAX_PER_HOLDER,
    local_holder,
)
from agent_work_orders.state_manager.sqlite.store import SqliteStore

HOLDER = local_holder("local.secret")


async def test_a_session_survives_a_restart_and_keeps_no_secret(tmp_path: Path, clock: Any) -> None:
    store = SqliteStore.open(tmp_path, clock)
    made, secret = await store.sessions.create(HOLDER)
    await store.close()
    again = SqliteStore.open(tmp_path, clock)
    assert await again.sessions.authenticate(secret) == made
    assert await again.sessions.authenticate(secret + "x") is None
    assert await again.sessions.authenticate("") is None
    assert await again.sessions.authenticate("x" * 1_000) is None
    assert await again.sessions.authenticate("\ud800") is None
    await again.close()
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert secret.encode() not in file.read_bytes()


async def test_an_ended_session_is_over(store: SqliteStore) -> None:
    made, secret = await store.sessions.create(HOLDER)
    assert await store.sessions.end(made.session_id)
    assert await store.sessions.authenticate(secret) is None
    assert not await store.sessions.end(made.session_id)


async def test_it_ends_when_unused_for_a_week(store: SqliteStore, clock: Any) -> None:
    _, secret = await store.sessions.create(HOLDER)
    clock.at_ms += IDLE_MS - 1
    used = await store.sessions.authenticate(secret)
    assert used is not None
    assert used.expires_at_ms == clock.at_ms + IDLE_MS
    await store.sessions.end("")  # what was written lazily before it is on disk now
    clock.at_ms += IDLE_MS - 1
    assert await store.sessions.authenticate(secret) is not None
    await store.sessions.end("")
    clock.at_ms += IDLE_MS
    assert await store.sessions.authenticate(secret) is None


async def test_it_ends_after_thirty_days_however_it_is_used(store: SqliteStore, clock: Any) -> None:
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


async def test_a_revoked_key_ends_its_sessions(store: SqliteStore) -> None:
    key, _ = await store.keys.create("ann", "operator", repositories=["r"])
    _, secret = await store.sessions.create(key.key_id)
    found = await store.sessions.authenticate(secret)
    assert found is not None
    assert found.key == key
    await store.keys.revoke(key.key_id)
    assert await store.sessions.authenticate(secret) is None


async def test_many_sign_ins_push_out_only_ones_own(store: SqliteStore, clock: Any) -> None:
    _, other = await store.sessions.create("key-other")
    secrets = []
    for _ in range(MAX_PER_HOLDER + 3):
        clock.at_ms += 1
        secrets.append((await store.sessions.create(HOLDER))[1])
    alive = [await store.sessions.authenticate(secret) is not None for secret in secrets]
    assert alive == [False] * 3 + [True] * MAX_PER_HOLDER
    assert await store.sessions.authenticate(other) is not None


def test_another_local_key_is_another_holder() -> None:
    assert local_holder("local.a") != local_holder("local.b")
    assert "local.a" not in local_holder("local.a")

"""Sessions: durable, bounded, and never more than their holder has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_work_orders.state_manager.sessions import (
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


def test_another_local_key_is_another_holder() -> None:
    assert local_holder("local.a") != local_holder("local.b")
    assert "local.a" not in local_holder("local.a")

"""/status shows how long the server kept everybody waiting."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx

from agent_work_orders.observability import pauses


async def test_the_longest_pause_is_shown(app: Any, client: httpx.AsyncClient) -> None:
    before = (await client.get("/status")).json()["event_loop"]
    assert before == {
        "longest_pause_ms": 0.0,
        "longest_pause_at": None,
        "longest_pause_cpu_ms": 0.0,
        "longest_pause_in": "",
        "long_pauses": 0,
    }
    app.state.pauses.start()
    try:
        await asyncio.sleep(2 * pauses.BEAT_S)
        time.sleep(0.2)
        await asyncio.sleep(2 * pauses.BEAT_S)
        shown = (await client.get("/status")).json()["event_loop"]
    finally:
        app.state.pauses.stop()
    assert shown["longest_pause_ms"] > 100
    assert shown["long_pauses"] >= 1
    assert shown["longest_pause_at"]
    assert "test_the_longest_pause_is_shown" in shown["longest_pause_in"]

"""Transcripts: read in pages, and searched."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent_work_orders.api import models

TALKING = """
version: 1
default:
  - text: I went to the LightHouse.
  - write: {path: keeper.md, content: "the lighthouse keeper"}
  - text: Done.
"""


@pytest.fixture
async def order_id(client: Any, order_body: Any) -> str:
    made = (await client.post("/api/agent-work-orders", json=order_body(TALKING))).json()
    order_id: str = made["agent_work_order"]["agent_work_order_id"]
    async with asyncio.timeout(60):
        while True:
            order = (await client.get(f"/api/agent-work-orders/{order_id}")).json()
            if order["agent_work_order"]["status"] == "completed":
                return order_id
            assert order["agent_work_order"]["status"] != "failed", order
            await asyncio.sleep(0.02)


async def test_a_text_is_looked_for_in_either_case(client: Any, order_id: str) -> None:
    async def ask(**query: Any) -> models.TranscriptPage:
        answer = await client.get(f"/api/agent-work-orders/{order_id}/transcript", params=query)
        assert answer.status_code == 200, answer.text
        return models.TranscriptPage.model_validate(answer.json())

    found = await ask(q="lighthouse")
    assert found.entries == [] and not found.has_more
    assert [(one.task, one.kind) for one in found.matches] == [
        ("plan", "text"),
        ("plan", "tool_use"),
    ]
    assert found.matches[0].excerpt == "I went to the LightHouse."
    read = await ask(task="plan", after=found.matches[0].after, limit=1)
    assert read.entries[0].text == "I went to the LightHouse." and read.matches == []
    assert read.entries[0].cursor == found.matches[0].cursor
    first = await ask(q="lighthouse", limit=1)
    assert len(first.matches) == 1 and first.has_more
    assert (await ask(q="light.*")).matches == []


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ({"q": ""}, 422, "search_empty"),
        ({"q": "x" * 201}, 422, "request_invalid"),
        ({"q": "x", "task": "absent"}, 404, "transcript_missing"),
        ({"q": "x", "task": "../x"}, 404, "transcript_missing"),
    ],
)
async def test_what_cannot_be_looked_for_is_refused(
    client: Any, order_id: str, query: dict[str, str], status: int, code: str
) -> None:
    answer = await client.get(f"/api/agent-work-orders/{order_id}/transcript", params=query)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_what_others_said_is_not_found(
    as_key: Any, order_id: str, other_repository: Path
) -> None:
    async with as_key("admin", [other_repository]) as stranger:
        address = f"/api/agent-work-orders/{order_id}/transcript?q=light"
        assert (await stranger.get(address)).status_code == 404

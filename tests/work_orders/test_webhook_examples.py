"""Every payload that GitHub publishes as an example: answered, and none makes an order."""

from __future__ import annotations

import json
import sys
import uuid
from pathlib import Path
from typing import Any

import httpx
import pytest
from intake_bench import Desk

from agent_work_orders.api.app import create_app
from agent_work_orders.security import signature
from agent_work_orders.work_orders.incoming import event_types, github_event
from agent_work_orders.work_orders.incoming.rules import DEFAULTS
from agent_work_orders.work_orders.incoming.triggers import (
    Ignore,
    Start,
    access_change,
    asks_nothing,
    decide,
    may_ask,
)

sys.path.append(str(Path(__file__).parents[1]))

from github_descriptions import WEBHOOK_EXAMPLES

SECRET = "a-secret-of-tests"
# 2019 to 2023: they are all long past, which would hide what they ask for.
LONG_AGO_MS = 0


def examples() -> list[tuple[str, Any]]:
    found = json.loads(WEBHOOK_EXAMPLES.read_text("utf-8"))
    return [(one["name"], example) for one in found for example in one["examples"]]


class Anybody(dict[str, str]):
    def get(self, key: str, default: Any = None) -> Any:
        return "admin"


@pytest.mark.timeout(300)
@pytest.mark.fault("C10")
async def test_each_is_answered_and_none_makes_an_order(folder: Path) -> None:
    async with Desk(folder).opened(GITHUB_WEBHOOK_SECRET=SECRET) as desk:
        desk.hub.permissions = Anybody()
        transport = httpx.ASGITransport(app=create_app(desk.house), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            before = _rows(desk)
            statuses: dict[str, int] = {}
            for n, (name, payload) in enumerate(examples()):
                answer = await client.post("/webhook/github", **_sent(n, name, payload))
                assert answer.status_code in (200, 202), (name, answer.text)
                said = answer.json()["status"]
                statuses[said] = statuses.get(said, 0) + 1
        assert sum(statuses.values()) > 300
        assert statuses["accepted"] > 50 and statuses["ignored"] > 100
        await desk.intake.sweep()
        assert {one.state for one in await desk.house.context.store.deliveries.page(limit=500)} <= {
            "ignored", "handled",
        }  # fmt: skip
        assert await desk.orders() == []
        assert desk.heard.said == []
        assert _rows(desk) == before, "no order, no event, no effect"


def test_none_asks_for_anything_by_the_default_rules() -> None:
    """Also if they had happened just now."""
    asked = []
    for name, payload in examples():
        if name not in event_types.EVENT_TYPES:
            continue
        try:
            event = github_event.read(name, json.dumps(payload).encode())
        except github_event.Unusable as error:
            asked.append((name, payload.get("action"), str(error)))
            continue
        decision = decide(event, DEFAULTS, "awo[bot]", LONG_AGO_MS)
        if isinstance(decision, Start):
            asked.append((name, event.action, decision.workflow))
    assert asked == [], "every published payload can be read"


def test_a_glance_and_reading_agree() -> None:
    seen = {True: 0, False: 0}
    for name, payload in examples():
        if name not in event_types.EVENT_TYPES:
            continue
        body = json.dumps(payload).encode()
        nothing, event = asks_nothing(name, body), github_event.read(name, body)
        seen[nothing] += 1
        if nothing:
            assert not may_ask(event) and access_change(event) is None, (name, event.action)
        else:
            about = ("push", "repository", "installation", "installation_repositories")
            assert may_ask(event) or name in about, (name, event.action)
    assert seen[True] > 50 and seen[False] > 10


def test_what_the_examples_say_is_found() -> None:
    """A positive control: with the label's rule, the published example starts."""
    [event, *_] = [
        github_event.read(name, json.dumps(payload).encode())
        for name, payload in examples()
        if name == "issues" and payload["action"] == "labeled"
    ]
    from agent_work_orders.work_orders.incoming.rules import Rules

    decision = decide(event, Rules(labels={event.label: "x"}), "awo[bot]", LONG_AGO_MS)
    assert isinstance(decision, Start)
    assert (decision.subject, decision.workflow) == (f"issue:{event.number}", "x")
    assert isinstance(decide(event, Rules(), "awo[bot]", LONG_AGO_MS), Ignore)


def _sent(n: int, name: str, payload: Any) -> dict[str, Any]:
    body = json.dumps(payload).encode()
    return {
        "content": body,
        "headers": {
            "X-Hub-Signature-256": signature.sign(SECRET, body),
            "X-GitHub-Event": name,
            "X-GitHub-Delivery": str(uuid.UUID(int=n + 1)),
            "Content-Type": "application/json",
        },
    }


def _rows(desk: Desk) -> tuple[int, ...]:
    readers = desk.house.store.readers
    return tuple(
        readers.rows(f"SELECT count(*) FROM {table}")[0][0]
        for table in ("orders", "events", "ledger", "order_subjects", "idempotency_keys")
    )

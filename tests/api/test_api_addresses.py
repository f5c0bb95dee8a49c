"""Every route of the description with names in its address that nothing could be called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agent_work_orders.api.app import routed

# As they stand in an address; the server takes them apart again.
NAMES = {
    "300 bytes": "a" * 300,
    "5,000 bytes": "a" * 5_000,
    "300 bytes of hexadecimal": "0" * 300,
    "wide characters": "%E2%82%AC" * 100,
    "NUL": "a%00b",
    "parents": "%2e%2e",
    "a path": "%2e%2e%2f%2e%2e%2fetc",
    "half a character": "%ED%A0%80",
    "no UTF-8": "%FF%FE",
    "a space": "%20",
    "a line": "a%0Ab",
}  # fmt: skip


def addresses() -> Iterator[tuple[str, str]]:
    for path, methods in routed().openapi()["paths"].items():
        for method, operation in methods.items():
            for parameter in operation.get("parameters", ()):
                if parameter["in"] in ("path", "query"):
                    yield method.upper(), path
                    break


def filled(path: str, order_id: str, name: str) -> Iterator[str]:
    """The address with the name in place of each part in turn, and of all of them."""
    parts = [part for part in path.split("/") if part.startswith("{")]
    for chosen in [*([part] for part in parts), parts]:
        made = path
        for part in parts:
            value = name if part in chosen else order_id
            made = made.replace(part, value)
        yield made


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
async def test_no_name_in_an_address_breaks_a_route(
    client: Any, order_body: Any, name: str
) -> None:
    made = await client.post("/api/agent-work-orders", json=order_body())
    order_id = made.json()["agent_work_order"]["agent_work_order_id"]
    broken: list[str] = []
    for method, path in addresses():
        if "{" not in path:
            continue
        for address in filled(path, order_id, name):
            answer = await client.request(method, address, json={} if method == "POST" else None)
            if answer.status_code >= 500:
                broken.append(f"{method} {path}: {answer.text[:200]}")
    assert broken == []


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
async def test_no_name_in_a_query_breaks_a_route(client: Any, order_body: Any, name: str) -> None:
    made = await client.post("/api/agent-work-orders", json=order_body())
    order_id = made.json()["agent_work_order"]["agent_work_order_id"]
    broken: list[str] = []
    for path, methods in routed().openapi()["paths"].items():
        if "events" in path:  # a stream has no end
            continue
        for parameter in methods.get("get", {}).get("parameters", ()):
            if parameter["in"] == "query":
                [address] = set(filled(path, order_id, order_id))
                answer = await client.get(f"{address}?{parameter['name']}={name}")
                if answer.status_code >= 500:
                    broken.append(f"{path} {parameter['name']}: {answer.text[:200]}")
    assert broken == []


@pytest.mark.parametrize("name", ["a" * 300, "/" + "a" * 300])
async def test_a_repository_with_a_name_that_cannot_be_is_refused(
    client: Any, order_body: Any, name: str
) -> None:
    body = {**order_body(), "repository_url": name}
    answer = await client.post("/api/agent-work-orders", json=body)
    assert answer.status_code == 422, answer.text

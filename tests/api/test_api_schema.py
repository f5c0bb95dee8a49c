"""The description and the answers agree, whatever is sent."""

from __future__ import annotations

import contextlib
from typing import Any

import hypothesis
import jsonschema
import pytest
import schemathesis
from hypothesis import strategies

from agent_work_orders.api.body import too_deep
from agent_work_orders.bootstrap import House

SKIPPED = {
    ("GET", "/api/events"),  # a stream has no end
    ("POST", "/webhook/github"),  # closed to who does not sign: test_api_webhook.py
}


def resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "components": document["components"]}


def operations(document: dict[str, Any]) -> list[Any]:
    schema = schemathesis.openapi.from_dict(document)
    return [
        operation.ok()
        for operation in schema.get_all_operations()
        if (operation.ok().method.upper(), operation.ok().path) not in SKIPPED
    ]


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.fault("K7")
async def test_generated_requests_get_described_answers(
    app: Any, client: Any, house: House, order_body: Any
) -> None:
    """A few examples of every operation: no 500, and every answer as described."""
    document = app.openapi()
    await client.post("/api/agent-work-orders", json=order_body())
    seen = 0
    for operation in operations(document):
        for case in examples(operation):
            seen += 1
            await check(client, document, operation, case)
    assert seen > 100


def examples(operation: Any) -> list[Any]:
    found: list[Any] = []

    @hypothesis.settings(
        max_examples=8,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(case=operation.as_strategy())
    def collect(case: Any) -> None:
        found.append(case)

    with contextlib.suppress(hypothesis.errors.Unsatisfiable):
        collect()
    return found


async def check(client: Any, document: dict[str, Any], operation: Any, case: Any) -> None:
    sent = case.as_transport_kwargs(base_url="http://127.0.0.1")
    sent.pop("cookies", None)
    url = sent.pop("url")
    method = sent.pop("method")
    headers = {
        name: value.encode("utf-8", "replace") if isinstance(value, str) else value
        for name, value in dict(sent.pop("headers", {}) or {}).items()
        if name.lower() not in ("authorization", "x-api-key", "host", "user-agent")
    }
    kwargs = {name: sent[name] for name in ("params", "json", "data") if sent.get(name) is not None}
    if "data" in kwargs:
        kwargs["content"] = kwargs.pop("data")
    answer = await client.request(method, url, headers=headers, **kwargs)
    where = (method, url, answer.status_code, answer.text[:300])
    assert answer.status_code < 500, where
    responses = document["paths"][operation.path][method.lower()]["responses"]
    described = responses.get(str(answer.status_code), responses["default"])
    kind = answer.headers["content-type"].split(";")[0]
    assert kind in described["content"], where
    schema = described["content"][kind].get("schema")
    if schema and kind.endswith("json"):
        jsonschema.validate(answer.json(), resolved(document, schema))


@hypothesis.given(strategies.binary(max_size=200))
def test_depth_never_breaks(data: bytes) -> None:
    assert too_deep(data) in (True, False)

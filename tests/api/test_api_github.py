"""Feedback and deliveries over the API."""

from __future__ import annotations

from typing import Any

import pytest

from agent_work_orders.bootstrap import House

FEEDBACK = "/api/integrations/github/pr-feedback"
WHOLE = {"owner": "acme", "repo": "site", "prNumber": 9, "sha": "a" * 40, "status": "success"}


@pytest.mark.parametrize("name", list(WHOLE))
@pytest.mark.parametrize("value", [None, "", 0])
async def test_what_is_missing_is_named(client: Any, name: str, value: Any) -> None:
    sent = {**WHOLE, name: value}
    if value == "" and name in ("status", "prNumber"):
        sent.pop(name)
    if value == 0 and name != "prNumber":
        sent.pop(name)
    answer = await client.post(FEEDBACK, json=sent)
    assert (answer.status_code, answer.json()["code"]) == (400, "feedback_incomplete")
    assert answer.json()["detail"] == f"Missing: {name}"


async def test_all_that_is_missing_is_named_at_once(client: Any) -> None:
    answer = await client.post(FEEDBACK, json={"comment": "x"})
    assert answer.json()["detail"] == "Missing: owner, repo, prNumber, sha, status"


async def test_without_github_it_says_so(client: Any) -> None:
    answer = await client.post(FEEDBACK, json=WHOLE)
    assert (answer.status_code, answer.json()["code"]) == (502, "github_not_configured")


async def test_other_fields_and_statuses_are_refused(client: Any) -> None:
    for more in ({"status": "approved"}, {"conclusion": "success"}):
        assert (await client.post(FEEDBACK, json={**WHOLE, **more})).status_code == 422


async def test_deliveries_are_listed_shown_and_tried_again(client: Any, house: House) -> None:
    deliveries = house.context.store.deliveries
    for guid in ("aa", "bb"):
        await deliveries.take(guid, "push", b"{}", 1_800_000_000_000)
    await deliveries.settle((await deliveries.waiting())[0].n, "failed", "five times", 1)
    listed = (await client.get("/api/deliveries")).json()["deliveries"]
    assert [(one["delivery_id"], one["state"]) for one in listed] == [
        ("bb", "waiting"), ("aa", "failed"),
    ]  # fmt: skip
    failed = (await client.get("/api/deliveries", params={"state": "failed"})).json()
    assert failed["deliveries"] == [listed[1]]
    one = (await client.get("/api/deliveries/AA")).json()["delivery"]
    assert (one["why"], one["can_be_retried"]) == ("five times", True)
    again = await client.post("/api/deliveries/aa/retry")
    assert again.json()["delivery"]["state"] == "waiting"
    assert ("local", "delivery.retry") in [
        (r.who, r.what) for r in await house.context.store.audit.page()
    ]
    twice = await client.post("/api/deliveries/aa/retry")
    assert (twice.status_code, twice.json()["code"]) == (409, "delivery_not_failed")
    assert (await client.get("/api/deliveries/cc")).status_code == 404


def test_the_webhook_is_described(app: Any) -> None:
    described = app.openapi()["paths"]["/webhook/github"]["post"]
    assert described["security"] == []
    assert set(described["responses"]) == {"200", "202", "default"}

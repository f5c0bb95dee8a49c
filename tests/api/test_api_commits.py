"""An order's commits, one by one, its review, and its log from the end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_work_orders.api import models
from agent_work_orders.repositories.history import MAX_BODY, read_details

ORDERS = "/api/agent-work-orders"
BUILD = """
version: 1
commands:
  plan: [{write: {path: plan.md, content: "# Plan\\n"}}, {text: planned}]
  build: [{write: {path: made.txt, content: "one\\ntwo\\n"}}, {text: built}]
"""


@pytest.fixture
async def order_id(client: Any, order_body: Any, reach: Any) -> str:
    sent = order_body(BUILD, workflow_type="agent_workflow_plan_build", title="<b>Make</b>")
    made = (await client.post(ORDERS, json=sent)).json()
    found: str = made["agent_work_order"]["agent_work_order_id"]
    await reach(client, found, "completed")
    return found


async def test_commits_and_their_diffs(client: Any, order_id: str, repository: Any) -> None:
    listed = models.CommitList.model_validate(
        (await client.get(f"{ORDERS}/{order_id}/commits")).json()
    )
    assert [one.phase for one in listed.commits] == ["implementing", "planning"]
    newest = listed.commits[0]
    assert "<b>Make</b>" in newest.subject
    assert f"Awo-Order: {order_id}" in newest.body
    assert newest.task
    assert (newest.files_changed, newest.lines_added, newest.lines_removed) == (1, 2, 0)
    first = (await client.get(f"{ORDERS}/{order_id}/commits", params={"limit": 1})).json()
    assert [one["sha"] for one in first["commits"]] == [newest.sha]
    assert first["has_more"] is True and listed.has_more is False

    at = f"{ORDERS}/{order_id}/commits/{newest.sha}/diff"
    diff = (await client.get(at)).json()
    assert (diff["sha"], diff["truncated"]) == (newest.sha, False)
    assert "+++ b/made.txt" in diff["diff"] and "plan.md" not in diff["diff"]
    patch = await client.get(at, headers={"Accept": "text/x-diff"})
    assert patch.headers["content-type"].startswith("text/x-diff")
    assert "sandbox" in patch.headers["content-security-policy"]
    assert patch.text == diff["diff"]


@pytest.mark.fault("K2")
async def test_only_the_orders_own_commits(client: Any, order_id: str, repository: Any) -> None:
    base = (repository / ".git" / "refs" / "heads" / "main").read_text().strip()
    for sha in (base, "0" * 40, "HEAD", "--output=x", "main", order_id, "A" * 40):
        answer = await client.get(f"{ORDERS}/{order_id}/commits/{sha}/diff")
        assert (answer.status_code, answer.json()["code"]) == (404, "commit_unknown"), sha


async def test_what_has_not_begun_has_no_commits(
    client: Any, order_body: Any, scripts: Any, reach: Any
) -> None:
    sent = order_body(workflow_type=None, workflow_source=scripts["gated"])
    made = (await client.post(ORDERS, json=sent)).json()["agent_work_order"]
    at = f"{ORDERS}/{made['agent_work_order_id']}"
    assert (await client.get(f"{at}/commits")).json()["commits"] == []
    assert (await client.get(f"{at}/review")).json()["review"] is None


async def test_the_review_has_its_evidence(
    client: Any, order_id: str, order_body: Any, reach: Any
) -> None:
    answer = (await client.get(f"{ORDERS}/{order_id}/review")).json()
    review = models.ReviewAnswer.model_validate(answer).review
    assert review is not None
    assert review.state in ("open", "draft")
    assert review.evidence["commits"]
    # The agent wrote no summary; what reviewers read is there.
    assert order_id in review.summary
    assert review.head_branch.endswith(order_id)


async def _log_to_its_end(client: Any, at: str) -> Any:
    """An order is completed before its workspace is gone; that is the last line."""
    for _ in range(600):
        whole = (await client.get(at, params={"limit": 500})).json()
        if whole["log_entries"][-1]["event"] == "sandbox_cleanup_completed":
            return whole
        await asyncio.sleep(0.05)
    raise AssertionError(whole["log_entries"][-1])


async def test_a_log_from_its_end_and_on(client: Any, order_id: str) -> None:
    at = f"{ORDERS}/{order_id}/logs"
    whole = await _log_to_its_end(client, at)
    end = (await client.get(at, params={"limit": 3, "order": "desc"})).json()
    assert end["log_entries"] == whole["log_entries"][::-1][:3]
    assert end["total_count"] == whole["total_count"] == len(whole["log_entries"])
    last = whole["log_entries"][-1]["n"]
    new = (await client.get(at, params={"after": last - 2})).json()
    assert [one["n"] for one in new["log_entries"]] == [last - 1, last]
    found = (await client.get(at, params={"q": "AGENT_WORK_ORDER_"})).json()
    assert 0 < found["total_count"] < whole["total_count"]
    assert all("agent_work_order_" in one["event"] for one in found["log_entries"])
    assert (await client.get(at, params={"order": "up"})).status_code == 422


async def test_orders_can_be_sorted(client: Any, order_body: Any) -> None:
    for _ in range(3):
        await client.post(ORDERS, json=order_body())

    async def ids(**params: str) -> list[str]:
        rows = (await client.get(ORDERS, params=params)).json()["agent_work_orders"]
        return [row["agent_work_order_id"] for row in rows]

    assert await ids(order="asc") == (await ids())[::-1]
    assert sorted(await ids(sort="updated_at")) == sorted(await ids())
    assert (await client.get(ORDERS, params={"sort": "status; DROP"})).status_code == 422


def test_details_are_read_from_hostile_messages() -> None:
    sha = "a" * 40
    data = (
        f"\0{sha}\0A body\n\n 9 files changed, 9 insertions(+)\n\0"
        "\n 1 file changed, 2 insertions(+), 1 deletion(-)\n"
        f"\0{'b' * 40}\0{'x' * 9_000}\0\0{'c' * 40}\0cut"
    ).encode()
    found = read_details(data)
    assert set(found) == {sha, "b" * 40}
    assert found[sha].body.startswith("A body")
    assert (found[sha].files_changed, found[sha].lines_added, found[sha].lines_removed) == (1, 2, 1)
    assert len(found["b" * 40].body) == MAX_BODY
    assert found["b" * 40].files_changed == 0
    assert read_details(b"") == {}

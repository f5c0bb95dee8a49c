"""Work orders over HTTP: the documents' examples, field by field, and the routes around them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_work_orders.api import models
from agent_work_orders.bootstrap import House

# The examples of the product's documents: every name in them must be in our answers.
ORDER_EXAMPLE = {
    "agent_work_order_id", "repository_url", "git_branch_name", "sandbox_type", "workflow_type",
    "github_issue_number", "status", "current_phase", "created_at", "updated_at",
    "execution_started_at", "github_pull_request_url", "git_commit_count", "git_files_changed",
    "git_lines_added", "git_lines_removed",
}  # fmt: skip
ORDER_MODEL = ORDER_EXAMPLE | {"agent_session_id", "error_message", "execution_completed_at"}
PROGRESS_EXAMPLE = {
    "agent_work_order_id", "current_phase", "git_commit_count", "git_files_changed",
    "git_lines_added", "git_lines_removed", "latest_commit_message", "latest_commit_sha",
    "snapshot_timestamp", "phase_history",
}  # fmt: skip


async def test_an_order_from_creation_to_its_evidence(
    client: Any, order_body: Any, reach: Any
) -> None:
    answer = await client.post(
        "/api/agent-work-orders",
        json=order_body(
            sandbox_type="git_branch", github_issue_number="42", initial_prompt="Build feature x"
        ),
    )
    assert answer.status_code == 201, answer.text
    made = models.AgentWorkOrderResponse.model_validate(answer.json())
    order_id = made.agent_work_order.agent_work_order_id
    assert set(answer.json()) == {"agent_work_order", "logs_url"}
    assert answer.json()["agent_work_order"].keys() >= ORDER_MODEL
    assert made.logs_url == f"/api/agent-work-orders/{order_id}/logs"
    assert made.agent_work_order.status in ("pending", "running")
    assert made.agent_work_order.initial_prompt == "Build feature x"
    assert answer.headers["location"] == f"/api/agent-work-orders/{order_id}"

    done = await reach(client, order_id, "completed", "failed")
    assert done["status"] == "completed", done
    assert done["git_commit_count"] == 1
    assert done["git_files_changed"] == 1
    assert done["git_lines_added"] == 1
    assert done["sandbox_type"] == "git_branch"
    assert done["agent"] == {"name": "scripted"}
    assert done["created_at"].endswith("Z")
    await _evidence(client, order_id)


async def _evidence(client: Any, order_id: str) -> None:
    base = f"/api/agent-work-orders/{order_id}"
    progress = (await client.get(f"{base}/git-progress")).json()
    models.GitProgressSnapshot.model_validate(progress)
    assert progress.keys() == PROGRESS_EXAMPLE
    assert [(span["phase"], span["commits"]) for span in progress["phase_history"]] == [
        ("planning", 1)
    ]
    assert len(progress["latest_commit_sha"]) == 40

    await _logged(client, base, "agent_work_order_completed")
    logs = (await client.get(f"{base}/logs", params={"limit": 3})).json()
    models.LogEntries.model_validate(logs)
    assert logs["has_more"] is True
    assert logs["total_count"] > 3
    assert logs["log_entries"][0]["event"] == "agent_work_order_created"
    assert {"timestamp", "level", "event", "agent_work_order_id"} <= logs["log_entries"][0].keys()
    rest = (await client.get(f"{base}/logs", params={"offset": 3, "limit": 500})).json()
    assert rest["has_more"] is False
    assert len(rest["log_entries"]) == logs["total_count"] - 3

    tasks = models.TaskList.model_validate((await client.get(f"{base}/tasks")).json())
    assert [(task.path, task.state) for task in tasks.tasks] == [
        ("plan", "succeeded"),
        ("publish", "succeeded"),
    ]
    diff = await client.get(f"{base}/diff")
    assert "+# Plan" in models.DiffAnswer.model_validate(diff.json()).diff
    patch = await client.get(f"{base}/diff", headers={"Accept": "text/x-diff"})
    assert patch.headers["content-type"].startswith("text/x-diff")
    assert patch.text == diff.json()["diff"]

    page = (await client.get(f"{base}/transcript", params={"limit": 1})).json()
    models.TranscriptPage.model_validate(page)
    assert page["task"] == "plan"
    assert page["has_more"] is True
    more = (await client.get(f"{base}/transcript", params={"after": page["next_after"]})).json()
    assert [entry["text"] for entry in more["entries"]][-1:] == ["Done."]
    for anywhere in (1, 7, 10**9):
        odd = await client.get(f"{base}/transcript", params={"after": anywhere})
        models.TranscriptPage.model_validate(odd.json())
    artifacts = (await client.get(f"{base}/artifacts")).json()
    models.ArtifactList.model_validate(artifacts)


async def _logged(client: Any, base: str, event: str) -> None:
    """Log lines are written a moment after what they tell."""
    for _ in range(200):
        logs = (await client.get(f"{base}/logs", params={"limit": 500})).json()
        if event in [entry["event"] for entry in logs["log_entries"]]:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{event} was not logged")


async def test_a_unique_prefix_finds_the_order(client: Any, order_body: Any) -> None:
    made = (await client.post("/api/agent-work-orders", json=order_body())).json()
    order_id = made["agent_work_order"]["agent_work_order_id"]
    for prefix in (order_id[:8], order_id[3:9]):
        found = await client.get(f"/api/agent-work-orders/{prefix}")
        assert found.json()["agent_work_order"]["agent_work_order_id"] == order_id


async def test_lists_filter_and_page(
    client: Any, order_body: Any, repository: Any, other_repository: Any, scripts: Any
) -> None:
    sleepy = scripts["sleepy"]
    bodies = [
        order_body(sleepy, initial_prompt="100% sure_thing"),
        order_body(sleepy, initial_prompt="100x sureXthing"),
        order_body(sleepy, repository_url=str(other_repository)),
    ]
    for body in bodies:
        assert (await client.post("/api/agent-work-orders", json=body)).status_code == 201

    async def listed(**params: Any) -> list[Any]:
        answer = await client.get("/api/agent-work-orders", params=params)
        assert answer.status_code == 200, answer.text
        models.AgentWorkOrderList.model_validate(answer.json())
        return list(answer.json()["agent_work_orders"])

    assert len(await listed()) == 3
    page = (await client.get("/api/agent-work-orders", params={"limit": 2})).json()
    assert (page["total_count"], page["has_more"]) == (3, True)
    assert len(await listed(limit=2, offset=2)) == 1
    assert len(await listed(repository=str(other_repository))) == 1
    assert len(await listed(status=["pending", "running"])) == 3
    assert await listed(status="completed") == []
    assert len(await listed(workflow="agent_workflow_plan")) == 3
    assert await listed(workflow="agent_workflow_plan' OR '1'='1") == []


@pytest.mark.fault("K13")
async def test_search_text_is_text(client: Any, order_body: Any, scripts: Any) -> None:
    for prompt in ("100% sure_thing", "100x sureXthing"):
        body = order_body(scripts["sleepy"], initial_prompt=prompt)
        await client.post("/api/agent-work-orders", json=body)

    async def found(q: str) -> int:
        answer = await client.get("/api/agent-work-orders", params={"q": q})
        return int(answer.json()["total_count"])

    assert await found("100%") == 1
    assert await found("sure_thing") == 1
    assert await found("%") == 1
    assert await found("'; DROP TABLE orders; --") == 0
    assert await found("100") == 2


@pytest.mark.fault("K14")
async def test_one_key_makes_one_order(client: Any, order_body: Any) -> None:
    headers = {"Idempotency-Key": "same"}

    async def send() -> Any:
        return await client.post("/api/agent-work-orders", json=order_body(), headers=headers)

    answers = await asyncio.gather(*(send() for _ in range(50)))
    assert {answer.status_code for answer in answers} == {201}
    found = {answer.json()["agent_work_order"]["agent_work_order_id"] for answer in answers}
    assert len(found) == 1
    assert (await client.get("/api/agent-work-orders")).json()["total_count"] == 1
    other = await client.post(
        "/api/agent-work-orders", json=order_body(title="Another"), headers=headers
    )
    assert other.status_code == 409
    assert other.json()["code"] == "idempotency_key_reused"


async def test_a_workflow_may_come_with_the_order(
    client: Any, order_body: Any, scripts: Any
) -> None:
    body = order_body(workflow_type=None, workflow_source=scripts["gated"])
    made = await client.post("/api/agent-work-orders", json=body)
    assert made.status_code == 201, made.text
    assert made.json()["agent_work_order"]["workflow_type"] == "gated"
    neither = await client.post("/api/agent-work-orders", json=order_body(workflow_type=None))
    assert neither.status_code == 422
    assert neither.json()["code"] == "workflow_choice"
    broken = await client.post(
        "/api/agent-work-orders",
        json=order_body(workflow_type=None, workflow_source="name: x\ntaskz: {}\n"),
    )
    assert broken.status_code == 422
    assert 2 in [problem["line"] for problem in broken.json()["errors"]]


async def test_names_that_do_not_exist_are_explained(client: Any, order_body: Any) -> None:
    for change, field in (
        ({"workflow_type": "agent_workflow_plam"}, "workflow_type"),
        ({"sandbox_type": "e2b"}, "sandbox_type"),
        ({"agent": "scriptd"}, "agent"),
        ({"github_issue_number": "4 2"}, "github_issue_number"),
        ({"base_branch": "nope"}, "base_branch"),
        ({"repository_url": "/nowhere/at/all"}, "repository_url"),
        ({"repository_url": "ext::sh -c id"}, "repository_url"),
    ):
        answer = await client.post("/api/agent-work-orders", json=order_body(**change))
        assert answer.status_code in (404, 422), (change, answer.text)
        assert answer.json()["field"] == field, answer.text
        assert answer.json()["hint"]


async def test_the_sandbox_identifier_is_the_sandboxs_own(
    client: Any, order_body: Any, reach: Any, house: House
) -> None:
    made = (await client.post("/api/agent-work-orders", json=order_body())).json()
    order_id = made["agent_work_order"]["agent_work_order_id"]
    await reach(client, order_id, "completed")
    [sandbox] = [one for one in await house.context.sandboxes.records() if one.order_id == order_id]
    assert made["agent_work_order"]["sandbox_identifier"] == sandbox.sandbox_identifier

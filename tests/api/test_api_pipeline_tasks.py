"""The pipeline's Task model: each type becomes the right order, and each order reads as a task."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent_work_orders.api import pipeline_models
from agent_work_orders.settings import Settings, changed

ROOT = Path(__file__).resolve().parents[2]
TASK = {
    "id",
    "type",
    "priority",
    "status",
    "createdAt",
    "retryCount",
    "maxRetries",
    "data",
}
PASSING = """
import unittest


class Sum(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(1 + 1, 2)
"""
SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """The default agent is there, and every turn of it fails."""
    claude = tmp_path / "claude"
    claude.write_text("#!/bin/sh\nexit 1\n")
    claude.chmod(0o755)
    return changed(
        Settings(home=tmp_path / "home"),
        {
            "server.drain_s": 0.5,
            "storage.synchronous": "NORMAL",
            "agents.claude_binary": str(claude),
            "agents.anthropic_api_key": "not-a-key-of-anybody",
        },
    )


@pytest.fixture
def where(repository: Path) -> dict[str, str]:
    return {"owner": "user", "name": "repo", "cloneUrl": str(repository)}


@pytest.fixture
def issue(where: dict[str, str]) -> dict[str, Any]:
    return {
        "issueNumber": 42,
        "issueTitle": "Broken sum",
        "issueBody": "It adds wrongly.\nSee line 3.",
        "repository": {**where, "defaultBranch": "main"},
        "author": "ann",
        "labels": ["bug"],
    }


@pytest.fixture
def review(where: dict[str, str]) -> dict[str, Any]:
    changed = {
        "sha": SHA,
        "filename": "a",
        "status": "added",
        "additions": 1,
        "deletions": 0,
        "patch": "",
    }
    return {
        "prNumber": 7,
        "prTitle": "Sum",
        "prBody": "",
        "repository": where,
        "baseSha": SHA,
        "headSha": SHA,
        "changedFiles": [changed],
    }


def pipeline_of(where: dict[str, str], branch: str = "main") -> dict[str, Any]:
    return {"repository": where, "branch": branch, "commitSha": SHA, "triggeredBy": "push"}


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.invalid"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


async def submitted(client: Any, **sent: Any) -> dict[str, Any]:
    answer = await client.post("/api/submit", json=sent)
    assert answer.status_code == 201, answer.text
    shown: dict[str, Any] = answer.json()
    pipeline_models.PipelineTask.model_validate(shown)
    assert answer.headers["location"] == f"/task/{shown['id']}"
    return shown


async def order_of(client: Any, task_id: str) -> dict[str, Any]:
    answer = await client.get(f"/api/agent-work-orders/{task_id}")
    order: dict[str, Any] = answer.json()["agent_work_order"]
    return order


async def test_an_issue_becomes_an_order_and_its_failure_a_result(
    client: Any, issue: Any, reach: Any
) -> None:
    task = await submitted(client, type="issue-resolution", priority="high", data=issue)
    assert set(task) - {"startedAt"} == TASK
    assert (task["type"], task["priority"], task["maxRetries"]) == ("issue-resolution", "high", 3)
    assert task["status"] in ("pending", "in-progress")
    assert task["data"] == issue
    order = await order_of(client, task["id"])
    assert order["workflow_type"] == "agent_workflow_plan_build_test"
    assert order["github_issue_number"] == "42"
    assert order["title"] == "Broken sum"
    assert order["initial_prompt"] == "Broken sum\n\nIt adds wrongly.\nSee line 3."
    assert order["base_branch"] == "main"

    await reach(client, task["id"], "failed")
    ended = (await client.get(f"/task/{task['id']}")).json()
    pipeline_models.PipelineTask.model_validate(ended)
    assert set(ended) == TASK | {"startedAt", "completedAt", "result"}
    assert ended["status"] == "failed"
    assert ended["createdAt"] <= ended["startedAt"] <= ended["completedAt"]
    assert ended["data"] == issue
    result = ended["result"]
    assert set(result) == {"success", "message", "output", "error", "artifacts", "metrics"}
    assert result["success"] is False
    order = await order_of(client, task["id"])
    assert result["error"] == order["error_message"]
    assert order["error_code"] in result["message"]


async def test_a_test_pipeline_runs_the_tests_of_its_branch(
    client: Any, where: Any, repository: Path, reach: Any
) -> None:
    git(repository, "checkout", "--quiet", "-b", "fixed")
    (repository / "test_sum.py").write_text(PASSING)
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "-m", "Test")
    git(repository, "checkout", "--quiet", "main")
    data = pipeline_of(where, "fixed")
    task = await submitted(client, type="test-pipeline", data=data)
    assert task["priority"] == "medium"
    order = await order_of(client, task["id"])
    assert (order["workflow_type"], order["base_branch"]) == ("test-pipeline", "fixed")
    await reach(client, task["id"], "completed", "failed")
    ended = (await client.get(f"/task/{task['id']}")).json()
    pipeline_models.PipelineTask.model_validate(ended)
    assert (ended["type"], ended["status"], ended["data"]) == ("test-pipeline", "completed", data)
    assert ended["result"]["success"] is True
    assert ended["result"]["output"]["passed_at_base"] is True
    assert ended["result"]["artifacts"]
    refused = await client.post(
        "/api/submit", json={"type": "test-pipeline", "data": pipeline_of(where, "nowhere")}
    )
    assert refused.status_code == 422
    assert refused.json()["field"] == "data.branch", refused.text


async def test_a_custom_task_runs_the_given_workflow_or_the_default_one(
    client: Any, where: Any
) -> None:
    data = {"repository": {"cloneUrl": where["cloneUrl"]}, "prompt": "Tidy up"}
    plain = await submitted(client, type="custom", data=data)
    order = await order_of(client, plain["id"])
    assert order["workflow_type"] == "agent_workflow_plan_build_test"
    assert order["initial_prompt"] == "Tidy up"
    named = {**data, "workflow": "agent_workflow_plan"}
    chosen = await submitted(client, type="custom", data=named)
    order = await order_of(client, chosen["id"])
    assert order["workflow_type"] == "agent_workflow_plan"
    assert chosen["data"] == named
    unknown = {**data, "workflow": "agent_workflow_plam"}
    refused = await client.post("/api/submit", json={"type": "custom", "data": unknown})
    assert refused.status_code == 404
    assert refused.json()["field"] == "data.workflow"


async def test_a_review_is_refused_where_there_is_no_github(client: Any, review: Any) -> None:
    answer = await client.post("/api/submit", json={"type": "pr-review", "data": review})
    assert answer.status_code == 422
    assert answer.json()["code"] == "github_not_configured"
    assert answer.json()["field"] == "data.repository.cloneUrl"
    assert "GITHUB_TOKEN" in answer.json()["hint"]
    assert (await client.get("/api/agent-work-orders")).json()["total_count"] == 0


async def test_an_order_that_succeeded_reads_as_a_completed_task(
    client: Any, order_body: Any, reach: Any
) -> None:
    made = await client.post("/api/agent-work-orders", json=order_body(initial_prompt="Plan it"))
    order_id = made.json()["agent_work_order"]["agent_work_order_id"]
    done = await reach(client, order_id, "completed")
    task = (await client.get(f"/task/{order_id[:10]}")).json()
    pipeline_models.PipelineTask.model_validate(task)
    assert (task["id"], task["type"], task["status"]) == (order_id, "custom", "completed")
    assert task["retryCount"] == 0
    assert task["data"]["prompt"] == "Plan it"
    assert task["data"]["workflow"] == "agent_workflow_plan"
    result = task["result"]
    assert result["success"] is True
    assert "error" not in result
    assert result["metrics"]["commits"] == done["git_commit_count"] == 1
    assert result["output"]["pullRequestUrl"] == done["github_pull_request_url"]
    for address in result["artifacts"]:
        assert (await client.get(address)).status_code == 200


async def test_attempts_after_the_first_are_retries(
    client: Any, order_body: Any, reach: Any, scripts: Any
) -> None:
    sent = order_body(scripts["failing"], initial_prompt="Plan it")
    made = await client.post("/api/agent-work-orders", json=sent)
    assert made.status_code == 201, made.text
    order_id = made.json()["agent_work_order"]["agent_work_order_id"]
    await reach(client, order_id, "failed")
    before = (await client.get(f"/task/{order_id}")).json()["retryCount"]
    await client.post(f"/api/agent-work-orders/{order_id}/retry", json={})
    await reach(client, order_id, "failed")
    tasks = (await client.get(f"/api/agent-work-orders/{order_id}/tasks")).json()["tasks"]
    after = (await client.get(f"/task/{order_id}")).json()["retryCount"]
    assert after == max(task["attempt"] for task in tasks) - 1
    assert after > before


async def test_a_stopped_order_is_a_failed_task_that_says_so(
    client: Any, order_body: Any, reach: Any, scripts: Any
) -> None:
    sent = order_body(workflow_type=None, workflow_source=scripts["gated"])
    made = await client.post("/api/agent-work-orders", json=sent)
    order_id = made.json()["agent_work_order"]["agent_work_order_id"]
    await reach(client, order_id, "waiting")
    waiting = (await client.get(f"/task/{order_id}")).json()
    assert waiting["status"] == "in-progress"
    assert "result" not in waiting
    assert "completedAt" not in waiting
    await client.post(f"/api/agent-work-orders/{order_id}/cancel")
    await reach(client, order_id, "cancelled")
    task = (await client.get(f"/task/{order_id}")).json()
    pipeline_models.PipelineTask.model_validate(task)
    assert task["status"] == "failed"
    assert task["result"]["success"] is False
    assert "cancelled" in task["result"]["message"].lower()
    assert task["result"]["error"]


@pytest.mark.parametrize("priority", ["HIGH", "High", "high"])
async def test_priorities_are_taken_in_either_case(
    client: Any, issue: Any, order_body: Any, priority: str
) -> None:
    task = await submitted(client, type="issue-resolution", priority=priority, data=issue)
    assert task["priority"] == "high"
    sent = order_body(priority=priority, initial_prompt="Plan it")
    made = await client.post("/api/agent-work-orders", json=sent)
    assert made.status_code == 201, made.text
    assert made.json()["agent_work_order"]["priority"] == "high"


@pytest.mark.parametrize("priority", ["highest", 3, None])
async def test_no_other_priorities(client: Any, issue: Any, priority: Any) -> None:
    sent = {"type": "issue-resolution", "priority": priority, "data": issue}
    answer = await client.post("/api/submit", json=sent)
    assert (answer.status_code, answer.json()["field"]) == (422, "priority")


async def test_what_is_wrong_is_named_as_it_was_sent(client: Any, issue: Any) -> None:
    async def refusal(**change: Any) -> tuple[int, str | None]:
        sent = {"type": "issue-resolution", "data": issue, **change}
        answer = await client.post("/api/submit", json=sent)
        return answer.status_code, answer.json().get("field")

    inside = {**issue["repository"], "token": "x"}
    elsewhere = {**issue["repository"], "cloneUrl": "file:///etc"}
    assert await refusal(extra=1) == (422, "extra")
    assert await refusal(data={**issue, "issue_number": 1}) == (422, "data.issue_number")
    assert await refusal(data={**issue, "issueNumber": "42"}) == (422, "data.issueNumber")
    assert await refusal(data={**issue, "repository": inside}) == (422, "data.repository.token")
    assert await refusal(data={**issue, "repository": elsewhere}) == (
        422,
        "data.repository.cloneUrl",
    )
    assert (await refusal(type="deploy"))[0] == 422
    assert (await client.post("/api/submit", json={"data": issue})).status_code == 422
    nul = await client.post(
        "/api/submit", json={"type": "issue-resolution", "data": {**issue, "author": "a\0"}}
    )
    assert (nul.status_code, nul.json()["code"]) == (400, "text_invalid")
    assert (await client.get("/api/agent-work-orders")).json()["total_count"] == 0


async def test_the_same_key_makes_one_task(client: Any, issue: Any) -> None:
    sent = {"type": "issue-resolution", "data": issue}
    header = {"Idempotency-Key": "once"}
    answers = [await client.post("/api/submit", json=sent, headers=header) for _ in range(2)]
    assert answers[0].json()["id"] == answers[1].json()["id"]
    other = {"type": "issue-resolution", "data": {**issue, "author": "bob"}}
    reused = await client.post("/api/submit", json=other, headers=header)
    assert (reused.status_code, reused.json()["code"]) == (409, "idempotency_key_reused")


@pytest.mark.fault("K2")
async def test_a_task_of_another_repository_does_not_exist(
    client: Any, as_key: Any, issue: Any, other_repository: Path
) -> None:
    task = await submitted(client, type="issue-resolution", data=issue)
    async with as_key("operator", [other_repository]) as stranger:
        assert (await stranger.get(f"/task/{task['id']}")).status_code == 404
        sent = {"type": "issue-resolution", "data": issue}
        assert (await stranger.post("/api/submit", json=sent)).status_code == 404
    async with as_key("viewer") as viewer:
        assert (await viewer.get(f"/task/{task['id']}")).status_code == 200
        assert (await viewer.post("/api/submit", json=sent)).status_code == 403


def test_the_reference_mentions_every_field(app: Any) -> None:
    text = (ROOT / "docs" / "API.md").read_text(encoding="utf-8")
    section = text.split("## Pipeline tasks", 1)[1].split("\n## ", 1)[0]
    schemas = app.openapi()["components"]["schemas"]
    for model in (
        "PipelineTask",
        "TaskResult",
        "TaskMetrics",
        "IssueResolutionTask",
        "PRReviewTask",
        "TestPipelineTask",
        "CustomTask",
        "PipelineRepositoryWithBranch",
    ):
        fields = schemas[model]["properties"]
        missing = [name for name in fields if not re.search(rf"\b{name}\b", section)]
        assert missing == [], model

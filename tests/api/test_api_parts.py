"""Workflows, tools, agents, sandbox types, repositories, status and the description itself."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from agent_work_orders.api import administration_models, models
from agent_work_orders.bootstrap import House
from agent_work_orders.sandbox_manager.sandbox_types import SANDBOX_TYPES

ROOT = Path(__file__).resolve().parents[2]


async def test_workflows_are_listed_shown_and_versioned(client: Any, order_body: Any) -> None:
    listed = models.WorkflowList.model_validate((await client.get("/api/workflows")).json())
    names = [one.name for one in listed.workflows]
    assert {
        "agent_workflow_plan", "agent_workflow_build", "agent_workflow_test",
        "agent_workflow_plan_build", "agent_workflow_plan_build_test",
    } <= set(names)  # fmt: skip
    for name in names:
        answer = await client.get(f"/api/workflows/{name}")
        shown = models.WorkflowAnswer.model_validate(answer.json()).workflow
        assert shown.tasks
        assert f"name: {name}" in shown.source
    await client.post("/api/agent-work-orders", json=order_body())
    versions = (await client.get("/api/workflows/agent_workflow_plan/versions")).json()
    assert models.WorkflowVersions.model_validate(versions).versions[0].version == 1
    missing = await client.get("/api/workflows/agent_workflow_plam")
    assert missing.status_code == 404
    assert "Did you mean agent_workflow_plan" in missing.json()["hint"]


async def test_the_steps_inside_a_loop_follow_it(client: Any) -> None:
    answer = await client.get("/api/workflows/agent_workflow_plan_build_test")
    tasks = models.WorkflowAnswer.model_validate(answer.json()).workflow.tasks
    assert [(one.id, one.needs) for one in tasks] == [
        ("baseline", []),
        ("plan", ["baseline"]),
        ("draft", ["plan"]),
        ("implement", ["plan", "draft"]),
        ("implement.build", []),
        ("implement.check", ["build"]),
        ("publish", ["plan", "implement"]),
    ]


async def test_validation_names_lines(client: Any, scripts: Any) -> None:
    bad = "name: x\ntasks:\n  one:\n    uses: nosuch.tool\n    neds: [two]\n"
    yaml = {"Content-Type": "application/yaml"}
    for sent in ({"json": {"source": bad}}, {"content": bad.encode(), "headers": yaml}):
        answer = await client.post("/api/workflows/validate", **sent)
        assert answer.status_code == 200, answer.text
        found = models.WorkflowValidation.model_validate(answer.json())
        assert not found.valid
        assert {problem.line for problem in found.problems} & {4, 5}
    good = await client.post("/api/workflows/validate", json={"source": scripts["gated"]})
    found = models.WorkflowValidation.model_validate(good.json())
    assert found.valid
    assert found.workflow is not None
    assert found.workflow.tasks[0].approval == "Really?"
    assert (await client.get("/api/workflows/gated")).status_code == 404
    for wrong in ({"json": {"text": "x"}}, {"content": b"\xff", "headers": yaml}, {}):
        answer = await client.post("/api/workflows/validate", **wrong)
        assert answer.status_code in (400, 422)


async def test_a_workflow_is_triggered_by_name_and_alias(client: Any, order_body: Any) -> None:
    answer = await client.post(
        "/api/workflows/agent_workflow_plan/trigger", json=order_body(workflow_type=None)
    )
    assert answer.status_code == 201, answer.text
    assert answer.json()["agent_work_order"]["workflow_type"] == "agent_workflow_plan"
    twice = await client.post("/api/workflows/agent_workflow_plan/trigger", json=order_body())
    assert twice.json()["field"] == "workflow_type"


async def test_parts_are_listed(client: Any) -> None:
    tools = (await client.get("/api/tools")).json()
    administration_models.ToolList.model_validate(tools)
    assert "agent.command" in [tool["name"] for tool in tools["tools"]]
    agents = (await client.get("/api/available-agents")).json()
    administration_models.AvailableAgentList.model_validate(agents)
    assert {one["name"]: one["problem"] for one in agents["agents"]}["scripted"] is None
    types = (await client.get("/api/sandbox-types")).json()
    found = administration_models.SandboxTypeList.model_validate(types).sandbox_types
    available = [(one.name, one.default) for one in found if one.available]
    assert available == [(name, name == "git_worktree") for name in SANDBOX_TYPES]
    assert {one.name: one.problem for one in found}["git_worktree"] is None
    assert all(one.isolation and one.isolation.network for one in found if one.available)


async def test_repositories_are_verified(client: Any, repository: Path, tmp_path: Path) -> None:
    path = "/api/github/verify-repository"
    answer = await client.post(path, json={"repository_url": str(repository)})
    found = administration_models.GitHubRepositoryVerificationResponse.model_validate(answer.json())
    assert found.verification_success
    assert found.error_message is None
    assert found.repository.is_accessible
    assert found.repository.repository_name == "repo"
    assert found.repository.repository_owner == tmp_path.name
    assert found.repository.default_branch == "main"
    assert found.repository.branches == ["main"]
    answer = await client.post(path, json={"repository_url": str(tmp_path / "none")})
    assert answer.status_code == 200
    assert answer.json()["verification_success"] is False
    assert answer.json()["error_message"]
    assert answer.json()["repository"]["access_verified_at"] is None
    refused = await client.post(path, json={"repository_url": "https://u:p@github.com/a/b"})
    assert refused.status_code == 422


async def test_status_health_and_readiness(
    client: Any, app: Any, house: House, order_body: Any, scripts: Any, reach: Any, made_client: Any
) -> None:
    made = await client.post("/api/agent-work-orders", json=order_body(scripts["sleepy"]))
    order_id = made.json()["agent_work_order"]["agent_work_order_id"]
    await reach(client, order_id, "running")
    answer = (await client.get("/status")).json()
    status = administration_models.Status.model_validate(answer)
    assert (status.status, status.active_tasks, status.work_orders["running"]) == ("ok", 1, 1)
    assert status.credential_status == {"model_sign_in": "missing"}
    assert status.github is None
    async with made_client(app, None) as stranger:
        assert (await stranger.get("/healthz")).json() == {"status": "ok"}
        ready = await stranger.get("/readyz")
        assert (ready.status_code, ready.json()) == (200, {"ready": True, "reason": None})
        house.store.writer.halt(OSError("/secret/path"))
        halted = await stranger.get("/readyz")
        assert halted.status_code == 503
        assert halted.json() == {"ready": False, "reason": "journal_halted"}
    assert (await client.get("/status")).json()["status"] == "degraded"
    refused = await client.post("/api/agent-work-orders", json=order_body())
    assert refused.status_code in (500, 503), refused.text
    assert "/secret" not in refused.text
    async with asyncio.timeout(10):
        while house.engine.health()["state"] != "halted":
            await asyncio.sleep(0.01)
    refused = await client.post("/api/agent-work-orders", json=order_body())
    assert (refused.status_code, refused.json()["code"]) == (503, "engine_unavailable")
    assert "/secret" not in refused.text


async def test_readiness_ends_with_draining(client: Any, app: Any) -> None:
    app.state.draining = True
    assert (await client.get("/readyz")).json() == {"ready": False, "reason": "draining"}


async def test_the_description_is_complete(client: Any) -> None:
    document = (await client.get("/openapi.json")).json()
    ids = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            ids.append(operation["operationId"])
            assert operation.get("description"), (method, path)
            assert operation["tags"]
            content = operation["responses"]["default"]["content"]
            assert list(content) == ["application/problem+json"]
            assert "422" not in operation["responses"]
    assert len(ids) == len(set(ids))
    page = (await client.get("/docs")).text
    assert "/api/agent-work-orders/{agent_work_order_id}/git-progress" in page
    assert not re.search(r"(src|href)=['\"]?(https?:)?//", page)
    assert "<script" not in page


def test_the_reference_mentions_every_route_and_field(app: Any) -> None:
    text = (ROOT / "docs" / "API.md").read_text(encoding="utf-8")
    document = app.openapi()
    routes = [
        f"{method.upper()} {path}"
        for path, methods in document["paths"].items()
        for method in methods
    ]
    assert [route for route in routes if f"`{route}`" not in text] == []
    documented = set(re.findall(r"`((?:GET|POST|PUT|DELETE) /[^`?]*)`", text))
    assert documented <= set(routes)
    for model in ("AgentWorkOrder", "CreateAgentWorkOrderRequest", "GitProgressSnapshot"):
        fields = document["components"]["schemas"][model]["properties"]
        assert [name for name in fields if f"`{name}`" not in text] == [], model
    for name in (one.value for one in models.AgentWorkOrderStatus):
        assert f"`{name}`" in text


@pytest.mark.parametrize("field", ["repository_url", "agent_work_order_id"])
def test_names_of_the_documents_are_the_schemas(app: Any, field: str) -> None:
    schemas = app.openapi()["components"]["schemas"]
    for model in (
        "AgentWorkOrder", "CreateAgentWorkOrderRequest", "AgentPromptRequest",
        "AgentWorkOrderResponse", "GitProgressSnapshot", "GitHubRepository",
        "GitHubRepositoryVerificationRequest", "GitHubRepositoryVerificationResponse",
    ):  # fmt: skip
        assert model in schemas
    assert field in schemas["AgentWorkOrder"]["properties"]

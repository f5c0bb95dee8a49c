"""Who may call what: every route of the description, with every kind of key."""

from __future__ import annotations

from typing import Any

import pytest

from agent_work_orders.api.auth import FAILURES_ALLOWED, OPEN, PUBLIC
from agent_work_orders.bootstrap import House

ORDER = "/api/agent-work-orders/{agent_work_order_id}"
# (method, path) -> least role. A route that is not here fails the test: decide, then add it.
READ, OPERATE, APPROVE, ADMINISTER = "viewer", "operator", "approver", "admin"
NEEDS = {
    ("post", "/api/agent-work-orders"): OPERATE,
    ("get", "/api/agent-work-orders"): READ,
    ("get", ORDER): READ,
    ("get", f"{ORDER}/git-progress"): READ,
    ("get", f"{ORDER}/logs"): READ,
    ("get", f"{ORDER}/tasks"): READ,
    ("get", f"{ORDER}/approvals"): READ,
    ("get", f"{ORDER}/diff"): READ,
    ("get", f"{ORDER}/commits"): READ,
    ("get", f"{ORDER}/commits/{{sha}}/diff"): READ,
    ("get", f"{ORDER}/review"): READ,
    ("get", f"{ORDER}/transcript"): READ,
    ("get", f"{ORDER}/artifacts"): READ,
    ("get", f"{ORDER}/artifacts/{{sha256}}"): READ,
    ("post", f"{ORDER}/prompt"): OPERATE,
    ("post", f"{ORDER}/cancel"): OPERATE,
    ("post", f"{ORDER}/pause"): OPERATE,
    ("post", f"{ORDER}/resume"): OPERATE,
    ("post", f"{ORDER}/retry"): OPERATE,
    ("post", f"{ORDER}/rollback"): OPERATE,
    ("post", f"{ORDER}/tasks/{{path}}/override"): OPERATE,
    ("get", "/api/workflows"): READ,
    ("post", "/api/workflows/validate"): READ,
    ("get", "/api/workflows/{name}"): READ,
    ("get", "/api/workflows/{name}/versions"): READ,
    ("post", "/api/workflows/{name}/trigger"): OPERATE,
    ("post", "/api/submit"): OPERATE,
    ("get", "/task/{task_id}"): READ,
    ("get", "/api/approvals"): READ,
    ("get", "/api/approvals/{approval_id}"): READ,
    ("post", "/api/approvals/{approval_id}/approve"): APPROVE,
    ("post", "/api/approvals/{approval_id}/reject"): APPROVE,
    ("get", "/api/commands"): READ,
    ("get", "/api/commands/{name}"): READ,
    ("get", "/api/tools"): READ,
    ("get", "/api/available-agents"): READ,
    ("get", "/api/sandbox-types"): READ,
    ("get", "/api/sandboxes"): READ,
    ("get", "/sandbox/list"): READ,
    ("get", "/api/sandboxes/{sandbox_id}"): READ,
    ("delete", "/api/sandboxes/{sandbox_id}"): OPERATE,
    ("post", "/sandbox/{sandbox_id}/destroy"): OPERATE,
    ("post", "/api/sandboxes/{sandbox_id}/exec"): OPERATE,
    ("post", "/api/sandboxes/{sandbox_id}/terminal"): OPERATE,
    ("post", "/api/terminals/{terminal_id}"): OPERATE,
    ("post", "/api/github/verify-repository"): OPERATE,
    ("post", "/api/keys"): ADMINISTER,
    ("get", "/api/keys"): ADMINISTER,
    ("delete", "/api/keys/{key_id}"): ADMINISTER,
    ("get", "/api/audit"): ADMINISTER,
    ("get", "/api/deliveries"): ADMINISTER,
    ("get", "/api/deliveries/{delivery_id}"): ADMINISTER,
    ("post", "/api/deliveries/{delivery_id}/retry"): ADMINISTER,
    ("post", "/api/integrations/github/pr-feedback"): OPERATE,
    ("get", "/api/session"): READ,
    ("delete", "/api/session"): READ,
    ("post", "/api/session/links"): READ,
    ("get", "/api/events"): READ,
    ("get", "/status"): READ,
}
ROLES = (READ, OPERATE, APPROVE, ADMINISTER)
OF_AN_ORDER = [
    key
    for key in NEEDS
    if "{agent_work_order_id}" in key[1] or "{task_id}" in key[1] or "{sandbox_id}" in key[1]
]
OF_AN_APPROVAL = [key for key in NEEDS if "{approval_id}" in key[1]]


def address(path: str, order_id: str, approval_id: str) -> str:
    known = {
        "agent_work_order_id": order_id, "approval_id": approval_id, "name": "agent_workflow_plan",
        "sha256": "0" * 64, "sha": "0" * 40, "path": "plan", "key_id": "key-none",
        "task_id": order_id, "delivery_id": "none", "sandbox_id": order_id,
        "terminal_id": "none",
    }  # fmt: skip
    return path.format(**known)


def body(method: str, path: str, order_id: str, order_body: Any) -> Any:
    if method != "post":
        return None
    match path.rsplit("/", 1)[-1]:
        case "agent-work-orders":
            return order_body()
        case "submit":
            where = {"cloneUrl": order_body()["repository_url"]}
            return {"type": "custom", "data": {"repository": where, "prompt": "Go on"}}
        case "trigger":
            return order_body(workflow_type=None)
        case "prompt":
            return {"agent_work_order_id": order_id, "prompt_text": "Go on"}
        case "override":
            return {"action": "skip"}
        case "exec":
            return {"argv": ["true"]}
        case "validate":
            return {"source": "name: x\ntasks: {}\n"}
        case "verify-repository":
            return {"repository_url": order_body()["repository_url"]}
        case "keys":
            return {"name": "new", "role": "viewer"}
    return {}


@pytest.fixture
async def subject(client: Any, order_body: Any, scripts: Any, reach: Any) -> tuple[str, str]:
    """An order that waits for an approval."""
    sent = order_body(workflow_type=None, workflow_source=scripts["gated"])
    made = (await client.post("/api/agent-work-orders", json=sent)).json()
    order_id = made["agent_work_order"]["agent_work_order_id"]
    await reach(client, order_id, "waiting")
    [asked] = (await client.get("/api/approvals")).json()["approvals"]
    return order_id, asked["approval_id"]


def test_every_route_is_in_the_table(app: Any) -> None:
    described = {
        (method, path)
        for path, methods in app.openapi()["paths"].items()
        for method in methods
        if path not in PUBLIC and (method.upper(), path) not in OPEN
    }
    assert described == set(NEEDS)


def test_only_the_description_is_left_out_of_it(app: Any) -> None:
    """A route hidden from the description would be missing in these tests."""
    hidden = [route.path for route in app.routes if not getattr(route, "include_in_schema", True)]
    assert set(hidden) <= PUBLIC


@pytest.mark.fault("K1")
async def test_without_a_valid_key_nothing_is_said(
    app: Any, house: House, made_client: Any, order_body: Any, subject: tuple[str, str]
) -> None:
    revoked, token = await house.context.store.keys.create("old", "admin")
    await house.context.store.keys.revoke(revoked.key_id)
    tokens = [None, "wrong", "key-aaaaaaaaaaaaaaaa.wrong", token, house.local_key + "x"]
    for given in tokens:
        app.middleware_stack = None
        async with made_client(app, given) as client:
            for number, (method, path) in enumerate(NEEDS):
                if number % FAILURES_ALLOWED == FAILURES_ALLOWED - 1:
                    app.middleware_stack = None
                at = address(path, *subject)
                sent = body(method, path, subject[0], order_body)
                answer = await client.request(method, at, json=sent)
                assert answer.status_code == 401, (given, method, path, answer.text)
                assert answer.json()["code"] in ("key_missing", "key_unknown")
                assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.fault("K1")
@pytest.mark.parametrize("role", ROLES)
async def test_roles_by_table(
    role: str, as_key: Any, order_body: Any, subject: tuple[str, str]
) -> None:
    async with as_key(role) as client:
        for (method, path), least in NEEDS.items():
            if path == "/api/events" or (role == least and method == "post"):
                continue
            allowed = ROLES.index(role) >= ROLES.index(least)
            if allowed and method != "get":
                continue
            at = address(path, *subject)
            sent = body(method, path, subject[0], order_body)
            answer = await client.request(method, at, json=sent)
            if allowed:
                assert answer.status_code in (200, 404), (method, path, answer.text)
            else:
                assert answer.status_code == 403, (role, method, path, answer.text)
                assert answer.json()["code"] == "role_insufficient"


@pytest.mark.fault("K2")
@pytest.mark.parametrize("role", ["viewer", "admin"])
async def test_what_belongs_to_others_does_not_exist(
    role: str, as_key: Any, order_body: Any, subject: tuple[str, str], other_repository: Any
) -> None:
    order_id, _ = subject
    async with as_key(role, [other_repository]) as client:
        for method, path in OF_AN_ORDER + OF_AN_APPROVAL:
            sent = body(method, path, order_id, order_body)
            answer = await client.request(method, address(path, *subject), json=sent)
            assert answer.status_code == 404, (method, path, answer.text)
        assert (await client.get("/api/agent-work-orders")).json()["total_count"] == 0
        assert (await client.get("/api/approvals")).json()["approvals"] == []
        status = (await client.get("/status")).json()
        assert sum(status["work_orders"].values()) == 0
        assert status["approvals_asked"] == 0
        live = await client.get("/api/events", params={"agent_work_order_id": order_id})
        assert live.status_code == 404
        prefix = await client.get(f"/api/agent-work-orders/{order_id[:6]}")
        assert prefix.status_code == 404
        for path in ("/api/keys", "/api/audit"):
            assert (await client.get(path)).status_code == 403
        if role == "admin":
            made = await client.post("/api/agent-work-orders", json=order_body())
            assert made.status_code == 404
            seen = await client.post(
                "/api/github/verify-repository",
                json={"repository_url": order_body()["repository_url"]},
            )
            assert seen.status_code == 404
            escalated = await client.post("/api/keys", json={"name": "x", "role": "admin"})
            assert escalated.status_code == 403


async def test_a_key_for_a_repository_works_there(
    as_key: Any, order_body: Any, repository: Any
) -> None:
    async with as_key("operator", [repository]) as client:
        made = await client.post("/api/agent-work-orders", json=order_body())
        assert made.status_code == 201
        assert (await client.get("/api/agent-work-orders")).json()["total_count"] == 1
        who = made.json()["agent_work_order"]["created_by"]
        assert who.startswith("a operator/key-")


async def test_approvals_of_others_do_not_hide_ones_own(
    as_key: Any, client: Any, order_body: Any, scripts: Any, reach: Any, subject: Any,
    other_repository: Any,
) -> None:  # fmt: skip
    sent = order_body(
        workflow_type=None,
        workflow_source=scripts["gated"],
        repository_url=str(other_repository),
    )
    made = (await client.post("/api/agent-work-orders", json=sent)).json()
    order_id = made["agent_work_order"]["agent_work_order_id"]
    await reach(client, order_id, "waiting")
    async with as_key("viewer", [other_repository]) as viewer:
        found = (await viewer.get("/api/approvals", params={"limit": 1})).json()["approvals"]
        assert [one["agent_work_order_id"] for one in found] == [order_id]


@pytest.mark.fault("K8")
async def test_many_wrong_keys_are_slowed_and_right_ones_are_not(
    app: Any, made_client: Any, client: Any
) -> None:
    async with made_client(app, "wrong") as stranger:
        answers = [await stranger.get("/api/tools") for _ in range(FAILURES_ALLOWED + 5)]
    assert [answer.status_code for answer in answers] == [401] * FAILURES_ALLOWED + [429] * 5
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
    assert (await client.get("/api/tools")).status_code == 200


async def test_both_headers_carry_a_key(app: Any, house: House, made_client: Any) -> None:
    async with made_client(app, None, **{"X-API-Key": house.local_key}) as client:
        assert (await client.get("/api/tools")).status_code == 200


async def test_a_key_for_no_repository_is_refused(client: Any) -> None:
    body = {"name": "nothing", "role": "viewer", "repositories": []}
    answer = await client.post("/api/keys", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "key_repositories_empty")
    assert answer.json()["field"] == "repositories" and answer.json()["hint"]
    names = [one["name"] for one in (await client.get("/api/keys")).json()["keys"]]
    assert "nothing" not in names


async def test_a_key_lives_from_creation_to_revocation(
    client: Any, app: Any, made_client: Any, repository: Any
) -> None:
    sent = {"name": "ci", "role": "operator", "repositories": [str(repository)]}
    made = await client.post("/api/keys", json=sent)
    assert made.status_code == 201
    token, key = made.json()["token"], made.json()["key"]
    async with made_client(app, token) as holder:
        assert (await holder.get("/api/agent-work-orders")).status_code == 200
        listed = (await client.get("/api/keys")).json()["keys"]
        assert [one["key_id"] for one in listed] == [key["key_id"]]
        assert token not in str(listed)
        assert (await client.delete(f"/api/keys/{key['key_id']}")).status_code == 200
        assert (await holder.get("/api/agent-work-orders")).status_code == 401
    assert (await client.delete("/api/keys/key-none")).status_code == 404
    written = (await client.get("/api/audit")).json()["entries"]
    assert [entry["what"] for entry in written] == ["key.create", "key.revoke"]
    assert token not in str(written)

"""Prompt, cancel, pause, resume, retry, rollback, override: in every state, a defined answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agent_work_orders.api import models
from agent_work_orders.api.administration_models import Approval

ORDERS = "/api/agent-work-orders"
VERBS = ("cancel", "pause", "resume", "retry", "rollback")
# What each verb answers in each state. 200 is done (or so already), 409 is refused with a reason.
TABLE = {
    "running": {"cancel": 200, "pause": 200, "resume": 409, "retry": 409, "rollback": 200},
    "paused": {"cancel": 200, "pause": 200, "resume": 200, "retry": 409, "rollback": 200},
    "waiting": {"cancel": 200, "pause": 200, "resume": 409, "retry": 409, "rollback": 200},
    "completed": {"cancel": 409, "pause": 409, "resume": 409, "retry": 409, "rollback": 200},
    "failed": {"cancel": 409, "pause": 409, "resume": 409, "retry": 200, "rollback": 200},
    "cancelled": {"cancel": 200, "pause": 409, "resume": 409, "retry": 200, "rollback": 200},
}


@pytest.fixture
def order_in(client: Any, order_body: Any, scripts: Any, reach: Any) -> Callable[..., Any]:
    async def make(state: str) -> str:
        gated = {"workflow_type": None, "workflow_source": scripts["gated"]}
        body = {
            "running": lambda: order_body(scripts["sleepy"]),
            "paused": lambda: order_body(**gated),
            "waiting": lambda: order_body(**gated),
            "completed": lambda: order_body(),
            "failed": lambda: order_body(scripts["failing"]),
            "cancelled": lambda: order_body(scripts["sleepy"]),
        }[state]()
        made = await client.post(ORDERS, json=body)
        assert made.status_code == 201, made.text
        order_id = str(made.json()["agent_work_order"]["agent_work_order_id"])
        if state == "paused":
            await reach(client, order_id, "waiting")
            await client.post(f"{ORDERS}/{order_id}/pause")
        if state == "cancelled":
            await reach(client, order_id, "running")
            await client.post(f"{ORDERS}/{order_id}/cancel")
        await reach(client, order_id, state)
        return order_id

    return make


@pytest.mark.fault("K15")
@pytest.mark.parametrize("state", TABLE)
async def test_each_verb_in_each_state(client: Any, order_in: Any, state: str) -> None:
    for verb, expected in TABLE[state].items():
        order_id = await order_in(state)
        answer = await client.post(f"{ORDERS}/{order_id}/{verb}")
        assert answer.status_code == expected, (state, verb, answer.text)
        if expected == 200:
            models.AgentWorkOrderResponse.model_validate(answer.json())
        else:
            assert answer.json()["code"] == "order_state_conflict"
            assert answer.json()["hint"]
        await client.post(f"{ORDERS}/{order_id}/cancel")


async def test_an_order_that_was_rolled_back_says_so(
    client: Any, order_in: Any, reach: Any
) -> None:
    """Also one whose tasks had nothing to undo: nothing else would tell it from a failed one."""
    order_id = await order_in("failed")
    address = f"{ORDERS}/{order_id}"
    assert (await client.get(address)).json()["agent_work_order"]["rolled_back"] is False
    answer = await client.post(f"{address}/rollback")
    assert answer.json()["agent_work_order"]["rolled_back"] is True
    await reach(client, order_id, "cancelled", "failed")
    tasks = (await client.get(f"{address}/tasks")).json()["tasks"]
    assert [task["undone"] for task in tasks] == [None] * len(tasks)
    assert (await client.get(address)).json()["agent_work_order"]["rolled_back"] is True
    assert (await client.post(f"{address}/retry")).status_code == 409
    for _ in range(200):
        # Lines of the list are written with the next group.
        [listed] = (await client.get(ORDERS)).json()["agent_work_orders"]
        if listed["rolled_back"]:
            break
        await asyncio.sleep(0.05)
    assert (listed["status"], listed["rolled_back"]) == ("cancelled", True)


@pytest.mark.fault("K15")
async def test_raced_verbs_leave_the_order_somewhere(
    client: Any, order_in: Any, reach: Any
) -> None:
    for first in VERBS:
        for second in VERBS:
            order_id = await order_in("running")
            answers = await asyncio.gather(
                *(client.post(f"{ORDERS}/{order_id}/{verb}") for verb in (first, second))
            )
            assert {answer.status_code for answer in answers} <= {200, 409}
            last = await client.post(f"{ORDERS}/{order_id}/cancel")
            assert last.status_code in (200, 409)
            await reach(client, order_id, "cancelled", "failed", "completed")


@pytest.mark.parametrize(
    ("state", "status"),
    [
        ("running", 200),
        ("waiting", 200),
        ("paused", 200),
        ("completed", 409),
        ("failed", 409),
        ("cancelled", 409),
    ],
)
async def test_prompts_reach_orders_at_work_only(
    client: Any, order_in: Any, state: str, status: int
) -> None:
    order_id = await order_in(state)
    sent = {"agent_work_order_id": order_id, "prompt_text": "Now the tests"}
    answer = await client.post(f"{ORDERS}/{order_id}/prompt", json=sent)
    assert answer.status_code == status, answer.text
    if status == 200:
        found = models.AgentPromptResponse.model_validate(answer.json())
        assert (found.agent_work_order_id, found.prompt_accepted) == (order_id, True)


async def test_a_prompt_for_another_order_is_refused(client: Any, order_in: Any) -> None:
    order_id = await order_in("running")
    sent = {"agent_work_order_id": "wo-aaaaaaaaaaaaaaaa", "prompt_text": "Hello"}
    answer = await client.post(f"{ORDERS}/{order_id}/prompt", json=sent)
    assert answer.status_code == 400
    assert answer.json()["code"] == "order_id_mismatch"
    unknown = {"agent_work_order_id": order_id, "prompt_text": "/nosuchcommand"}
    answer = await client.post(f"{ORDERS}/{order_id}/prompt", json=unknown)
    assert answer.json()["code"] == "command_unknown"


async def test_retry_from_a_task_and_override(client: Any, order_in: Any, reach: Any) -> None:
    order_id = await order_in("failed")
    nowhere = await client.post(f"{ORDERS}/{order_id}/retry", json={"task": "nope"})
    assert nowhere.status_code == 404
    again = await client.post(f"{ORDERS}/{order_id}/retry", json={"task": "plan"})
    assert again.status_code == 200
    await reach(client, order_id, "failed")
    path = f"{ORDERS}/{order_id}/tasks/plan/override"
    wrong = await client.post(path, json={"action": "explode"})
    assert wrong.status_code == 422
    assert wrong.json()["field"] == "action"
    skipped = await client.post(path, json={"action": "skip"})
    assert skipped.status_code == 200, skipped.text
    odd = f"{ORDERS}/{order_id}/tasks/fix%5B2%5D.check/override"
    assert (await client.post(odd, json={"action": "skip"})).json()["code"] == "task_unknown"


@pytest.mark.parametrize("verdict", ["approve", "reject"])
async def test_an_approval_is_shown_and_decided_once(
    client: Any, order_in: Any, reach: Any, verdict: str
) -> None:
    order_id = await order_in("waiting")
    order = (await client.get(f"{ORDERS}/{order_id}")).json()["agent_work_order"]
    assert order["waiting_reason"] == "approval"
    assert order["waiting_until"]
    [asked] = (await client.get("/api/approvals")).json()["approvals"]
    assert Approval.model_validate(asked).message == "Really?"
    path = f"/api/approvals/{asked['approval_id']}"
    assert (await client.get(path)).json()["approval"] == asked

    stale = await client.post(f"{path}/{verdict}", json={"subject_hash": "other"})
    assert (stale.status_code, stale.json()["code"]) == (409, "approval_subject_changed")
    sent = {"comment": "Fine", "subject_hash": asked["subject_hash"]}
    said = await client.post(f"{path}/{verdict}", json=sent)
    assert said.status_code == 200, said.text
    decided = Approval.model_validate(said.json()["approval"])
    assert (decided.state, decided.decided_by) == (f"{verdict}ed".replace("ee", "e"), "local")
    for other in ("approve", "reject"):
        late = await client.post(f"{path}/{other}")
        assert (late.status_code, late.json()["code"]) == (409, "approval_settled")
    await reach(client, order_id, "completed" if verdict == "approve" else "failed")
    assert (await client.get("/api/approvals")).json()["approvals"] == []
    [kept] = (await client.get(f"{ORDERS}/{order_id}/approvals")).json()["approvals"]
    assert kept["comment"] == "Fine"
    written = (await client.get("/api/audit", params={"agent_work_order_id": order_id})).json()
    assert f"approval.{verdict}" in [entry["what"] for entry in written["entries"]]


async def test_ids_of_approvals_may_contain_anything(client: Any) -> None:
    for given in ("wo-x/check[2].ask:a:1", "wo-x%2Fcheck%5B2%5D:a:1", "a/approve"):
        answer = await client.get(f"/api/approvals/{given}")
        assert answer.json()["code"] == "approval_unknown"
        answer = await client.post(f"/api/approvals/{given}/approve", json={})
        assert answer.json()["code"] == "approval_unknown"

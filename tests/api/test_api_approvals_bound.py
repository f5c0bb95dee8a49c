"""An answer over HTTP is to the commit that was shown; an old one is refused, whoever gives it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

ORDERS = "/api/agent-work-orders"
WORKFLOW = """
name: parallel
tasks:
  first: {uses: agent.command, with: {command: plan}}
  publish:
    needs: [first]
    approval: {message: "Publish?", expires: 1h}
    uses: forge.open_pull_request
  second: {needs: [first], uses: agent.command, with: {command: build}}
"""


def script(folder: Path) -> str:
    wait = f"until [ -e {folder}/go ]; do sleep 0.02; done"
    return f"""
commands:
  plan: [{{write: {{path: shown.txt, content: shown}}}}, {{text: done}}]
  build: [{{run: {{argv: [sh, -c, "{wait}"]}}}}, {{write: {{path: unseen.txt, content: no}}}}]
"""


async def asked_of(client: Any, order_id: str, count: int) -> list[dict[str, Any]]:
    async with asyncio.timeout(60):
        while True:
            answer = await client.get(f"{ORDERS}/{order_id}/approvals")
            found: list[dict[str, Any]] = answer.json()["approvals"]
            if len(found) == count:
                return sorted(found, key=lambda one: str(one["approval_id"]))
            await asyncio.sleep(0.02)


@pytest.mark.fault("N10")
async def test_a_parallel_commit_voids_what_was_asked(
    client: Any, order_body: Any, reach: Any, tmp_path: Path
) -> None:
    body = order_body(script(tmp_path), workflow_type=None, workflow_source=WORKFLOW)
    made = await client.post(ORDERS, json=body)
    assert made.status_code == 201, made.text
    order_id = made.json()["agent_work_order"]["agent_work_order_id"]
    [first] = await asked_of(client, order_id, 1)
    (tmp_path / "go").touch()
    old, new = await asked_of(client, order_id, 2)
    assert (old["approval_id"], old["state"], new["state"]) == (
        first["approval_id"],
        "void",
        "asked",
    )
    for given in ({"subject_hash": first["subject_hash"]}, {}):
        for verb in ("approve", "reject"):
            refused = await client.post(f"/api/approvals/{old['approval_id']}/{verb}", json=given)
            assert refused.status_code == 409, refused.text
            assert refused.json()["code"] == "approval_subject_changed"
    for one, seen in ((old, False), (new, True)):
        shown = await client.get(f"{ORDERS}/{order_id}/diff", params={"head": one["head_sha"]})
        assert ("unseen.txt" in shown.json()["diff"]) is seen
    assert (await client.get(f"{ORDERS}/{order_id}/diff", params={"head": "x"})).status_code == 422
    unknown = await client.get(f"{ORDERS}/{order_id}/diff", params={"head": "f" * 40})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "commit_unknown")
    await client.post(
        f"/api/approvals/{new['approval_id']}/approve", json={"subject_hash": new["subject_hash"]}
    )
    order = await reach(client, order_id, "completed")
    assert order["branch_offered"] is True
    assert len(await asked_of(client, order_id, 2)) == 2

"""What a command printed decides what is done: lists from text, and a task for each item."""

from __future__ import annotations

from typing import Any

ORDERS = "/api/agent-work-orders"
SOURCE = """\
name: for-each-package
tasks:
  list:
    uses: sandbox.exec
    with: {argv: [printf, '%s\\n', '["till", "basket"]']}
  names:
    uses: sandbox.exec
    with: {argv: [printf, 'one\\ntwo words\\n']}
  check:
    needs: [list]
    foreach: "{{ tasks.list.outputs.stdout | fromjson }}"
    uses: sandbox.exec
    with: {argv: [echo, "{{ index }} {{ item }}"]}
  each:
    needs: [names]
    foreach: "{{ tasks.names.outputs.stdout | trim | split('\\n') }}"
    uses: sandbox.exec
    with: {argv: [echo, "{{ item }}"]}
  retried:
    foreach: "{{ 2 | range }}"
    uses: sandbox.exec
    with: {argv: [echo, "number {{ item }}"]}
"""


async def test_what_a_command_printed_is_fanned_out_over(
    client: Any, order_body: Any, reach: Any
) -> None:
    body = order_body(workflow_type=None, workflow_source=SOURCE)
    made = (await client.post(ORDERS, json=body)).json()["agent_work_order"]
    order_id = made["agent_work_order_id"]
    await reach(client, order_id, "completed")
    tasks = (await client.get(f"{ORDERS}/{order_id}/tasks")).json()["tasks"]
    said = {
        one["path"]: one["outputs"]["stdout"].strip()
        for one in tasks
        if "[" in one["path"] and one["outputs"]
    }
    assert said == {
        "check[1]": "1 till",
        "check[2]": "2 basket",
        "each[1]": "one",
        "each[2]": "two words",
        "retried[1]": "number 0",
        "retried[2]": "number 1",
    }

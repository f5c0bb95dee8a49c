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


ANSWERED = """\
name: for-each-answer
tasks:
  look:
    uses: agent.prompt
    with:
      prompt: Which packages?
      schema:
        type: object
        properties: {packages: {type: array, items: {type: string}}}
        required: [packages]
  check:
    needs: [look]
    foreach: "{{ tasks.look.outputs.answer.packages }}"
    uses: sandbox.exec
    with: {argv: [echo, "{{ item }}"]}
"""
SCRIPT = """default: [{text: '{"packages": ["till", "basket"]}'}]"""


async def test_what_an_agent_answered_is_fanned_out_over(
    client: Any, order_body: Any, reach: Any
) -> None:
    agent = {"name": "scripted", "script": SCRIPT}
    body = order_body(workflow_type=None, workflow_source=ANSWERED, agent=agent)
    made = (await client.post(ORDERS, json=body)).json()["agent_work_order"]
    order_id = made["agent_work_order_id"]
    await reach(client, order_id, "completed")
    tasks = (await client.get(f"{ORDERS}/{order_id}/tasks")).json()["tasks"]
    said = {one["path"]: one["outputs"]["stdout"] for one in tasks if "[" in one["path"]}
    assert said == {"check[1]": "till\n", "check[2]": "basket\n"}


async def test_lint_knows_the_fields_of_an_answer(client: Any) -> None:
    async def problems(source: str) -> list[str]:
        answer = (await client.post("/api/workflows/validate", json={"source": source})).json()
        return [one["message"] for one in answer.get("problems", [])]

    assert await problems(ANSWERED) == []
    (wrong,) = await problems(ANSWERED.replace("answer.packages", "answer.package"))
    assert "has no `package`" in wrong
    (wrong,) = await problems(
        ANSWERED.replace("type: array, items: {type: string}", "type: string")
    )
    assert "expected a list" in wrong
    (wrong,) = await problems(ANSWERED.replace("required: [packages]", "pattern: x"))
    assert wrong == "`schema`: `pattern` of JSON Schema is not known here"

"""The read side follows the journal, also over crashes and damage."""

from __future__ import annotations

import asyncio
import json
import sqlite3

import pytest
from site_bench import Site

from agent_work_orders.security.roles import LOCAL_OPERATOR
from agent_work_orders.state_manager.sqlite import damage
from agent_work_orders.state_manager.sqlite.database import DATABASE_NAME
from agent_work_orders.work_orders import inspect, steer

GATED = "name: gated\ntasks:\n  ask: {approval: Go on?}\n"
PLAN_BUILD = """
commands:
  plan: [{write: {path: specs/plan.md, content: "# Plan"}}, {text: planned}]
  build: [{write: {path: made.txt, content: "made\\n"}}, {text: built}]
"""


async def test_the_log_has_the_documented_names(site: Site) -> None:
    order_id = await site.submit(workflow_type="agent_workflow_plan_build", script=PLAN_BUILD)
    await site.until(order_id, "completed")
    async with asyncio.timeout(10):
        while True:
            page = await inspect.logs(site.context, order_id, LOCAL_OPERATOR, limit=200)
            names = [entry.event for entry in page.log_entries]
            if "sandbox_cleanup_completed" in names:
                break
            await asyncio.sleep(0.02)
    for name in (
        "agent_work_order_created", "agent_work_order_started", "agent_work_order_completed",
        "workflow_phase_started", "workflow_phase_completed", "workflow_phase_transition",
        "agent_command_started", "agent_command_completed", "git_branch_created",
        "git_commit_created", "git_push_completed", "github_pull_request_created",
        "sandbox_created", "sandbox_cleanup_completed",
    ):  # fmt: skip
        assert name in names, name
    assert names.count("workflow_phase_started") == names.count("workflow_phase_completed") == 2
    [file] = (site.home / "logs" / "agent_work_orders").rglob(f"{order_id}.jsonl")
    async with asyncio.timeout(10):
        while len(lines := file.read_bytes().splitlines()) < len(names):
            await asyncio.sleep(0.02)
    assert sorted(json.loads(line)["event"] for line in lines) == sorted(names)


async def test_records_that_a_crash_lost_are_made_again(site: Site) -> None:
    waiting = await site.submit(workflow_source=GATED)
    await site.until(waiting, "waiting")
    done = await site.submit()
    await site.until(done, "completed")
    for _ in range(3):
        await site.restart()
    seq = await site.context.store.records.get(waiting)
    await site._stack.aclose()
    with sqlite3.connect(site.home / DATABASE_NAME) as connection:
        connection.execute("UPDATE orders SET status = 'running', current_phase = NULL")
        connection.execute("DELETE FROM orders WHERE agent_work_order_id = ?", (waiting,))
        connection.execute("DELETE FROM approvals")
        damage.fill(connection)  # a line that is behind is a whole one
    await site.start()
    async with asyncio.timeout(10):
        while True:
            rows = [await site.context.store.records.get(order_id) for order_id in (waiting, done)]
            if [row and row.status for row in rows] == ["waiting", "completed"]:
                break
            await asyncio.sleep(0.02)
    assert [one.state for one in await site.context.store.approvals.of_order(waiting)] == ["asked"]
    assert seq is not None
    # Later events are still newer than what the restarts wrote.
    await steer.cancel(site.context, waiting, LOCAL_OPERATOR)
    async with asyncio.timeout(10):
        while (
            row := await site.context.store.records.get(waiting)
        ) is None or row.status != "cancelled":
            await asyncio.sleep(0.02)


@pytest.mark.fault("A15")
async def test_a_damaged_order_is_put_aside_and_the_house_opens(site: Site) -> None:
    broken = await site.submit(workflow_source=GATED)
    fine = await site.submit(workflow_source=GATED)
    for order_id in (broken, fine):
        await site.until(order_id, "waiting")
    await site._stack.aclose()
    with sqlite3.connect(site.home / DATABASE_NAME) as connection:
        [run] = connection.execute("SELECT run FROM runs WHERE run_id = ?", (broken,)).fetchone()
        connection.execute("UPDATE events SET at_ms = at_ms + 1 WHERE run = ?", (run,))
    await site.start()
    assert (await site.show(fine)).status == "waiting"
    async with asyncio.timeout(10):
        while (
            row := await site.context.store.records.get(broken)
        ) is None or row.error_code is None:
            await asyncio.sleep(0.02)
    assert (row.status, row.waiting_reason) == ("waiting", "quarantined")
    assert row.error_code == "run_quarantined" and row.error_hint

"""Orders of thousands of tasks: what is asked of them costs what it touches, and nobody waits."""

from __future__ import annotations

import asyncio

import pytest
from embedded_rig import EmbeddedRig

from agent_work_orders.testing.conformance.engine import compiled, ended, now, submit, until
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine.plan import Plan


def flat(tasks: int) -> Plan:
    rows = "".join(f"  t{number}: {{uses: fake.hold}}\n" for number in range(tasks))
    return compiled(f"name: flat\ntasks:\n{rows}")


@pytest.mark.fault("N9")
async def test_others_are_served_while_a_large_order_is_cancelled(rig: EmbeddedRig) -> None:
    """Between any two portions of the cancelled tasks somebody else's turn comes."""
    tasks = 2_000
    run_id = await submit(rig, flat(tasks))
    await until(rig, run_id, lambda run: len(rig.world.begun) >= 16)
    answered = [0]
    most_at_once = 0

    async def watch() -> None:
        nonlocal most_at_once
        while True:
            before = answered[0]
            await asyncio.sleep(0)
            most_at_once = max(most_at_once, answered[0] - before)

    def count(change: object) -> None:
        answered[0] += 1

    rig.engine.observe(count)
    watching = asyncio.create_task(watch())
    await rig.engine.post(run_id, on.CancelAsked(at_ms=now(), by="test"))
    run = await ended(rig, run_id)
    watching.cancel()
    assert run.outcome == "cancelled"
    assert {task.state for path, task in run.tasks.items() if path} == {"cancelled"}
    assert answered[0] > tasks
    assert most_at_once < tasks / 4


@pytest.mark.fault("N9")
async def test_what_was_to_be_stopped_never_begins_after_a_crash(rig: EmbeddedRig) -> None:
    run_id = await submit(rig, flat(1_000))
    await until(rig, run_id, lambda run: len(rig.world.begun) >= 16)
    begun = set(rig.world.begun)
    await rig.engine.post(run_id, on.CancelAsked(at_ms=now(), by="test"))
    await rig.crash()
    run = await ended(rig, run_id)
    assert run.outcome == "cancelled"
    assert set(rig.world.begun) == begun

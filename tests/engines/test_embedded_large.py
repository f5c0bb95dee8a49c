"""Orders of thousands of tasks: what is asked of them costs what it touches, and nobody waits."""

from __future__ import annotations

import asyncio

import pytest
from embedded_rig import EmbeddedRig

from agent_work_orders.engines.embedded.ahead import Ahead
from agent_work_orders.engines.embedded.kept_run import KeptRun
from agent_work_orders.testing.conformance.engine import compiled, ended, now, submit, until
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine.plan import Plan
from agent_work_orders.workflow_engine.run import fresh


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


NESTED = f"""
name: nested
tasks:
  first: {{uses: fake.echo, with: {{value: 1}}}}
  wide:
    needs: [first]
    foreach: {list(range(40))}
    tasks:
      inner:
        foreach: {list(range(40))}
        uses: fake.echo
        with: {{value: "{{{{ item }}}}"}}
  last: {{needs: [wide], uses: fake.echo, with: {{value: 2}}}}
"""


@pytest.mark.fault("N9")
async def test_the_answer_that_opens_a_large_fan_is_taken_beside_the_loop(
    rig: EmbeddedRig,
) -> None:
    """The run is small until then, so its size does not tell."""
    plan = compiled(NESTED)
    held = KeptRun(fresh("r1", plan, "hash"), 0)
    ahead = Ahead()
    answer = on.TaskSucceeded(at_ms=1, path="first", attempt=1, outputs={})
    small = on.TaskSucceeded(at_ms=1, path="wide[3].inner[4]", attempt=1, outputs={})
    assert ahead.large(held, answer)
    assert not ahead.large(held, small)
    assert await ahead.step(held, small) is None
    run = await ended(rig, await submit(rig, plan))
    assert run.outcome == "completed"
    assert len(run.tasks) > 1_600


@pytest.mark.fault("N9")
async def test_a_large_fan_is_opened_beside_the_loop(rig: EmbeddedRig) -> None:
    held = KeptRun(fresh("r1", compiled(NESTED.replace("needs: [first]", "")), "hash"), 0)
    submitted = on.Submitted(at_ms=1, plan_hash="hash", inputs={}, order={})
    step = await Ahead().step(held, submitted)
    assert step is not None and len(step.effects) > 1_600

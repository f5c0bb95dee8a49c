"""What every engine must do, told as tests. Subclass `EngineConformance` and give it a `rig`.

The same workflows, the same tools, the same events; what the tests see is only the contract of
`engines.engine.Engine`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

import pytest

from agent_work_orders.clock import SystemClock
from agent_work_orders.engines.engine import Change, Engine
from agent_work_orders.errors import NotFound
from agent_work_orders.ids import new_order_id
from agent_work_orders.testing.fakes import tools
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine.compiler import compile_workflow, plan_hash
from agent_work_orders.workflow_engine.definition import Definition, parse
from agent_work_orders.workflow_engine.phases import status
from agent_work_orders.workflow_engine.plan import Plan
from agent_work_orders.workflow_engine.run import Run

PATIENCE_S = 30.0
_CLOCK = SystemClock()


class Rig(Protocol):
    """An engine under test, over the fake tools of `world`."""

    engine: Engine
    world: tools.World

    async def crash(self) -> None:
        """Lose everything that is only in memory and start again."""
        ...


def compiled(source: str, *children: str) -> Plan:
    known: dict[str, Definition] = {}
    for child in children:
        definition = parse(child, "child.yaml")
        known[definition.name] = definition
    return compile_workflow(parse(source, "test.yaml"), tools.CATALOGUE, children=known.get)


def order_facts(order_id: str) -> dict[str, Any]:
    return {
        "order_id": order_id,
        "repository_url": "/nowhere",
        "repository": "nowhere",
        "base_branch": None,
        "branch": f"feat-{order_id}",
        "sandbox_type": "git_worktree",
        "agent": {"name": "scripted"},
        "workflow": "test",
        "metered": False,
    }


async def submit(rig: Rig, plan: Plan, **inputs: Any) -> str:
    order_id = new_order_id()
    event = on.Submitted(
        at_ms=_CLOCK.now_ms(),
        plan_hash=plan_hash(plan),
        inputs=inputs,
        order=order_facts(order_id),
        by="test",
    )
    await rig.engine.submit(order_id, plan, event)
    return order_id


async def until(
    rig: Rig, run_id: str, wanted: Callable[[Run], bool], why: str = "the run to move"
) -> Run:
    try:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                run = await rig.engine.run(run_id)
                if run is not None and wanted(run):
                    return run
                await asyncio.sleep(0.01)
    except TimeoutError:
        run = await rig.engine.run(run_id)
        states = {} if run is None else {path: task.state for path, task in run.tasks.items()}
        raise AssertionError(f"waited in vain for {why}: {states}") from None


async def ended(rig: Rig, run_id: str) -> Run:
    return await until(rig, run_id, lambda run: run.stage == "ended", "the end")


async def eventually(check: Callable[[], bool], why: str) -> None:
    for _ in range(int(PATIENCE_S / 0.01)):
        if check():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"waited in vain for {why}")


def now() -> int:
    return _CLOCK.now_ms()


CHAIN = """
name: chain
inputs: {word: {type: string, required: true}}
tasks:
  a: {uses: fake.echo, with: {value: "{{ inputs.word }}"}}
  b: {needs: [a], uses: fake.echo, with: {value: "{{ tasks.a.outputs.value }}!"}}
outputs: {said: "{{ tasks.b.outputs.value }}"}
"""

WIDE = """
name: wide
tasks:
  each:
    foreach: "{{ [1, 2, 3] }}"
    uses: fake.echo
    with: {value: "{{ item }}"}
  loop:
    repeat:
      max: 3
      until: tasks.step.outputs.value >= 2
      tasks:
        step: {uses: fake.echo, with: {value: "{{ iteration }}"}}
  last: {needs: [each, loop], uses: fake.echo, with: {value: done}}
"""

HELD = """
name: held
tasks:
  first: {uses: fake.echo}
  wait: {needs: [first], uses: fake.hold}
  last: {needs: [wait], uses: fake.echo}
"""

GATED = """
name: gated
tasks:
  ask: {approval: "Go on?"}
  go: {needs: [ask], uses: fake.echo}
"""

RISKY = """
name: risky
tasks:
  write: {uses: fake.write, with: {value: x}}
"""

UNDOING = """
name: undoing
tasks:
  a: {uses: fake.echo, with: {value: 1}}
  b: {needs: [a], uses: fake.echo, with: {value: 2}}
  c: {needs: [b], uses: fake.echo, on_failure: rollback, retry: {attempts: 1}}
"""

CHILD = """
name: child
inputs: {word: {type: string, required: true}}
tasks:
  inner: {uses: fake.echo, with: {value: "{{ inputs.word }}"}}
outputs: {back: "{{ tasks.inner.outputs.value }}"}
"""

PARENT = """
name: parent
tasks:
  call: {workflow: child, with: {word: hello}}
  after: {needs: [call], uses: fake.echo, with: {value: "{{ tasks.call.outputs.back }}"}}
"""

PROMPTED = """
name: prompted
tasks:
  talk: {uses: fake.listen, with: {value: 2}}
"""

FLAKY = """
name: flaky
defaults: {retry: {attempts: 3, delay: 20ms}}
tasks:
  a: {uses: fake.echo}
"""


class EngineConformance:
    """The suite. `rig` is a fixture that starts an engine and stops it."""

    async def test_a_chain_passes_values_and_ends(self, rig: Rig) -> None:
        run_id = await submit(rig, compiled(CHAIN), word="hi")
        run = await ended(rig, run_id)
        assert run.outcome == "completed"
        assert run.outputs == {"said": "hi!"}
        assert rig.world.calls == ["a", "b"]

    async def test_fan_out_loops_and_joins(self, rig: Rig) -> None:
        run = await ended(rig, await submit(rig, compiled(WIDE)))
        assert run.outcome == "completed"
        assert run.tasks["each"].outputs == {
            "count": 3,
            "failed": 0,
            "items": [{"value": 1}, {"value": 2}, {"value": 3}],
        }
        assert run.tasks["loop"].index == 2
        assert rig.world.calls[-1] == "last"

    async def test_the_same_submission_twice_is_one_run(self, rig: Rig) -> None:
        plan, order_id = compiled(CHAIN), new_order_id()
        event = on.Submitted(
            at_ms=now(),
            plan_hash=plan_hash(plan),
            inputs={"word": "x"},
            order=order_facts(order_id),
        )
        await asyncio.gather(*(rig.engine.submit(order_id, plan, event) for _ in range(5)))
        await ended(rig, order_id)
        assert rig.world.begun == {"a": 1, "b": 1}

    async def test_an_unknown_run_is_said_to_be_unknown(self, rig: Rig) -> None:
        assert await rig.engine.run("wo-aaaaaaaaaaaaaaaa") is None
        with pytest.raises(NotFound):
            await rig.engine.post("wo-aaaaaaaaaaaaaaaa", on.CancelAsked(at_ms=now()))

    async def test_transient_failures_are_tried_again(self, rig: Rig) -> None:
        rig.world.script["a"] = ["transient", "transient"]
        run = await ended(rig, await submit(rig, compiled(FLAKY)))
        assert run.outcome == "completed"
        assert rig.world.begun["a"] == 3

    async def test_a_quota_is_waited_for_and_is_no_failure(self, rig: Rig) -> None:
        rig.world.script["a"] = ["park", "park"]
        run = await ended(rig, await submit(rig, compiled(FLAKY)))
        assert run.outcome == "completed"
        assert run.tasks["a"].tries == 0
        assert run.tasks["a"].parks == 2

    async def test_a_failed_run_can_be_retried(self, rig: Rig) -> None:
        rig.world.script["b"] = ["permanent"]
        run_id = await submit(rig, compiled(CHAIN), word="x")
        assert (await ended(rig, run_id)).outcome == "failed"
        assert await rig.engine.post(run_id, on.RetryAsked(at_ms=now(), by="t"))
        run = await until(rig, run_id, lambda run: run.outcome == "completed", "success")
        assert run.tasks["b"].generation == 2
        assert rig.world.begun == {"a": 1, "b": 2}

    async def test_an_approval_is_bound_and_counts_once(self, rig: Rig) -> None:
        run_id = await submit(rig, compiled(GATED))
        run = await until(rig, run_id, lambda run: status(run) == "waiting", "the question")
        gate = run.tasks["ask"].gate
        assert gate is not None
        forged = on.ApprovalDecided(
            at_ms=now(), path="ask", approved=True, by="eve", subject_hash="0" * 64
        )
        assert not await rig.engine.post(run_id, forged)
        told = on.ApprovalDecided(
            at_ms=now(), path="ask", approved=True, by="ann", subject_hash=gate.subject_hash
        )
        answers = await asyncio.gather(*(rig.engine.post(run_id, told) for _ in range(3)))
        assert sorted(answers) == [False, False, True]
        run = await ended(rig, run_id)
        assert run.outcome == "completed"
        assert run.tasks["ask"].outputs == {"approved_by": "ann", "comment": ""}

    async def test_a_high_risk_tool_waits_for_a_person(self, rig: Rig) -> None:
        run_id = await submit(rig, compiled(RISKY))
        run = await until(rig, run_id, lambda run: status(run) == "waiting", "the question")
        assert not rig.world.written
        gate = run.tasks["write"].gate
        assert gate is not None
        assert gate.subject["input"] == {"value": "x"}
        no = on.ApprovalDecided(
            at_ms=now(), path="write", approved=False, by="ann", subject_hash=gate.subject_hash
        )
        await rig.engine.post(run_id, no)
        run = await ended(rig, run_id)
        assert run.outcome == "failed"
        assert run.failure is not None
        assert run.failure.code == "approval_rejected"
        assert not rig.world.written

    async def test_pause_holds_what_comes_next(self, rig: Rig) -> None:
        run_id = await submit(rig, compiled(HELD))
        await eventually(lambda: rig.world.begun["wait"] == 1, "the task to begin")
        assert await rig.engine.post(run_id, on.PauseAsked(at_ms=now()))
        rig.world.gate("wait").set()
        await until(rig, run_id, lambda run: status(run) == "paused", "the pause")
        assert rig.world.begun["last"] == 0
        assert await rig.engine.post(run_id, on.ResumeAsked(at_ms=now()))
        assert (await ended(rig, run_id)).outcome == "completed"

    async def test_cancel_stops_what_runs(self, rig: Rig) -> None:
        run_id = await submit(rig, compiled(HELD))
        await eventually(lambda: rig.world.begun["wait"] == 1, "the task to begin")
        assert await rig.engine.post(run_id, on.CancelAsked(at_ms=now()))
        run = await ended(rig, run_id)
        assert run.outcome == "cancelled"
        assert rig.world.cancelled == ["wait"]
        assert not await rig.engine.post(run_id, on.CancelAsked(at_ms=now()))

    async def test_prompts_reach_the_agent_at_work(self, rig: Rig) -> None:
        run_id = await submit(rig, compiled(PROMPTED))
        for number in (1, 2):
            event = on.PromptReceived(at_ms=now(), prompt_id=f"p{number}", text=f"say {number}")
            assert await rig.engine.post(run_id, event)
        run = await ended(rig, run_id)
        assert rig.world.heard == ["say 1", "say 2"]
        assert all(prompt.delivered for prompt in run.prompts)

    async def test_rollback_undoes_backwards(self, rig: Rig) -> None:
        rig.world.script["c"] = ["permanent"]
        rig.world.script["undo:b"] = ["transient"]
        run = await ended(rig, await submit(rig, compiled(UNDOING)))
        assert run.outcome == "rolled_back"
        assert rig.world.undone == ["b", "a"]

    async def test_a_child_is_a_run_of_its_own(self, rig: Rig) -> None:
        run_id = await submit(rig, compiled(PARENT, CHILD))
        run = await ended(rig, run_id)
        assert run.outcome == "completed"
        assert run.tasks["after"].outputs == {"value": "hello"}
        child = await rig.engine.run(f"{run_id}/call")
        assert child is not None
        assert child.outcome == "completed"

    async def test_a_failing_child_fails_its_task(self, rig: Rig) -> None:
        rig.world.script["inner"] = ["permanent"]
        run = await ended(rig, await submit(rig, compiled(PARENT, CHILD)))
        assert run.outcome == "failed"
        assert run.failure is not None
        assert run.failure.code == "fake_permanent"

    async def test_observers_see_every_event_in_order(self, rig: Rig) -> None:
        seen: list[Change] = []
        rig.engine.observe(seen.append)
        run_id = await submit(rig, compiled(CHAIN), word="x")
        await ended(rig, run_id)
        await eventually(lambda: bool(seen) and seen[-1].after.stage == "ended", "the last change")
        mine = [change for change in seen if change.run_id == run_id]
        assert [on.kind_of(change.event) for change in mine if _essential(change.event)] == [
            "submitted",
            "task_succeeded",
            "task_succeeded",
        ]
        assert [change.seq for change in mine] == list(range(1, len(mine) + 1))

    @pytest.mark.fault("A3")
    async def test_a_crash_loses_nothing_and_repeats_only_what_ran(self, rig: Rig) -> None:
        run_id = await submit(rig, compiled(HELD))
        await eventually(lambda: rig.world.begun["wait"] == 1, "the task to begin")
        await rig.crash()
        await eventually(lambda: rig.world.begun["wait"] == 2, "the task to begin again")
        rig.world.gate("wait").set()
        run = await ended(rig, run_id)
        assert run.outcome == "completed"
        assert rig.world.begun["first"] == 1

    @pytest.mark.fault("A6")
    async def test_a_question_survives_a_crash(self, rig: Rig) -> None:
        run_id = await submit(rig, compiled(GATED))
        run = await until(rig, run_id, lambda run: status(run) == "waiting", "the question")
        gate = run.tasks["ask"].gate
        assert gate is not None
        await rig.crash()
        again = await rig.engine.run(run_id)
        assert again is not None
        assert again.tasks["ask"].gate == gate
        told = on.ApprovalDecided(
            at_ms=now(), path="ask", approved=True, by="ann", subject_hash=gate.subject_hash
        )
        assert await rig.engine.post(run_id, told)
        assert (await ended(rig, run_id)).outcome == "completed"


def _essential(event: on.AnyEvent) -> bool:
    return not isinstance(event, on.TaskStarted)

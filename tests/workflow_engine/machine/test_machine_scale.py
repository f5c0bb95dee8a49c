"""Ten thousand tasks: an event costs what it touches, however large the run is.

Counted are the writes and reads of task states, not seconds.
"""

from __future__ import annotations

from typing import Any

import pytest
from plans import foreach, plan, tool

from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine import machine
from agent_work_orders.workflow_engine.machine import advance
from agent_work_orders.workflow_engine.plan import Plan
from agent_work_orders.workflow_engine.run import Run, TaskRun, fresh
from agent_work_orders.workflow_engine.work import Work


class Counting(Work):
    """Counts every look at a task and every change of one."""

    count = 0

    def look(self, path: str) -> TaskRun:
        Counting.count += 1
        return super().look(path)

    def put(self, path: str, **fields: Any) -> None:
        Counting.count += 1
        super().put(path, **fields)

    def items(self) -> list[tuple[str, TaskRun]]:
        found = super().items()
        Counting.count += len(found)
        return found


def chain(size: int) -> Plan:
    return plan(tool("t1"), *(tool(f"t{n}", f"t{n - 1}") for n in range(2, size + 1)))


def fan_in(size: int) -> Plan:
    first = [tool(f"t{n}") for n in range(1, size)]
    return plan(*first, tool("last", *(task.id for task in first)))


def fan_out(size: int) -> Plan:
    return plan(tool("first"), *(tool(f"t{n}", "first") for n in range(1, size)))


def completed(told: Plan) -> Run:
    """Every task succeeds as soon as it is asked for."""
    run = fresh("wo-1", told, "hash")
    waiting: list[on.AnyEvent] = [on.Submitted(at_ms=0, plan_hash="h", inputs={}, order={})]
    while waiting:
        step = advance(run, waiting.pop())
        run = step.run
        for effect in step.effects:
            if isinstance(effect, machine.ask.Perform):
                waiting.append(
                    on.TaskSucceeded(at_ms=1, path=effect.path, attempt=effect.attempt, outputs={})
                )
    assert run.outcome == "completed"
    return run


def cost(monkeypatch: pytest.MonkeyPatch, told: Plan) -> int:
    monkeypatch.setattr(machine, "Work", Counting)
    Counting.count = 0
    completed(told)
    return Counting.count


@pytest.mark.parametrize("shape", [chain, fan_in, fan_out], ids=lambda shape: shape.__name__)
def test_the_cost_of_a_task_does_not_grow_with_the_run(
    shape: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = cost(monkeypatch, shape(100)) / 100
    large = cost(monkeypatch, shape(10_000)) / 10_000
    assert large <= 1.1 * small
    assert large < 40


def test_the_cost_of_an_item_does_not_grow_with_the_fan_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fan(size: int) -> Plan:
        return plan(foreach("f", list(range(size)), tool("f"), parallel=3))

    small = cost(monkeypatch, fan(100)) / 100
    large = cost(monkeypatch, fan(1_000)) / 1_000
    assert large <= 1.1 * small


@pytest.mark.parametrize("shape", [chain, fan_out], ids=lambda shape: shape.__name__)
def test_a_failure_at_the_start_of_ten_thousand_tasks_is_one_loop(
    shape: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "Work", Counting)
    run = advance(
        fresh("wo-1", shape(10_000), "hash"),
        on.Submitted(at_ms=0, plan_hash="h", inputs={}, order={}),
    ).run
    first = next(iter(run.plan.body.tasks))
    Counting.count = 0
    broken = on.Failure(category="permanent", code="oops", message="Oops")
    run = advance(run, on.TaskFailed(at_ms=1, path=first, attempt=1, failure=broken)).run
    assert run.outcome == "failed"
    assert Counting.count < 40 * 10_000
    assert sum(task.state == "skipped" for task in run.tasks.values()) == 9_999


def test_what_people_ask_of_ten_thousand_tasks_walks_them_a_few_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, "Work", Counting)
    size = 2_000
    told = plan(
        *(tool(f"t{n}") for n in range(size)), *(tool(f"d{n}", f"t{n}") for n in range(size))
    )
    run = advance(
        fresh("wo-1", told, "hash"), on.Submitted(at_ms=0, plan_hash="h", inputs={}, order={})
    ).run
    broken = on.Failure(category="permanent", code="oops", message="Oops")
    for n in range(size - 1):
        run = advance(run, on.TaskFailed(at_ms=1, path=f"t{n}", attempt=1, failure=broken)).run
    for event in (on.RetryAsked(at_ms=2), on.PauseAsked(at_ms=3), on.CancelAsked(at_ms=4)):
        Counting.count = 0
        run = advance(run, event).run
        assert Counting.count < 60 * size, event
    assert run.stage == "cancelling"

"""Time per task in a DAG of 10,000 tasks over that in one of 100, through the embedded engine.

Three shapes: a chain, a fan-out that joins again, and layers of 100 tasks of which each needs two
of the layer before. `growth` is the worst of the three. Tasks do nothing; every end is durable.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import uvloop

from agent_work_orders.workflow_engine.compiler import plan_hash
from agent_work_orders.workflow_engine.plan import Body, Plan, Task
from benchmarks import scratch
from benchmarks.result import Measurement, Result
from benchmarks.subjects.awo_embedded import Embedded

SMALL, LARGE, QUICK_LARGE = 100, 10_000, 1_000
SMALL_ROUNDS = 10
"""Before the large one and as many after it, so that a slow minute of the disk hits both."""
LAYER = 100


def run(quick: bool) -> Result:
    with scratch.place("large_dag") as home:
        size = QUICK_LARGE if quick else LARGE
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
            found = loop.run(_measure(home, size))
    return Result(
        measurements=[
            Measurement(subject="awo", role="ours", metric=metric, value=value)
            for metric, value in found.items()
        ],
        facts={"tasks": "no-op tool calls in the embedded engine, SQLite with synchronous=FULL"},
    )


async def _measure(home: Path, large: int) -> dict[str, float]:
    subject = Embedded()
    await subject.start(home, lambda run_id, index: None)
    found: dict[str, float] = {}
    try:
        for shape, needs in SHAPES.items():
            small, big = _plan(shape, SMALL, needs), _plan(shape, large, needs)
            few: list[float] = []
            for number in range(SMALL_ROUNDS):
                few.append(await _per_task_ms(subject, f"{shape}-{number}", small))
            many = await _per_task_ms(subject, f"{shape}-large", big)
            for number in range(SMALL_ROUNDS, 2 * SMALL_ROUNDS):
                few.append(await _per_task_ms(subject, f"{shape}-{number}", small))
            # The mean, as the large one is a mean over its tasks: checkpoints count in both.
            found[f"{shape}_small_ms"] = statistics.fmean(few)
            found[f"{shape}_large_ms"] = many
            found[f"{shape}_growth"] = many / found[f"{shape}_small_ms"]
    finally:
        await subject.stop()
    found["growth"] = max(found[f"{shape}_growth"] for shape in SHAPES)
    return found


async def _per_task_ms(subject: Embedded, run_id: str, made: tuple[Plan, str]) -> float:
    begin = time.perf_counter()
    await subject.bring(run_id, made)
    return (time.perf_counter() - begin) * 1000 / len(made[0].body.tasks)


def _chain(at: int, size: int) -> list[int]:
    return [at - 1] if at else []


def _fan(at: int, size: int) -> list[int]:
    if at == size - 1:
        return list(range(1, at))
    return [0] if at else []


def _layers(at: int, size: int) -> list[int]:
    """Layers as wide as a tenth of a small graph allows, at most `LAYER`."""
    width = min(LAYER, size // 10)
    row, column = divmod(at, width)
    return [(row - 1) * width + column, (row - 1) * width + (column + 1) % width] if row else []


SHAPES = {"chain": _chain, "fan": _fan, "layers": _layers}


def _plan(shape: str, size: int, needs: Callable[[int, int], list[int]]) -> tuple[Plan, str]:
    dependants: dict[str, list[str]] = {}
    tasks: dict[str, Task] = {}
    for at in range(size):
        wanted = tuple(f"t{one}" for one in needs(at, size))
        tasks[f"t{at}"] = Task(id=f"t{at}", kind="tool", uses="noop", needs=wanted)
        for one in wanted:
            dependants.setdefault(one, []).append(f"t{at}")
    frozen = {name: tuple(after) for name, after in dependants.items()}
    made = Plan(name=shape, body=Body(tasks=tasks, dependants=frozen))
    return made, plan_hash(made)

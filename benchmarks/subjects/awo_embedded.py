"""Ours: the embedded engine over its SQLite journal, with a tool that does nothing.

On the event loop and with the garbage collector's settings of `awo up`.
"""

from __future__ import annotations

import asyncio
import gc
from functools import cache
from pathlib import Path

import uvloop

from agent_work_orders.clock import SystemClock
from agent_work_orders.engines.embedded.engine import EmbeddedEngine
from agent_work_orders.engines.embedded.lanes import Limits
from agent_work_orders.engines.engine import Change
from agent_work_orders.engines.perform import Performer
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.tools.tool import JsonObject, ToolContext
from agent_work_orders.workflow_engine.catalogue import ToolInfo
from agent_work_orders.workflow_engine.compiler import plan_hash
from agent_work_orders.workflow_engine.events import Submitted
from agent_work_orders.workflow_engine.plan import Body, Plan, Task
from benchmarks.subjects import driver

COLLECT_EVERY = (20_000, 50, 100)
"""As in api/server.py, which is not imported here for the weight of what serves HTTP."""

LIMITS = Limits(
    running_tasks=1000,
    orders_per_repository=None,
    starts_per_repository_per_hour=None,
    starts_per_minute=None,
)


class Noop:
    info = ToolInfo(name="noop", summary="Do nothing", inputs={}, outputs={})

    def __init__(self, mark: driver.Mark) -> None:
        self._mark = mark

    async def __call__(self, ctx: ToolContext) -> JsonObject:
        self._mark(ctx.run_id, int(ctx.path[1:]))
        return {}


@cache
def plan(shape: str, tasks: int) -> tuple[Plan, str]:
    names = [f"t{number}" for number in range(tasks)]
    chain = shape == "chain"
    specs = {
        name: Task(
            id=name, kind="tool", uses="noop", needs=(names[at - 1],) if chain and at else ()
        )
        for at, name in enumerate(names)
    }
    dependants: dict[str, tuple[str, ...]] = {
        name: (names[at + 1],) for at, name in enumerate(names) if chain and at + 1 < tasks
    }
    made = Plan(name=shape, body=Body(tasks=specs, dependants=dependants))
    return made, plan_hash(made)


class Embedded:
    concurrent_runs = 1000

    async def start(self, home: Path, mark: driver.Mark) -> None:
        gc.freeze()
        gc.set_threshold(*COLLECT_EVERY)
        self._clock = SystemClock()
        self._store = SqliteStore.open(home, self._clock)
        performer = Performer(
            {"noop": Noop(mark)},
            ledger=self._store.ledger,
            artifacts=self._store.artifacts,
            clock=self._clock,
            log=lambda *_: None,
        )
        self._ended: dict[str, asyncio.Future[None]] = {}
        self._engine = EmbeddedEngine(self._store.journal, performer, self._clock, limits=LIMITS)
        self._engine.observe(self._observe)
        await self._engine.start()

    async def run(self, run_id: str, shape: str, tasks: int) -> None:
        await self.bring(run_id, plan(shape, tasks))

    async def bring(self, run_id: str, compiled: tuple[Plan, str]) -> None:
        """One run of a plan to its durable end."""
        ended = self._ended.setdefault(run_id, asyncio.get_running_loop().create_future())
        made, digest = compiled
        order: JsonObject = {
            "order_id": run_id,
            "repository_url": "",
            "repository": "bench",
            "base_branch": None,
            "branch": "",
            "sandbox_type": "git_branch",
            "agent": {},
            "workflow": made.name,
        }
        submitted = Submitted(at_ms=self._clock.now_ms(), plan_hash=digest, inputs={}, order=order)
        run = await self._engine.submit(run_id, made, submitted)
        if run.stage != "ended":
            await ended

    async def stop(self) -> None:
        await self._engine.stop(drain_s=0)
        await self._store.close()

    def _observe(self, change: Change) -> None:
        if change.after.stage == "ended":
            ended = self._ended.get(change.run_id)
            if ended is not None and not ended.done():
                ended.set_result(None)


if __name__ == "__main__":
    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    driver.main(Embedded())

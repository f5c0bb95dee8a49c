"""Many open orders of two tasks in the embedded engine, as a process of its own.

`python -m benchmarks.held_orders --home H --witness W --orders N --running R [--gate G | --nap S]`

Each order runs `t0`, which does nothing, then `t1`, which waits until the file G is gone or naps
for S seconds; R tasks run at once. Says `{"phase": "held"}` when all orders are open and R of them
sit in `t1`, and `{"result": …}` when all have ended. Started again on the same home it goes on
with what is there. A free slot's wait is the time from the end of one tool call to the beginning
of the next while orders queue.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections import deque
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
from agent_work_orders.workflow_engine.events import Submitted
from benchmarks.subjects.awo_embedded import plan
from benchmarks.subjects.driver import Answers, Witness

POLL_S = 0.01
TASKS = 2


class Held:
    info = ToolInfo(name="noop", summary="Wait", inputs={}, outputs={})

    def __init__(self, witness: Witness, gate: Path | None, nap_s: float) -> None:
        self._witness = witness
        self._gate = gate
        self._nap_s = nap_s
        self._free: deque[float] = deque()
        self.waits_s: list[float] = []
        self.inside = 0

    async def __call__(self, ctx: ToolContext) -> JsonObject:
        if self._free:
            self.waits_s.append(time.perf_counter() - self._free.popleft())
        self._witness(ctx.run_id, int(ctx.path[1:]))
        if ctx.path == "t1":
            self.inside += 1
            await asyncio.sleep(self._nap_s)
            while self._gate is not None and self._gate.exists():
                await asyncio.sleep(POLL_S)
            self.inside -= 1
        self._free.append(time.perf_counter())
        return {}


async def work(options: argparse.Namespace, answers: Answers) -> None:
    clock = SystemClock()
    witness = Witness(options.witness, stop_after=0)
    held = Held(witness, options.gate, options.nap)
    ended: set[str] = set()
    over = asyncio.Event()

    def observe(change: Change) -> None:
        if change.after.stage == "ended" and change.run_id not in ended:
            ended.add(change.run_id)
            witness.done(change.run_id)
            if len(ended) == options.orders:
                over.set()

    store = SqliteStore.open(options.home, clock)
    performer = Performer(
        {"noop": held},
        ledger=store.ledger,
        artifacts=store.artifacts,
        clock=clock,
        log=lambda *_: None,
    )
    limits = Limits(
        running_tasks=options.running,
        orders_per_repository=None,
        starts_per_repository_per_hour=None,
        starts_per_minute=None,
    )
    engine = EmbeddedEngine(store.journal, performer, clock, limits=limits)
    engine.observe(observe)
    await engine.start()
    known = set(await engine.open_runs())
    answers.say(phase="started", open=len(known))
    for number in range(options.orders):
        if f"crash-{number}" not in known:
            await submit(engine, clock, f"crash-{number}")
    while held.inside < min(options.running, options.orders - len(ended)):
        await asyncio.sleep(POLL_S / 10)
    answers.say(phase="held", open=len(set(await engine.open_runs())))
    await over.wait()
    waits = held.waits_s or [0.0]
    answers.say(result={"ended": len(ended), "slot_wait_max_s": max(waits), "waits": len(waits)})
    os._exit(0)


async def submit(engine: EmbeddedEngine, clock: SystemClock, run_id: str) -> None:
    made, digest = plan("chain", TASKS)
    order: JsonObject = {
        "order_id": run_id,
        "repository_url": "",
        "repository": f"bench-{run_id[-1]}",
        "base_branch": None,
        "branch": "",
        "sandbox_type": "git_worktree",
        "agent": {},
        "workflow": "chain",
    }
    await engine.submit(
        run_id, made, Submitted(at_ms=clock.now_ms(), plan_hash=digest, inputs={}, order=order)
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--witness", type=Path, required=True)
    parser.add_argument("--orders", type=int, required=True)
    parser.add_argument("--running", type=int, required=True)
    parser.add_argument("--gate", type=Path)
    parser.add_argument("--nap", type=float, default=0.0)
    options = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        loop.run(work(options, Answers()))


if __name__ == "__main__":
    main()

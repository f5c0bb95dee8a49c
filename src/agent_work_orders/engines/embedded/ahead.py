"""A step of a large run takes hundreds of milliseconds: it is computed beside the loop.

The machine is pure, so a thread may run it. Meanwhile the run may be told something else: then the
step is not of the run as it is, and is computed again.
"""

from __future__ import annotations

import asyncio

from agent_work_orders.engines.embedded.held import Held
from agent_work_orders.workflow_engine.events import AnyEvent
from agent_work_orders.workflow_engine.machine import Step, advance

# What people ask may touch every task: 10,000 of them take 50 to 350 ms.
MANY_TASKS = 1_000
TRIES = 5


async def step(held: Held, event: AnyEvent) -> Step | None:
    """The step to take at once, or None for whoever has to compute it in the loop."""
    tasks = max(len(held.run.tasks), len(held.run.plan.body.tasks))
    for _ in range(TRIES if tasks >= MANY_TASKS else 0):
        before = held.run
        found = await asyncio.to_thread(advance, before, event)
        if held.run is before:
            return found
    return None

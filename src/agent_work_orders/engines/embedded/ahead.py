"""A large step of a run takes hundreds of milliseconds: it is computed beside the loop.

The machine is pure, so a thread may run it. Meanwhile the run may be told something else: then the
step is not of the run as it is, and is computed again. One thread for all: each further one that
computes would lengthen the loop's wait for its turn.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor

from agent_work_orders.engines.embedded.kept_run import KeptRun
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine import plan as plans
from agent_work_orders.workflow_engine.machine import Step, advance

# What people ask may touch every task, and a task that begins takes about 16 us: 1,000 of them are
# a sixth of the pause that is allowed.
MANY_TASKS = 1_000
TRIES = 5
KNOWN_PLANS = 64


class Ahead:
    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "large-steps")
        self._plans: OrderedDict[str, frozenset[str]] = OrderedDict()

    async def step(self, kept: KeptRun, event: on.AnyEvent) -> Step | None:
        """The step to take at once, or None for whoever has to compute it in the loop."""
        loop = asyncio.get_running_loop()
        for _ in range(TRIES if self.large(kept, event) else 0):
            before = kept.run
            found = await loop.run_in_executor(self._thread, advance, before, event)
            if kept.run is before:
                return found
        return None

    def large(self, kept: KeptRun, event: on.AnyEvent) -> bool:
        """Whether its step may be a long one. The answers of tasks, which are many, are looked at
        one by one; everything else by the size of the run and its plan."""
        if isinstance(event, on.TaskSucceeded | on.TaskFailed):
            return plans.pattern(event.path) in self._bursts(kept)
        tasks = max(len(kept.run.tasks), len(kept.run.plan.body.tasks))
        return tasks >= MANY_TASKS or bool(self._bursts(kept))

    def _bursts(self, kept: KeptRun) -> frozenset[str]:
        """The tasks of the plan at whose end many may begin."""
        key = kept.run.plan_hash
        found = self._plans.get(key)
        if found is None:
            follows = plans.follows(kept.run.plan)
            found = frozenset(path for path, many in follows.items() if many >= MANY_TASKS)
            if len(self._plans) >= KNOWN_PLANS:
                self._plans.popitem(last=False)
            self._plans[key] = found
        return found

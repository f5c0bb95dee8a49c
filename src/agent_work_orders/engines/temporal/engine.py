"""The Temporal engine: runs live in a cluster, any number of workers drive them.

One workflow (`workflow.py`) keeps a `Run` and calls the same `advance` as the embedded engine, one
activity calls the same performer. This is the thin version; where it differs from the embedded
engine:

- A task shorter than a second has no `TaskStarted`: Temporal does not tell a workflow that an
  activity began, and telling it costs a workflow task.
- Lanes, priorities and rate limits do not apply: a worker takes what comes, up to its slots.
- Observers are told by asking each open run for news (50 ms to 2 s apart), and only of runs that
  were open at `start` or went through this engine; changes made while no engine was up are not
  told again.
- A stop reaches a running tool with its next heartbeat, up to a second later. A dead worker is
  noticed when its heartbeats are missing for `heartbeat_s`; one that was only cut off from the
  cluster may still run its task for that long beside the next attempt. Writes are safe: the
  ledger is keyed by task.
- A run is known as long as the cluster keeps closed workflows (its retention). The cluster takes
  no message of more than 2 MB: a larger plan is refused, and a run whose state, compressed, grows
  past it stands still until it can be kept elsewhere.
- Two engines that open the same ended run again within milliseconds, with a whole further run of
  it in between, would both start from the first end. One engine does it one after the other.
- `queued` in `health` counts what runs of this engine wait for, not the queue of the cluster.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Any
from weakref import WeakValueDictionary

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from agent_work_orders.clock import Clock
from agent_work_orders.engines.engine import Observer
from agent_work_orders.engines.perform import Performer
from agent_work_orders.engines.temporal import wire
from agent_work_orders.engines.temporal.activities import BEAT_S, Hands
from agent_work_orders.engines.temporal.following import Followers
from agent_work_orders.engines.temporal.runs import Runs
from agent_work_orders.engines.temporal.workflow import WorkOrderWorkflow
from agent_work_orders.errors import Conflict, Environmental, NotFound, Unavailable
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine.machine import advance
from agent_work_orders.workflow_engine.plan import Plan
from agent_work_orders.workflow_engine.run import Run, fresh

# The performer gives up long before; it is `stop` that decides how long to wait.
LONGEST_DRAIN = timedelta(days=1)
# A workflow task of a dead worker goes to another one after this.
STICKY = timedelta(seconds=2)
MAX_QUESTIONS = 16

# Pure, and too costly (or, as C extensions, impossible) to import again for each workflow.
PASSED_THROUGH = (
    "agent_work_orders.errors",
    "agent_work_orders.ids",
    "agent_work_orders.workflow_engine",
    "cel_expr_python",
    "immutables",
    "jinja2",
    "markupsafe",
    "msgspec",
)


def workflow_runner() -> SandboxedWorkflowRunner:
    restrictions = SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH)
    return SandboxedWorkflowRunner(restrictions=restrictions)


class TemporalEngine:
    def __init__(
        self,
        client: Client,
        performer: Performer,
        clock: Clock,
        *,
        task_queue: str = wire.TASK_QUEUE,
        heartbeat_s: float = wire.HEARTBEAT_S,
        beat_s: float = BEAT_S,
        renew_after: int = 0,
    ) -> None:
        self._client = client
        self._task_queue = task_queue
        self._beat_s = beat_s
        self._runs = Runs(client, task_queue, heartbeat_s=heartbeat_s, renew_after=renew_after)
        self._hands = Hands(performer, self._runs, clock, beat_s=beat_s)
        self._observers: list[Observer] = []
        self._followers = Followers(self._runs, self._observers)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._worker: Worker | None = None
        self._working: asyncio.Task[None] | None = None
        self._catching_up: asyncio.Task[None] | None = None
        self._state = "new"

    async def start(self) -> None:
        await self._check_namespace()
        self._worker = Worker(
            self._client,
            task_queue=self._task_queue,
            workflows=[WorkOrderWorkflow],
            activities=[
                self._hands.perform,
                self._hands.undo,
                self._hands.start_run,
                self._hands.tell_run,
            ],
            workflow_runner=workflow_runner(),
            graceful_shutdown_timeout=LONGEST_DRAIN,
            sticky_queue_schedule_to_start_timeout=STICKY,
            max_heartbeat_throttle_interval=timedelta(seconds=self._beat_s),
        )
        self._working = asyncio.get_running_loop().create_task(self._worker.run())
        self._state = "running"
        self._catching_up = asyncio.get_running_loop().create_task(self._catch_up())

    async def stop(self, *, drain_s: float = 30.0) -> None:
        if self._state in ("stopped", "new") or self._worker is None:
            return
        self._state = "draining"
        if self._working is not None and not self._working.done():
            ending = asyncio.get_running_loop().create_task(self._worker.shutdown())
            await asyncio.wait([ending], timeout=drain_s)
            self._hands.abandon()
            await ending
        if self._catching_up is not None:
            self._catching_up.cancel()
        await self._followers.stop()
        self._state = "stopped"

    async def open_runs(self) -> list[str]:
        return [run_id async for run_id in self._runs.open_ids()]

    def held_until_ms(self, run_id: str) -> int | None:
        """Nothing holds a run back here: rate limits do not apply."""
        return None

    async def take_up(self, run_id: str) -> bool:
        """The cluster leaves nothing."""
        return False

    def goes_on(self, run_id: str) -> bool:
        return self._state == "running"

    async def submit(self, run_id: str, plan: Plan, submitted: on.Submitted) -> Run:
        self._check_open()
        new = fresh(run_id, plan, submitted.plan_hash)
        if await self._runs.submit(run_id, plan, submitted):
            self._followers.follow(new, 0, known=[submitted])
            return advance(new, submitted).run
        found = await self._runs.find(run_id)
        if found is None:
            raise NotFound("run_unknown", f"there is no run {run_id}", hint="See `awo list`.")
        return found.run

    async def post(self, run_id: str, event: on.AnyEvent) -> bool:
        self._check_open()
        async with self._locks.setdefault(run_id, asyncio.Lock()):
            if run_id not in self._followers:
                # From before the event, so that observers see what it does.
                found = await self._runs.find(run_id)
                if found is not None:
                    self._followers.remember(found.run, found.seq)
            told = await self._runs.tell(run_id, event)
            if told == wire.TAKEN:
                self._followers.moved(run_id)
        if told is None:
            raise NotFound("run_unknown", f"there is no run {run_id}", hint="See `awo list`.")
        return told == wire.TAKEN

    async def run(self, run_id: str) -> Run | None:
        found = await self._runs.find(run_id)
        return None if found is None else found.run

    def observe(self, observer: Observer) -> None:
        self._observers.append(observer)

    def health(self) -> dict[str, Any]:
        reason = self._followers.reason
        if self._working is not None and self._working.done() and not self._working.cancelled():
            error = self._working.exception()
            reason = "" if error is None else f"the worker stopped: {error}"
        running = self._hands.running
        return {
            "ok": self._state == "running" and not reason,
            "state": self._state,
            "reason": reason,
            "open": len(self._followers),
            "running": running,
            "queued": max(0, self._followers.live - running),
        }

    async def _catch_up(self) -> None:
        """Follow the runs that are open. The cluster drives them anyway; this is for observers."""
        free = asyncio.Semaphore(MAX_QUESTIONS)

        async def one(run_id: str) -> None:
            # A run that does not answer is left to whoever posts to it.
            async with free:
                with suppress(Unavailable, Conflict):
                    found = await self._runs.find(run_id)
                    if found is not None and not found.execution:
                        self._followers.follow(found.run, found.seq)

        with suppress(Unavailable):
            await asyncio.gather(*[one(run_id) async for run_id in self._runs.open_ids()])

    def _check_open(self) -> None:
        if self._state != "running":
            raise Unavailable(
                "engine_unavailable",
                f"the engine is {self._state}",
                hint="Restart the server.",
            )

    async def _check_namespace(self) -> None:
        name = self._client.namespace
        try:
            request = DescribeNamespaceRequest(namespace=name)
            await self._client.workflow_service.describe_namespace(request)
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                raise Environmental(
                    "temporal_namespace_missing",
                    f"the Temporal server has no namespace {name}",
                    hint=f"Create it: temporal operator namespace create -n {name}",
                ) from error
            raise Unavailable(
                "engine_unavailable",
                f"the Temporal cluster did not answer: {error}",
                hint="Check the server's address and that it is running.",
            ) from error

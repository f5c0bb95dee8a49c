"""What a worker does for the workflow: tools, undo, and words to other runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from agent_work_orders.clock import Clock
from agent_work_orders.engines.perform import CANCELLED, Performer
from agent_work_orders.engines.task_attempt import TaskAttempt
from agent_work_orders.engines.temporal import wire
from agent_work_orders.engines.temporal.runs import Runs
from agent_work_orders.errors import Unavailable
from agent_work_orders.tools.tool import Prompt
from agent_work_orders.workflow_engine import events as on

# A cancellation comes with the answer to a heartbeat, so this is how long a stop may take.
BEAT_S = 1.0
# `TaskStarted` is advisory, and each one costs a workflow task: a short task does without.
TOLD_AFTER_S = 1.0
PROMPTS_EVERY_S = 0.5


class Hands:
    def __init__(
        self, performer: Performer, runs: Runs, clock: Clock, *, beat_s: float = BEAT_S
    ) -> None:
        self._performer = performer
        self._runs = runs
        self._clock = clock
        self._beat_s = beat_s
        self._running: set[asyncio.Task[Any]] = set()
        self._leaving = False

    @property
    def running(self) -> int:
        return len(self._running)

    def abandon(self) -> None:
        """Stop what runs, without an answer: another worker takes it up."""
        self._leaving = True
        for task in self._running:
            task.cancel()

    @activity.defn(name=wire.PERFORM)
    async def perform(self, body: bytes) -> bytes:
        request = wire.unpack(body, TaskAttempt)
        heard: list[Prompt] = []
        asides = [self._beat(), self._say_started(request)]
        tool = self._performer.tools.get(request.uses)
        if tool is not None and tool.info.takes_prompts:
            asides.append(self._listen(request, heard))
        async with self._busy(asides):
            answer = await self._performer.perform(request, lambda: list(heard))
        if self._leaving and isinstance(answer, on.TaskFailed) and answer.failure == CANCELLED:
            raise _lost()
        return on.encode(answer)

    @activity.defn(name=wire.UNDO)
    async def undo(self, body: bytes) -> bytes:
        request = wire.unpack(body, TaskAttempt)
        try:
            async with self._busy([self._beat()]):
                return on.encode(await self._performer.undo(request))
        except asyncio.CancelledError:
            if self._leaving:
                raise _lost() from None
            raise

    @activity.defn(name=wire.START)
    async def start_run(self, body: bytes) -> None:
        await self._runs.begin(wire.unpack(body, wire.Start))

    @activity.defn(name=wire.TELL)
    async def tell_run(self, run_id: str, body: bytes) -> str:
        return await self._runs.tell(run_id, on.decode(body)) or wire.UNKNOWN

    @asynccontextmanager
    async def _busy(self, asides: list[Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
        this = asyncio.current_task()
        assert this is not None
        self._running.add(this)
        beside = [asyncio.ensure_future(aside) for aside in asides]
        try:
            yield
        finally:
            self._running.discard(this)
            for task in beside:
                task.cancel()

    async def _beat(self) -> None:
        while True:
            activity.heartbeat()
            await asyncio.sleep(self._beat_s)

    async def _say_started(self, request: TaskAttempt) -> None:
        started = on.TaskStarted(
            at_ms=self._clock.now_ms(), path=request.path, attempt=request.attempt
        )
        await asyncio.sleep(TOLD_AFTER_S)
        with suppress(Unavailable):
            await self._runs.hint(request.run_id, started)

    async def _listen(self, request: TaskAttempt, heard: list[Prompt]) -> None:
        while True:
            with suppress(Unavailable):
                heard[:] = await self._runs.prompts(request.run_id, request.path)
            await asyncio.sleep(PROMPTS_EVERY_S)


def _lost() -> ApplicationError:
    return ApplicationError("the worker was stopped", type=wire.LOST)

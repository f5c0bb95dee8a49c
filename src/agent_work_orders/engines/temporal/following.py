"""Tells observers what happened to the runs of a cluster, by asking for news.

Each followed run has a mirror here: its accepted events are fed to the same `advance`, which gives
the run before and after each of them. Between news the pause doubles, up to IDLE_S.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from agent_work_orders.engines.engine import Change, Observer
from agent_work_orders.engines.temporal.runs import Runs
from agent_work_orders.errors import Unavailable
from agent_work_orders.workflow_engine import effects as ask
from agent_work_orders.workflow_engine.compiler import plan_hash
from agent_work_orders.workflow_engine.events import AnyEvent
from agent_work_orders.workflow_engine.machine import advance
from agent_work_orders.workflow_engine.run import Run, fresh

BUSY_S = 0.05
IDLE_S = 2.0
# A child that its parent could not start never appears; by then its parent has long said so.
MAX_ABSENT = 50
# A child that is to be rolled back is closed until its parent's word has reached it.
MAX_CLOSED = 20
KEEP_ENDED = 256


class Followed:
    def __init__(self, run: Run, seq: int, linger: int) -> None:
        self.run = run
        self.seq = seq
        self.linger = linger
        """How often it may be found closed before it is believed."""
        self.wake = asyncio.Event()
        self.task: asyncio.Task[None] | None = None


class Followers:
    def __init__(self, runs: Runs, observers: Sequence[Observer]) -> None:
        self._runs = runs
        self._observers = observers
        self._followed: dict[str, Followed] = {}
        self._ended: OrderedDict[str, tuple[Run, int]] = OrderedDict()
        self.reason = ""
        """Why a run is not followed any more although it is open."""

    def __len__(self) -> int:
        return len(self._followed)

    def __contains__(self, run_id: str) -> bool:
        return run_id in self._followed or run_id in self._ended

    @property
    def live(self) -> int:
        return sum(one.run.live for one in self._followed.values())

    def follow(
        self, run: Run, seq: int, *, known: Sequence[AnyEvent] = (), linger: int = 0
    ) -> None:
        """From `seq` on; `known` events after it are told at once."""
        if run.run_id in self._followed:
            return
        one = self._followed[run.run_id] = Followed(run, seq, linger)
        self._tell(one, known)
        one.task = asyncio.get_running_loop().create_task(self._follow(one))
        one.task.add_done_callback(self._stopped)

    def remember(self, run: Run, seq: int) -> None:
        """Where to go on should the run move again."""
        self._ended[run.run_id] = (run, seq)
        if len(self._ended) > KEEP_ENDED:
            self._ended.popitem(last=False)

    def moved(self, run_id: str, *, linger: int = 0) -> None:
        """Something happened to the run, or is about to."""
        one = self._followed.get(run_id)
        if one is not None:
            one.linger = max(one.linger, linger)
            one.wake.set()
        elif run_id in self._ended:
            self.follow(*self._ended.pop(run_id), linger=linger)

    async def stop(self) -> None:
        tasks = [one.task for one in self._followed.values() if one.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _follow(self, one: Followed) -> None:
        try:
            await self._ask_for_news(one)
            self.remember(one.run, one.seq)
        finally:
            del self._followed[one.run.run_id]

    async def _ask_for_news(self, one: Followed) -> None:
        pause_s, absent = BUSY_S, 0
        while absent < MAX_ABSENT:
            one.wake.clear()
            try:
                news = await self._runs.news(one.run.run_id, one.seq)
            except Unavailable:
                pause_s = IDLE_S
            else:
                absent = absent + 1 if news is None else 0
                if news is not None and news.events:
                    pause_s, one.linger = BUSY_S, 0
                    self._tell(one, news.events)
                if news is not None and news.over and not one.wake.is_set():
                    if one.linger <= 0:
                        return
                    one.linger -= 1
            try:
                async with asyncio.timeout(pause_s):
                    await one.wake.wait()
                pause_s = BUSY_S
            except TimeoutError:
                pause_s = min(IDLE_S, 2 * pause_s)

    def _tell(self, one: Followed, events: Sequence[AnyEvent]) -> None:
        for event in events:
            before = one.run
            step = advance(before, event)
            one.run = step.run
            one.seq += 1
            change = Change(
                run_id=before.run_id, seq=one.seq, event=event, before=before, after=step.run
            )
            for observer in self._observers:
                observer(change)
            for effect in step.effects:
                if isinstance(effect, ask.StartChild):
                    plan = one.run.plan.children[effect.workflow]
                    self.follow(fresh(effect.run_id, plan, plan_hash(plan)), 0)
                elif isinstance(effect, ask.RollbackChild):
                    self.moved(effect.run_id, linger=MAX_CLOSED)

    def _stopped(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.reason = f"an observer failed: {error}"

"""The embedded engine: it advances runs, commits, and only then acts.

- An event is applied in memory and handed to the journal in one go, so that the journal's order
  is the order of events; what it causes happens after the commit.
- A run's durable state is what its last commit made, and only that is shown. When a commit fails,
  memory is worth nothing: every task is stopped, and everything is loaded again once the journal
  can write (disk full); after any other failure the process must be restarted.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from agent_work_orders.clock import Clock
from agent_work_orders.engines.embedded.ahead import Ahead
from agent_work_orders.engines.embedded.alarm import Alarm
from agent_work_orders.engines.embedded.condition import Condition
from agent_work_orders.engines.embedded.kept_run import (
    First,
    KeptRun,
    Pending,
    effect_id,
    to_commit,
)
from agent_work_orders.engines.embedded.lanes import Lanes, Limits, Takes
from agent_work_orders.engines.embedded.memory import Memory
from agent_work_orders.engines.embedded.worker import Job, Worker
from agent_work_orders.engines.engine import Change, Observer
from agent_work_orders.engines.perform import Performer
from agent_work_orders.engines.ticket import Starts
from agent_work_orders.errors import AgentWorkOrdersError, NotFound
from agent_work_orders.state_manager.journal import Commit, Journal, LoadedRun, Quarantined
from agent_work_orders.workflow_engine import effects as ask
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine.machine import Step, advance
from agent_work_orders.workflow_engine.plan import Plan
from agent_work_orders.workflow_engine.run import Run, fresh

REOPEN_EVERY_S = 1.0


class EmbeddedEngine:
    def __init__(
        self,
        journal: Journal,
        performer: Performer,
        clock: Clock,
        *,
        limits: Limits | None = None,
        starts: Starts | None = None,
        takes: Takes = lambda _order_id: True,
        first: First | None = None,
    ) -> None:
        """`first` gives what the journal keeps together with the first event of an order."""
        self._journal = journal
        self._first = first
        self._clock = clock
        self._limits = limits or Limits()
        self._starts = starts
        self._observers: list[Observer] = []
        self._memory = Memory(journal, takes, self._forgotten)
        self.here, self.find = self._memory.here, self._memory.find
        self._lanes: Lanes[Job] = Lanes(self._limits)
        self._alarm = Alarm(clock, self._fire)
        self.ahead = Ahead()
        self._worker = Worker(self, performer, clock)
        self._epoch = 0
        self._condition = Condition()
        self._recovery: asyncio.Task[None] | None = None
        self._rate_wake: asyncio.TimerHandle | None = None

    # -- the contract

    async def start(self) -> None:
        await self._take_up()

    async def stop(self, *, drain_s: float = 30.0) -> None:
        if self._condition.state == "stopped":
            return
        self._condition.state = "draining" if self._condition.state == "running" else "stopped"
        self._alarm.stop()
        if self._rate_wake is not None:
            self._rate_wake.cancel()
        await self._worker.drain(drain_s)
        self._condition.state = "stopped"
        # Only now: the journal may have failed while the tasks were drained.
        if self._recovery is not None:
            self._recovery.cancel()
        await self._worker.abandon()

    async def submit(self, run_id: str, plan: Plan, submitted: on.Submitted) -> Run:
        self._condition.check(new=True)
        kept = await self.find(run_id)
        if kept is None:
            new = KeptRun(fresh(run_id, plan, submitted.plan_hash), 0)
            new.first = self._first
            step = await self.ahead.step(new, submitted)
            kept = await self.find(run_id)
            self._condition.check(new=True)
            kept = kept or self._begun(new, submitted, step)
        await kept.saved()
        return kept.durable

    async def post(self, run_id: str, event: on.AnyEvent) -> bool:
        self._condition.check()
        kept = await self._known(run_id)
        step = await self.ahead.step(kept, event)
        now = await self._known(run_id)
        self._condition.check()
        if now is not kept:  # loaded anew, after trouble
            kept, step = now, None
        taken = self.apply(kept, event, step=step)
        # Also an event that changed nothing may rest on one that is not durable yet.
        await kept.saved()
        return taken

    async def _known(self, run_id: str) -> KeptRun:
        await self.take_up(run_id)
        kept = await self.find(run_id)
        if kept is None:
            raise NotFound("run_unknown", f"there is no run {run_id}", hint="See `awo list`.")
        return kept

    async def run(self, run_id: str) -> Run | None:
        kept = await self.find(run_id)
        return None if kept is None else kept.durable

    async def take_up(self, run_id: str) -> bool:
        taken = await self._memory.take_left(run_id)
        for one, row in taken:
            self._resume(one, row)
        self.pump()
        return bool(taken)

    def goes_on(self, run_id: str) -> bool:
        return run_id in self._memory.open

    def observe(self, observer: Observer) -> None:
        self._observers.append(observer)

    def health(self) -> dict[str, Any]:
        return {
            "ok": self._condition.state == "running",
            "state": self._condition.state,
            "reason": self._condition.reason,
            "open": len(self._memory.open),
            "running": self._lanes.running,
            "queued": self._lanes.queued,
            "timers": len(self._alarm),
            "quarantined": sorted(self._memory.quarantined),
        }

    def held_until_ms(self, run_id: str) -> int | None:
        """Until when a rate limit keeps the order from starting, or None."""
        kept = self._memory.open.get(run_id)
        now_ms = self._clock.now_ms()
        return None if kept is None else self._lanes.held_until_ms(kept.ticket, now_ms)

    async def open_runs(self) -> list[str]:
        """Also those that were not taken up."""
        return [*self._memory.open, *self._memory.left]

    def quarantined(self) -> list[Quarantined]:
        return list(self._memory.quarantined.values())

    # -- what the worker needs

    def begin(self, run_id: str, plan: Plan, submitted: on.Submitted) -> KeptRun:
        return self._begun(KeptRun(fresh(run_id, plan, submitted.plan_hash), 0), submitted)

    def _begun(self, kept: KeptRun, submitted: on.Submitted, step: Step | None = None) -> KeptRun:
        self.apply(kept, submitted, step=step)
        return kept

    @property
    def epoch(self) -> int:
        return self._epoch

    @property
    def accepting(self) -> bool:
        """Whether answers may be written: not once the engine has stopped or halted."""
        return self._condition.state in ("running", "draining")

    def apply(
        self,
        kept: KeptRun,
        event: on.AnyEvent,
        *,
        done: str | None = None,
        lease: tuple[str, int] | None = None,
        step: Step | None = None,
    ) -> bool:
        """Take an event in. False when it changed nothing.

        With `lease` it is advisory and nobody waits for it; else `kept.saving` is its commit.
        A `step` is that of this event and of the run as it is now.
        """
        before = kept.run
        step = step or advance(before, event)
        if step.run is before:
            if done is not None:
                self.finished(kept, done)
            return False
        kept.run = step.run
        self._memory.keep(kept)
        kept.seq += 1
        if done is not None:
            kept.owed.discard(done)
        acts = tuple(
            (effect_id(kept.seq, number, effect), effect)
            for number, effect in enumerate(step.effects)
        )
        commit = to_commit(kept, event, step, acts, done=done, lease=lease)
        change = Change(
            run_id=before.run_id, seq=kept.seq, event=event, before=before, after=step.run
        )
        entry = Pending(change, acts, lease is not None)
        kept.pending.append(entry)
        if lease is not None:
            self._write_lazily(commit)
            self._flush(kept)
        else:
            kept.saving = self._write(commit)
            kept.saving.add_done_callback(partial(self._committed, kept, entry))
        return True

    def finished(self, kept: KeptRun, effect_id: str) -> None:
        """An effect is done that no event answers."""
        kept.owed.discard(effect_id)
        self._write_lazily(
            Commit(
                run_id=kept.run.run_id,
                done_effects=(effect_id,),
                ended=kept.over,
                owed=kept.debts,
            )
        )
        self._memory.retire(kept)

    def _write(self, commit: Commit) -> asyncio.Future[None]:
        try:
            return self._journal.append(commit)
        except AgentWorkOrdersError as error:
            refused: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            refused.set_exception(error)
            return refused

    def _write_lazily(self, commit: Commit) -> None:
        if not self.accepting:
            return
        try:
            self._journal.append_lazily(commit)
        except AgentWorkOrdersError as error:
            self.halt(error)

    def pump(self) -> None:
        """Give free slots to whoever is next."""
        if self._condition.state != "running":
            return
        now_ms = self._clock.now_ms()
        while (taken := self._lanes.take(now_ms)) is not None:
            self._worker.run(taken[1])
        if self._lanes.queued and self._rate_wake is None:
            opens_ms = self._lanes.opens_at_ms(now_ms)
            if opens_ms is not None:
                loop = asyncio.get_running_loop()
                delay_s = (opens_ms - now_ms) / 1000
                self._rate_wake = loop.call_later(min(delay_s, 30.0), self._rate_opened)

    def release(self) -> None:
        self._lanes.release()

    def withdraw(self, kept: KeptRun, effect_id: str) -> None:
        """Take a task that has not begun out of the queue."""
        self._lanes.withdraw((kept.run.run_id, effect_id))

    # -- after the commit

    def _committed(self, kept: KeptRun, entry: Pending, saved: asyncio.Future[None]) -> None:
        if saved.cancelled():
            return
        error = saved.exception()
        if error is not None:
            self.halt(error)
            return
        entry.ready = True
        self._flush(kept)

    def _flush(self, kept: KeptRun) -> None:
        while kept.pending and kept.pending[0].ready:
            entry = kept.pending.popleft()
            kept.durable = entry.change.after
            for observer in self._observers:
                observer(entry.change)
            self._act(kept, entry.acts)
        if kept.durable.live == 0 and kept.durable.parent is None:
            self._lanes.rest(kept.ticket)
        self._memory.retire(kept)
        self.pump()

    def _act(self, kept: KeptRun, acts: tuple[tuple[str, ask.AnyEffect], ...]) -> None:
        run_id = kept.run.run_id
        stopping: list[ask.CancelRunning] = []
        for name, effect in acts:
            if isinstance(effect, ask.Perform):
                self._enqueue(kept, name, effect)
            elif isinstance(effect, ask.CancelRunning):
                stopping.append(effect)
            elif isinstance(effect, ask.SetTimer):
                self._alarm.set(run_id, effect.timer, effect.at_ms)
            elif isinstance(effect, ask.ClearTimer):
                self._alarm.clear(run_id, effect.timer)
            else:
                self._worker.act(kept, name, effect)
        self._worker.stop(kept, stopping)

    def _enqueue(self, kept: KeptRun, name: str, effect: ask.Perform) -> None:
        run_id = kept.run.run_id
        self._lanes.enqueue(kept.ticket, Job(run_id, name, effect), (run_id, name))

    def _forgotten(self, kept: KeptRun) -> None:
        if kept.run.parent is None:
            self._lanes.forget(kept.ticket)

    # -- taking up, timers, trouble

    async def _take_up(self) -> None:
        """Everything is read before the engine runs: nobody meets a run that is not taken up."""
        self._epoch = await self._journal.next_epoch()
        if self._starts is not None:
            self._lanes.remember(await self._starts(self._clock.now_ms() - 3_600_000))
        loaded = await self._journal.load_open()
        self._condition = Condition(state="running")
        for one, row in self._memory.take(loaded):
            self._resume(one, row)
        self.pump()

    def _resume(self, kept: KeptRun, loaded: LoadedRun) -> None:
        """Timers run on; what was under way is lost and said so; what was due is due."""
        run_id = kept.run.run_id
        for timer in loaded.timers:
            self._alarm.set(run_id, timer.timer, timer.at_ms)
        for row in loaded.effects:
            effect = ask.decode(row.body)
            if not isinstance(effect, ask.Perform):
                self._worker.act(kept, row.effect_id, effect)
            elif row.lease is not None:
                lost = on.TaskLost(
                    at_ms=self._clock.now_ms(), path=effect.path, attempt=effect.attempt
                )
                self.apply(kept, lost, done=row.effect_id)
            elif kept.run.stage == "cancelling":
                # It was to be told to stop when the server was killed, and never begins.
                self._worker.stop(
                    kept, [ask.CancelRunning(path=effect.path, attempt=effect.attempt)]
                )
            else:
                self._enqueue(kept, row.effect_id, effect)
        self._memory.retire(kept)

    def _fire(self, run_id: str, timer: str) -> None:
        kept = self._memory.open.get(run_id)
        if kept is not None and self._condition.state == "running":
            if not self.apply(kept, on.TimerFired(at_ms=self._clock.now_ms(), timer=timer)):
                kept.timers.discard(timer)
                self._write_lazily(Commit(run_id=run_id, clear_timers=(timer,), owed=kept.debts))

    def _rate_opened(self) -> None:
        self._rate_wake = None
        self.pump()

    def halt(self, error: BaseException) -> None:
        """The journal cannot write: also told when it was not the engine who found out."""
        if not self.accepting:
            return
        self._condition.halt(error)
        self._recovery = asyncio.get_running_loop().create_task(self._recover())

    async def _recover(self) -> None:
        """Memory is ahead of the disk: drop it, and load again once the journal can write."""
        await self._worker.abandon()
        self._alarm.stop()
        while True:
            await asyncio.sleep(REOPEN_EVERY_S)
            try:
                await self._journal.reopen()
                break
            except Exception as error:  # noqa: BLE001 - any reason to stay halted is told as one
                self._condition.reason = str(error)
        self._lanes = Lanes(self._limits)
        self._alarm = Alarm(self._clock, self._fire)
        await self._take_up()

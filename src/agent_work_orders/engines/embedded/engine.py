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
from agent_work_orders.engines.embedded.held import First, Held, Pending, effect_id, to_commit
from agent_work_orders.engines.embedded.lanes import Lanes, Limits, Starts, Takes
from agent_work_orders.engines.embedded.memory import Memory
from agent_work_orders.engines.embedded.worker import Job, Worker
from agent_work_orders.engines.engine import Change, Observer
from agent_work_orders.engines.perform import Desk
from agent_work_orders.errors import AgentWorkOrdersError, NotFound, Unavailable
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
        desk: Desk,
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
        self._worker = Worker(self, desk, clock)
        self._epoch = 0
        self._state = "new"
        self._reason = ""
        self._recovery: asyncio.Task[None] | None = None
        self._rate_wake: asyncio.TimerHandle | None = None

    # -- the contract

    async def start(self) -> None:
        await self._take_up()

    async def stop(self, *, drain_s: float = 30.0) -> None:
        if self._state == "stopped":
            return
        self._state = "draining" if self._state == "running" else "stopped"
        self._alarm.stop()
        if self._rate_wake is not None:
            self._rate_wake.cancel()
        await self._worker.drain(drain_s)
        self._state = "stopped"
        # Only now: the journal may have failed while the tasks were drained.
        if self._recovery is not None:
            self._recovery.cancel()
        await self._worker.abandon()

    async def submit(self, run_id: str, plan: Plan, submitted: on.Submitted) -> Run:
        self._check_open(new=True)
        held = await self.find(run_id)
        if held is None:
            new = Held(fresh(run_id, plan, submitted.plan_hash), 0)
            new.first = self._first
            step = await self.ahead.step(new, submitted)
            held = await self.find(run_id)
            self._check_open(new=True)
            held = held or self._begun(new, submitted, step)
        await self._saved(held)
        return held.durable

    async def post(self, run_id: str, event: on.AnyEvent) -> bool:
        self._check_open()
        held = await self._known(run_id)
        step = await self.ahead.step(held, event)
        now = await self._known(run_id)
        self._check_open()
        if now is not held:  # loaded anew, after trouble
            held, step = now, None
        taken = self.apply(held, event, step=step)
        # Also an event that changed nothing may rest on one that is not durable yet.
        await self._saved(held)
        return taken

    async def _known(self, run_id: str) -> Held:
        held = None if run_id in self._memory.left else await self.find(run_id)
        if held is None:
            raise NotFound("run_unknown", f"there is no run {run_id}", hint="See `awo list`.")
        return held

    async def run(self, run_id: str) -> Run | None:
        held = await self.find(run_id)
        return None if held is None else held.durable

    def observe(self, observer: Observer) -> None:
        self._observers.append(observer)

    def health(self) -> dict[str, Any]:
        return {
            "ok": self._state == "running",
            "state": self._state,
            "reason": self._reason,
            "open": len(self._memory.open),
            "running": self._lanes.running,
            "queued": self._lanes.queued,
            "timers": len(self._alarm),
            "quarantined": sorted(self._memory.quarantined),
        }

    def held_until_ms(self, run_id: str) -> int | None:
        """Until when a rate limit keeps the order from starting, or None."""
        held = self._memory.open.get(run_id)
        return (
            None if held is None else self._lanes.held_until_ms(held.ticket, self._clock.now_ms())
        )

    async def open_runs(self) -> list[str]:
        """Also those that were not taken up."""
        return [*self._memory.open, *self._memory.left]

    def quarantined(self) -> list[Quarantined]:
        return list(self._memory.quarantined.values())

    # -- what the worker needs

    def begin(self, run_id: str, plan: Plan, submitted: on.Submitted) -> Held:
        return self._begun(Held(fresh(run_id, plan, submitted.plan_hash), 0), submitted)

    def _begun(self, held: Held, submitted: on.Submitted, step: Step | None = None) -> Held:
        self.apply(held, submitted, step=step)
        return held

    async def _saved(self, held: Held) -> None:
        """Wait until all that was applied so far is durable. Raises what the journal raised."""
        if held.saving is not None:
            await asyncio.shield(held.saving)
            if held.pending:
                await asyncio.sleep(0)  # one done before we came is shown by the next callback

    @property
    def epoch(self) -> int:
        return self._epoch

    @property
    def accepting(self) -> bool:
        """Whether answers may be written: not once the engine has stopped or halted."""
        return self._state in ("running", "draining")

    def apply(
        self,
        held: Held,
        event: on.AnyEvent,
        *,
        done: str | None = None,
        lease: tuple[str, int] | None = None,
        step: Step | None = None,
    ) -> bool:
        """Take an event in. False when it changed nothing.

        With `lease` it is advisory and nobody waits for it; else `held.saving` is its commit.
        A `step` is that of this event and of the run as it is now.
        """
        before = held.run
        step = step or advance(before, event)
        if step.run is before:
            if done is not None:
                self.finished(held, done)
            return False
        held.run = step.run
        self._memory.keep(held)
        held.seq += 1
        if done is not None:
            held.owed.discard(done)
        acts = tuple(
            (effect_id(held.seq, number, effect), effect)
            for number, effect in enumerate(step.effects)
        )
        commit = to_commit(held, event, step, acts, done=done, lease=lease)
        change = Change(
            run_id=before.run_id, seq=held.seq, event=event, before=before, after=step.run
        )
        entry = Pending(change, acts, lease is not None)
        held.pending.append(entry)
        if lease is not None:
            self._write_lazily(commit)
            self._flush(held)
        else:
            held.saving = self._write(commit)
            held.saving.add_done_callback(partial(self._committed, held, entry))
        return True

    def finished(self, held: Held, effect_id: str) -> None:
        """An effect is done that no event answers."""
        held.owed.discard(effect_id)
        self._write_lazily(
            Commit(
                run_id=held.run.run_id,
                done_effects=(effect_id,),
                ended=held.over,
                owed=held.debts,
            )
        )
        self._memory.retire(held)

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
        if self._state != "running":
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

    def withdraw(self, held: Held, effect_id: str) -> None:
        """Take a task that has not begun out of the queue."""
        self._lanes.withdraw((held.run.run_id, effect_id))

    # -- after the commit

    def _committed(self, held: Held, entry: Pending, saved: asyncio.Future[None]) -> None:
        if saved.cancelled():
            return
        error = saved.exception()
        if error is not None:
            self.halt(error)
            return
        entry.ready = True
        self._flush(held)

    def _flush(self, held: Held) -> None:
        while held.pending and held.pending[0].ready:
            entry = held.pending.popleft()
            held.durable = entry.change.after
            for observer in self._observers:
                observer(entry.change)
            self._act(held, entry.acts)
        if held.durable.live == 0 and held.durable.parent is None:
            self._lanes.rest(held.ticket)
        self._memory.retire(held)
        self.pump()

    def _act(self, held: Held, acts: tuple[tuple[str, ask.AnyEffect], ...]) -> None:
        run_id = held.run.run_id
        stopping: list[ask.CancelRunning] = []
        for name, effect in acts:
            if isinstance(effect, ask.Perform):
                self._enqueue(held, name, effect)
            elif isinstance(effect, ask.CancelRunning):
                stopping.append(effect)
            elif isinstance(effect, ask.SetTimer):
                self._alarm.set(run_id, effect.timer, effect.at_ms)
            elif isinstance(effect, ask.ClearTimer):
                self._alarm.clear(run_id, effect.timer)
            else:
                self._worker.act(held, name, effect)
        self._worker.stop(held, stopping)

    def _enqueue(self, held: Held, name: str, effect: ask.Perform) -> None:
        run_id = held.run.run_id
        self._lanes.enqueue(held.ticket, Job(run_id, name, effect), (run_id, name))

    def _forgotten(self, held: Held) -> None:
        if held.run.parent is None:
            self._lanes.forget(held.ticket)

    # -- taking up, timers, trouble

    async def _take_up(self) -> None:
        """Everything is read before the engine runs: nobody meets a run that is not taken up."""
        self._epoch = await self._journal.next_epoch()
        if self._starts is not None:
            self._lanes.remember(await self._starts(self._clock.now_ms() - 3_600_000))
        loaded = await self._journal.load_open()
        self._state, self._reason = "running", ""
        for one, row in self._memory.take(loaded):
            self._resume(one, row)
        self.pump()

    def _resume(self, held: Held, loaded: LoadedRun) -> None:
        """Timers run on; what was under way is lost and said so; what was due is due."""
        run_id = held.run.run_id
        for timer in loaded.timers:
            self._alarm.set(run_id, timer.timer, timer.at_ms)
        for row in loaded.effects:
            effect = ask.decode(row.body)
            if not isinstance(effect, ask.Perform):
                self._worker.act(held, row.effect_id, effect)
            elif row.lease is not None:
                lost = on.TaskLost(
                    at_ms=self._clock.now_ms(), path=effect.path, attempt=effect.attempt
                )
                self.apply(held, lost, done=row.effect_id)
            elif held.run.stage == "cancelling":
                # It was to be told to stop when the server was killed, and never begins.
                self._worker.stop(
                    held, [ask.CancelRunning(path=effect.path, attempt=effect.attempt)]
                )
            else:
                self._enqueue(held, row.effect_id, effect)
        self._memory.retire(held)

    def _fire(self, run_id: str, timer: str) -> None:
        held = self._memory.open.get(run_id)
        if held is not None and self._state == "running":
            if not self.apply(held, on.TimerFired(at_ms=self._clock.now_ms(), timer=timer)):
                held.timers.discard(timer)
                self._write_lazily(Commit(run_id=run_id, clear_timers=(timer,), owed=held.debts))

    def _rate_opened(self) -> None:
        self._rate_wake = None
        self.pump()

    def _check_open(self, *, new: bool = False) -> None:
        if self._state == "running" or (self._state == "draining" and not new):
            return
        if self._state in ("draining", "stopped"):
            raise Unavailable(
                "server_draining",
                "The server is stopping and takes nothing new",
                hint="Ask again in a moment: whoever is started next takes it.",
            )
        raise Unavailable(
            "engine_unavailable",
            f"the engine is {self._state}" + (f": {self._reason}" if self._reason else ""),
            hint="Free disk space if it is full; otherwise restart the server.",
        )

    def halt(self, error: BaseException) -> None:
        """The journal cannot write: also told when it was not the engine who found out."""
        if self._state not in ("running", "draining"):
            return
        self._state = "halted"
        self._reason = str(error)
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
                self._reason = str(error)
        self._lanes = Lanes(self._limits)
        self._alarm = Alarm(self._clock, self._fire)
        await self._take_up()

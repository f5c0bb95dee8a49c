"""A run that the engine holds in memory, and its way to and from the journal."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

import msgspec

from agent_work_orders import ids
from agent_work_orders.engines.embedded.lanes import PRIORITIES
from agent_work_orders.engines.engine import Change
from agent_work_orders.engines.replay import replay
from agent_work_orders.engines.ticket import Ticket
from agent_work_orders.state_manager.journal import (
    Beside,
    Commit,
    EffectRow,
    EventRow,
    LoadedRun,
    Snapshot,
    TimerRow,
)
from agent_work_orders.workflow_engine import effects as ask
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine import plan as plans
from agent_work_orders.workflow_engine import run as runs
from agent_work_orders.workflow_engine.machine import Step
from agent_work_orders.workflow_engine.run import Run

# A run is replayed from its start until it has this many events; then snapshots come at every
# doubling, so that their cost stays a constant share of the whole however long the run is.
FIRST_SNAPSHOT = 256

DURABLE = (
    ask.Perform,
    ask.Undo,
    ask.StartChild,
    ask.CancelChild,
    ask.RollbackChild,
)

First = Callable[[Run], Beside]


def is_durable(effect: ask.AnyEffect) -> bool:
    """Whether it must be done even after a crash. Nobody but observers hears a root run's end."""
    if isinstance(effect, ask.Finish):
        return effect.parent is not None
    return isinstance(effect, DURABLE)


class Pending(msgspec.Struct):
    """An applied event that waits to be durable and shown."""

    change: Change
    acts: tuple[tuple[str, ask.AnyEffect], ...]
    ready: bool


class KeptRun:
    def __init__(self, run: Run, seq: int, snapshot_at: int = FIRST_SNAPSHOT) -> None:
        self.run = run
        self.durable = run
        self.seq = seq
        self.snapshot_at = snapshot_at
        self.pending: deque[Pending] = deque()
        self.owed: set[str] = set()
        """Ids of effects that are not done."""
        self.timers: set[str] = set()
        """Names of timers that are set."""
        self.saving: asyncio.Future[None] | None = None
        """The last commit that somebody may wait for."""
        self.first: First | None = None
        """What is kept beside its first event."""
        self._ticket: Ticket | None = None

    async def saved(self) -> None:
        """Wait until all that was applied so far is durable. Raises what the journal raised."""
        if self.saving is not None:
            await asyncio.shield(self.saving)
            if self.pending:
                await asyncio.sleep(0)  # one done before we came is shown by the next callback

    @property
    def debts(self) -> tuple[int, int]:
        """What the journal must have of it beside its events."""
        return len(self.owed), len(self.timers)

    @property
    def over(self) -> bool:
        """Ended, and nothing of it is left to do: it need not be loaded at the next start."""
        return self.run.stage == "ended" and not self.owed

    @property
    def ticket(self) -> Ticket:
        """Known once the run was submitted. One that has begun once does not begin again, also when
        somebody has it retried."""
        if self._ticket is not None and self._ticket.metered and self.run.started_ms is not None:
            self._ticket = msgspec.structs.replace(self._ticket, metered=False)
        if self._ticket is None:
            order = self.run.order
            self._ticket = Ticket(
                order_id=ids.order_of(self.run.run_id),
                repository=str(order.get("repository", "")),
                priority=min(max(int(order.get("priority", 1)), 0), PRIORITIES - 1),
                metered=bool(order.get("metered", True)) and self.run.started_ms is None,
            )
        return self._ticket


def effect_id(seq: int, number: int, effect: ask.AnyEffect) -> str:
    if isinstance(effect, ask.Perform):
        return f"perform:{effect.path}:{effect.attempt}"
    return f"{seq}:{number}"


def to_commit(
    kept: KeptRun,
    event: on.AnyEvent,
    step: Step,
    acts: tuple[tuple[str, ask.AnyEffect], ...],
    *,
    done: str | None = None,
    lease: tuple[str, int] | None = None,
) -> Commit:
    """What the journal must keep of a step that `kept` has already taken."""
    run_id, seq, after = kept.run.run_id, kept.seq, step.run
    rows, timers, cleared = [], [], []
    for name, effect in acts:
        if isinstance(effect, ask.SetTimer):
            timers.append(TimerRow(run_id=run_id, timer=effect.timer, at_ms=effect.at_ms))
        elif isinstance(effect, ask.ClearTimer):
            cleared.append(effect.timer)
        elif is_durable(effect):
            rows.append(EffectRow(run_id=run_id, effect_id=name, body=ask.encode(effect)))
    if isinstance(event, on.TimerFired):
        cleared.append(event.timer)
    snapshot = None
    if seq >= kept.snapshot_at:
        snapshot = Snapshot(run_id=run_id, seq=seq, body=runs.encode(after))
        kept.snapshot_at = 2 * seq
    kept.timers.difference_update(cleared)
    kept.timers.update(row.timer for row in timers)
    kept.owed.update(row.effect_id for row in rows)
    submitted = isinstance(event, on.Submitted)
    beside = kept.first(after) if submitted and kept.first is not None else None
    return Commit(
        run_id=run_id,
        events=(
            EventRow(
                run_id=run_id,
                seq=seq,
                at_ms=event.at_ms,
                kind=on.kind_of(event),
                body=on.encode(event),
            ),
        ),
        effects=tuple(rows),
        done_effects=(done,) if done is not None else (),
        leased_effects=(lease,) if lease is not None else (),
        set_timers=tuple(timers),
        clear_timers=tuple(timer for timer in cleared),
        snapshot=snapshot,
        ended=kept.over,
        owed=kept.debts,
        plan=(after.plan_hash, plans.encode(after.plan)) if submitted else None,
        beside=beside,
    )


def restore(loaded: LoadedRun, cache: dict[bytes, plans.Plan]) -> KeptRun:
    """As it stood, with what is owed to it."""
    found = replay(loaded, cache)
    snapshot_at = FIRST_SNAPSHOT if loaded.snapshot is None else 2 * loaded.snapshot.seq
    kept = KeptRun(found.run, found.seq, snapshot_at)
    kept.owed = {row.effect_id for row in loaded.effects}
    kept.timers = {row.timer for row in loaded.timers}
    return kept

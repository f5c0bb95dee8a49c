"""Reads runs back and proves them. Blocking, over one consistent view."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from agent_work_orders.state_manager.chain import (
    START,
    effect_checksum,
    first_break,
    newest_good,
    seal,
    timer_checksum,
)
from agent_work_orders.state_manager.heads import Head
from agent_work_orders.state_manager.journal import (
    EffectRow,
    EventRow,
    LoadedRun,
    Quarantined,
    Snapshot,
    TimerRow,
)
from agent_work_orders.state_manager.sqlite.named import queries

_SQL = queries("journal")
_ALL = -1


DAMAGE = (sqlite3.Error, ValueError, TypeError, KeyError, AttributeError)
"""What comes of bytes that are not what was written, wherever they are looked at."""


def head_of(row: Sequence[Any]) -> Head:
    run, run_id, ended, seq, chain, plan_hash, effects, timers = row
    owed = None if effects is None or timers is None else (effects, timers)
    return Head(run, run_id, bool(ended), seq, chain, plan_hash, owed)


class Loader:
    """Reads many runs over one view; plans that runs share are read once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._plans: dict[str, bytes | None] = {}

    def load(self, head: Head, *, in_full: bool) -> LoadedRun | Quarantined:
        """`in_full` proves the chain from the first event, else from the snapshot on. Whatever is
        wrong with the rows of a run, it is wrong with that run alone."""
        try:
            return self._load(head, in_full=in_full)
        except DAMAGE as error:
            if isinstance(error, sqlite3.Error) and not isinstance(error, sqlite3.DatabaseError):
                raise
            reason = f"its rows cannot be read ({error})"
            return Quarantined(run_id=str(head.run_id), seq=_number(head.seq), reason=reason)

    def _load(self, head: Head, *, in_full: bool) -> LoadedRun | Quarantined:
        snapshot = newest_good(self._snapshots(head), head.seq)
        base = snapshot.seq if snapshot else 0
        rows = self._rows(head, 0 if in_full else base)
        after = (0, START) if in_full or snapshot is None else self._place(head, base)
        if after is None:
            return Quarantined(run_id=head.run_id, seq=base, reason=f"event {base} is missing")
        broken = first_break(head.run_id, rows, after=after, head=(head.seq, head.chain))
        if broken is not None:
            return broken
        plan = self._plan(head.plan_hash)
        if plan is None:
            return Quarantined(
                run_id=head.run_id, seq=1, reason=f"its plan {head.plan_hash} is missing or changed"
            )
        effects, timers = self._effects(head), self._timers(head)
        if head.owed is not None and head.owed != (len(effects), len(timers)):
            reason = "its outbox has {} effects and {} timers, {} and {} were written"
            said = reason.format(len(effects), len(timers), *head.owed)
            return Quarantined(run_id=head.run_id, seq=head.seq, reason=said)
        return LoadedRun(
            run_id=head.run_id,
            snapshot=snapshot,
            events=tuple(row for row, _ in rows if row.seq > base),
            plan=plan,
            effects=effects,
            timers=timers,
        )

    def first_break(self, head: Head) -> Quarantined | None:
        loaded = self.load(head, in_full=True)
        return loaded if isinstance(loaded, Quarantined) else None

    def _rows(self, head: Head, after_seq: int) -> list[tuple[EventRow, bytes]]:
        found = self._connection.execute(_SQL["events_after"], (head.run, after_seq, _ALL))
        run_id = head.run_id
        return [
            (EventRow(run_id=run_id, seq=seq, at_ms=at_ms, kind=kind, body=body), chain)
            for seq, at_ms, kind, body, chain in found
        ]

    def _place(self, head: Head, seq: int) -> tuple[int, bytes] | None:
        found = self._connection.execute(_SQL["chain_at"], (head.run, seq)).fetchone()
        return None if found is None else (seq, found[0])

    def _snapshots(self, head: Head) -> list[tuple[Snapshot, bytes]]:
        return [
            (Snapshot(run_id=head.run_id, seq=seq, body=body), checksum)
            for seq, body, checksum in self._connection.execute(_SQL["snapshots_of"], (head.run,))
        ]

    def _plan(self, plan_hash: str | None) -> bytes | None:
        if plan_hash is None:
            return b""
        if plan_hash not in self._plans:
            found = self._connection.execute(_SQL["plan_of"], (plan_hash,)).fetchone()
            good = found is not None and seal(found[0]) == found[1]
            self._plans[plan_hash] = found[0] if good else None
        return self._plans[plan_hash]

    def _effects(self, head: Head) -> tuple[EffectRow, ...]:
        rows = self._connection.execute(_SQL["effects_of"], (head.run,)).fetchall()
        for effect_id, body, lease, checksum in rows:
            whole = checksum is None or checksum == effect_checksum(head.run, effect_id, body)
            if not whole or not isinstance(lease, int | None):
                raise ValueError(f"the effect {str(effect_id)[:80]} was changed")
        return tuple(
            EffectRow(run_id=head.run_id, effect_id=effect_id, body=body, lease=lease)
            for effect_id, body, lease, _ in rows
        )

    def _timers(self, head: Head) -> tuple[TimerRow, ...]:
        rows = self._connection.execute(_SQL["timers_of"], (head.run,)).fetchall()
        for timer, at_ms, checksum in rows:
            if checksum is not None and checksum != timer_checksum(head.run, timer, at_ms):
                raise ValueError(f"the timer {str(timer)[:80]} was changed")
        return tuple(
            TimerRow(run_id=head.run_id, timer=timer, at_ms=at_ms) for timer, at_ms, _ in rows
        )


def _number(seq: object) -> int:
    return seq if isinstance(seq, int) else 0

"""Reads runs back and proves them. Blocking, over one consistent view."""

from __future__ import annotations

import sqlite3

from agent_work_orders.state_manager.chain import START, first_break, newest_good, seal
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


def head_of(row: tuple[int, str, int, int, bytes, str | None]) -> Head:
    run, run_id, ended, seq, chain, plan_hash = row
    return Head(run, run_id, bool(ended), seq, chain, plan_hash)


class Loader:
    """Reads many runs over one view; plans that runs share are read once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._plans: dict[str, bytes | None] = {}

    def load(self, head: Head, *, in_full: bool) -> LoadedRun | Quarantined:
        """`in_full` proves the chain from the first event, else from the snapshot on."""
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
        return LoadedRun(
            run_id=head.run_id,
            snapshot=snapshot,
            events=tuple(row for row, _ in rows if row.seq > base),
            plan=plan,
            effects=self._effects(head),
            timers=self._timers(head),
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
        return tuple(
            EffectRow(run_id=head.run_id, effect_id=effect_id, body=body, lease=lease)
            for effect_id, body, lease in self._connection.execute(_SQL["effects_of"], (head.run,))
        )

    def _timers(self, head: Head) -> tuple[TimerRow, ...]:
        return tuple(
            TimerRow(run_id=head.run_id, timer=timer, at_ms=at_ms)
            for timer, at_ms in self._connection.execute(_SQL["timers_of"], (head.run,))
        )

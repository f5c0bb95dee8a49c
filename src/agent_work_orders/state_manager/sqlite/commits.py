"""Gathers the commits of one group and writes each table once.

Only the last word on an effect or timer in the group is written: one that was set and done within
the group costs a delete of nothing.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from agent_work_orders.state_manager.chain import (
    effect_checksum,
    seal,
    snapshot_seal,
    timer_checksum,
)
from agent_work_orders.state_manager.heads import Advance, Head
from agent_work_orders.state_manager.journal import Beside, EffectRow, Snapshot
from agent_work_orders.state_manager.sqlite.audit import append_entries
from agent_work_orders.state_manager.sqlite.many import execute_rows
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.proof import sealed
from agent_work_orders.state_manager.sqlite.records import put_records

_SQL = queries("journal")

EventTuple = tuple[int, int, int, str, bytes, bytes]


class Commits:
    """The collector of the journal."""

    essential = True

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self._heads: dict[int, Head] = {}
        self._plans: dict[str, bytes] = {}
        self._events: list[EventTuple] = []
        self._effects: dict[tuple[int, str], EffectRow | int | None] = {}
        self._timers: dict[tuple[int, str], int | None] = {}
        self._snapshots: list[tuple[int, Snapshot]] = []
        self._beside: list[Beside] = []

    def add(self, item: Advance) -> None:
        commit, head = item.commit, item.head
        run = head.run
        self._heads[run] = head
        for row, chain in zip(commit.events, item.chains, strict=True):
            self._events.append((run, row.seq, row.at_ms, row.kind, row.body, chain))
        for effect in commit.effects:
            self._effects[run, effect.effect_id] = effect
        for effect_id, lease in commit.leased_effects:
            self._lease((run, effect_id), lease)
        for effect_id in commit.done_effects:
            self._effects[run, effect_id] = None
        for name in commit.clear_timers:
            self._timers[run, name] = None
        for timer in commit.set_timers:
            self._timers[run, timer.timer] = timer.at_ms
        if commit.plan is not None:
            self._plans[commit.plan[0]] = commit.plan[1]
        if commit.snapshot is not None:
            self._snapshots.append((run, commit.snapshot))
        if commit.beside is not None:
            self._beside.append(commit.beside)

    def _lease(self, key: tuple[int, str], lease: int) -> None:
        known = self._effects.get(key, lease)
        if isinstance(known, EffectRow):
            self._effects[key] = EffectRow(
                run_id=known.run_id, effect_id=known.effect_id, body=known.body, lease=lease
            )
        elif known is not None:
            self._effects[key] = lease

    def flush(self, connection: sqlite3.Connection) -> None:
        if self._plans:
            plans = [(hash_, body, seal(body)) for hash_, body in self._plans.items()]
            execute_rows(connection, _SQL["put_plans"], plans)
        if self._events:
            execute_rows(connection, _SQL["add_events"], self._events)
        heads = [_head_row(head) for head in self._heads.values()]
        execute_rows(connection, _SQL["put_heads"], heads)
        if self._effects:
            self._flush_effects(connection)
        if self._timers:
            self._flush_timers(connection)
        for run, snapshot in self._snapshots:
            checksum = snapshot_seal(snapshot)
            connection.execute(_SQL["put_snapshot"], (run, snapshot.seq, snapshot.body, checksum))
            connection.execute(_SQL["drop_old_snapshots"], (run, snapshot.seq))
        if self._beside:
            put_records(connection, [one.record for one in self._beside])
            append_entries(connection, [one.audit for one in self._beside])
        self.clear()

    def _flush_effects(self, connection: sqlite3.Connection) -> None:
        put, leased, done = [], [], []
        for (run, effect_id), last in self._effects.items():
            if last is None:
                done.append((run, effect_id))
            elif isinstance(last, EffectRow):
                check = effect_checksum(run, effect_id, last.body)
                put.append((run, effect_id, last.body, last.lease, check))
            else:
                leased.append((last, run, effect_id))
        execute_rows(connection, _SQL["put_effects"], put)
        execute_rows(connection, _SQL["drop_effects"], done)
        if leased:
            connection.executemany(_SQL["lease_effects"], leased)

    def _flush_timers(self, connection: sqlite3.Connection) -> None:
        put = [
            (*key, at_ms, timer_checksum(*key, at_ms))
            for key, at_ms in self._timers.items()
            if at_ms is not None
        ]
        gone = [key for key, at_ms in self._timers.items() if at_ms is None]
        execute_rows(connection, _SQL["put_timers"], put)
        execute_rows(connection, _SQL["drop_timers"], gone)


def _head_row(head: Head) -> tuple[Any, ...]:
    place = (head.run, head.run_id, int(head.ended), head.seq, head.chain, head.plan_hash)
    return sealed("runs", (*place, *(head.owed or (None, None))))

"""A journal without a disk, for simulations: it forgets on command what a real crash could lose.

`MemoryDisk` is what survives; a `MemoryJournal` is one life of a process on it. Commits are
volatile until the "fsync", which happens on the next turn of the loop, or when `sync` is called if
`auto_sync` is off. A crash is an exception no handler of ordinary errors catches.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from agent_work_orders.errors import Broken, Environmental
from agent_work_orders.state_manager.chain import (
    START,
    first_break,
    newest_good,
    snapshot_seal,
)
from agent_work_orders.state_manager.heads import Advance, Head, Heads
from agent_work_orders.state_manager.journal import (
    Commit,
    EffectRow,
    EventRow,
    Loaded,
    LoadedRun,
    Quarantined,
    Snapshot,
    TimerRow,
)

_KEPT_SNAPSHOTS = 2


class Crashed(BaseException):
    """The simulated process died here."""


class StoredRun:
    """One run as it is on the disk."""

    def __init__(self, head: Head) -> None:
        self.head = head
        self.events: list[tuple[EventRow, bytes]] = []
        self.effects: dict[str, EffectRow] = {}
        self.timers: dict[str, TimerRow] = {}
        self.snapshots: list[tuple[Snapshot, bytes]] = []


class MemoryDisk:
    """What survives a crash. Faults are set here: `full`, `broken`, `crash_at`."""

    def __init__(self) -> None:
        self.runs: dict[str, StoredRun] = {}
        self.plans: dict[str, bytes] = {}
        self.epoch = 0
        self.writes = 0
        """Commits that reached the disk so far."""
        self.full = False
        self.broken = False
        self.crash_at: int | None = None
        """Crash instead of making the commit with this number (from 1) durable."""

    def apply(self, advance: Advance) -> None:
        commit, head = advance.commit, advance.head
        self.writes += 1
        run = self.runs.setdefault(head.run_id, StoredRun(head))
        run.head = head
        run.events += zip(commit.events, advance.chains, strict=True)
        for effect in commit.effects:
            run.effects[effect.effect_id] = effect
        for effect_id, lease in commit.leased_effects:
            if effect_id in run.effects:
                leased = msgspec.structs.replace(run.effects[effect_id], lease=lease)
                run.effects[effect_id] = leased
        for effect_id in commit.done_effects:
            run.effects.pop(effect_id, None)
        for name in commit.clear_timers:
            run.timers.pop(name, None)
        for timer in commit.set_timers:
            run.timers[timer.timer] = timer
        if commit.plan is not None:
            self.plans.setdefault(*commit.plan)
        if commit.snapshot is not None:
            run.snapshots.insert(0, (commit.snapshot, snapshot_seal(commit.snapshot)))
            del run.snapshots[_KEPT_SNAPSHOTS:]

    def change_event(self, run_id: str, seq: int, body: bytes) -> None:
        rows = self.runs[run_id].events
        place = next(i for i, (row, _) in enumerate(rows) if row.seq == seq)
        rows[place] = (msgspec.structs.replace(rows[place][0], body=body), rows[place][1])

    def drop_event(self, run_id: str, seq: int) -> None:
        run = self.runs[run_id]
        run.events = [(row, chain) for row, chain in run.events if row.seq != seq]

    def change_snapshot(self, run_id: str, seq: int, body: bytes) -> None:
        run = self.runs[run_id]
        run.snapshots = [
            (msgspec.structs.replace(s, body=body) if s.seq == seq else s, checksum)
            for s, checksum in run.snapshots
        ]


class MemoryJournal:
    """The contract is state_manager/journal.py."""

    def __init__(self, disk: MemoryDisk, *, auto_sync: bool = True) -> None:
        self._disk = disk
        self._auto_sync = auto_sync
        self._unsynced: list[tuple[Advance, asyncio.Future[None] | None]] = []
        self._scheduled = False
        self._trouble: str | None = None
        self._dead = False
        self._heads = self._fresh_heads()

    def append(self, commit: Commit) -> asyncio.Future[None]:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._take(commit, waiter)
        return waiter

    def append_lazily(self, commit: Commit) -> None:
        self._take(commit, None)

    def sync(self) -> None:
        """The fsync: everything handed in becomes durable and is acknowledged, or nothing is."""
        self._scheduled = False
        if self._dead or not self._unsynced:
            return
        disk = self._disk
        if disk.full or disk.broken:
            self._trouble = "journal_full" if disk.full else "journal_halted"
            self._drop(refusal(self._trouble))
            return
        last = disk.writes + len(self._unsynced)
        if disk.crash_at is not None and disk.crash_at <= last:
            self.lose_unsynced()
            return
        group, self._unsynced = self._unsynced, []
        for advance, _ in group:
            disk.apply(advance)
        for _, waiter in group:
            if waiter is not None and not waiter.done():
                waiter.set_result(None)

    def lose_unsynced(self, keep: int = 0) -> None:
        """Die now. The first `keep` unacknowledged commits still reach the disk, as they may."""
        for advance, _ in self._unsynced[:keep]:
            self._disk.apply(advance)
        self._dead = True
        self._drop(Crashed())

    async def load_open(self) -> Loaded:
        loaded = [
            self._load(run, in_full=False) for run in self._disk.runs.values() if not run.head.ended
        ]
        return Loaded(
            runs=tuple(run for run in loaded if isinstance(run, LoadedRun)),
            quarantined=tuple(run for run in loaded if isinstance(run, Quarantined)),
        )

    async def load_run(self, run_id: str) -> LoadedRun | Quarantined | None:
        run = self._disk.runs.get(run_id)
        return None if run is None else self._load(run, in_full=True)

    async def events(
        self, run_id: str, after_seq: int = 0, limit: int = 1000
    ) -> Sequence[EventRow]:
        run = self._disk.runs.get(run_id)
        rows = [] if run is None else [row for row, _ in run.events if row.seq > after_seq]
        return rows[:limit]

    async def run_ids(self, after: str = "", limit: int = 1000) -> Sequence[str]:
        return sorted(run_id for run_id in self._disk.runs if run_id > after)[:limit]

    async def verify(self) -> Sequence[Quarantined]:
        loaded = [self._load(run, in_full=True) for run in self._disk.runs.values()]
        return [run for run in loaded if isinstance(run, Quarantined)]

    async def next_epoch(self) -> int:
        leases = [
            effect.lease or 0 for run in self._disk.runs.values() for effect in run.effects.values()
        ]
        self._disk.epoch = 1 + max([self._disk.epoch, *leases])
        return self._disk.epoch

    async def reopen(self) -> None:
        if self._trouble == "journal_halted" or (self._trouble and self._disk.full):
            raise refusal(self._trouble)
        self._trouble = None
        self._heads = self._fresh_heads()

    async def close(self) -> None:
        self.sync()

    def _take(self, commit: Commit, waiter: asyncio.Future[None] | None) -> None:
        if self._dead:
            raise Crashed
        if self._trouble is not None:
            raise refusal(self._trouble)
        advance = self._heads.place(commit)
        self._unsynced.append((advance, waiter))
        self._heads.moved(advance)
        if self._auto_sync and not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self.sync)

    def _drop(self, error: BaseException) -> None:
        group, self._unsynced = self._unsynced, []
        for _, waiter in group:
            if waiter is not None and not waiter.done():
                waiter.set_exception(error)

    def _fresh_heads(self) -> Heads:
        runs = self._disk.runs
        last = max((run.head.run for run in runs.values()), default=0)
        return Heads(lambda run_id: runs[run_id].head if run_id in runs else None, last, 100_000)

    def _load(self, run: StoredRun, *, in_full: bool) -> LoadedRun | Quarantined:
        head = run.head
        snapshot = newest_good(run.snapshots, head.seq)
        base = snapshot.seq if snapshot else 0
        start = 0 if in_full else base
        before = next((chain for row, chain in run.events if row.seq == start), None)
        if start and before is None:
            return Quarantined(run_id=head.run_id, seq=start, reason=f"event {start} is missing")
        rows = [(row, chain) for row, chain in run.events if row.seq > start]
        broken = first_break(
            head.run_id, rows, after=(start, before or START), head=(head.seq, head.chain)
        )
        if broken is not None:
            return broken
        return LoadedRun(
            run_id=head.run_id,
            snapshot=snapshot,
            events=tuple(row for row, _ in rows if row.seq > base),
            plan=b"" if head.plan_hash is None else self._disk.plans[head.plan_hash],
            effects=tuple(run.effects[effect_id] for effect_id in sorted(run.effects)),
            timers=tuple(sorted(run.timers.values(), key=lambda t: (t.at_ms, t.timer))),
        )


def refusal(code: str) -> Environmental | Broken:
    if code == "journal_full":
        return Environmental("journal_full", "the simulated disk is full", hint="Free it.")
    return Broken("journal_halted", "the simulated disk failed", hint="Restart.")

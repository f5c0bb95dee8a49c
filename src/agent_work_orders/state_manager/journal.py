"""The contract of the journal: the truth about every run.

Rules:
- One `Commit` is atomic: its events, effects and timers are there together or not at all.
- `append` resolves after the bytes are on the disk (fsync). Commits are written in the order in
  which `append` was called, whatever they wait for; many waiting ones share one transaction.
- Every event carries `chain`, a hash over the run's previous chain and itself. A break means
  corruption or tampering: that run is quarantined, the others go on, nothing is guessed.
- After a failed write nothing is known about what was waiting: `append` raises for all of them
  (`journal_full` Environmental when the disk was full, and writing may be tried again after
  `reopen`; `journal_halted` Broken for any other error: restart the process) and refuses the rest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

import msgspec

from agent_work_orders.state_manager.audit import AuditEntry
from agent_work_orders.state_manager.records import OrderRecord


class EventRow(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    seq: int
    """From 1, without gaps."""
    at_ms: int
    kind: str
    body: bytes


class EffectRow(msgspec.Struct, frozen=True, kw_only=True):
    """An outbox row: due until `lease` says which epoch of the server works on it; deleted when
    done."""

    run_id: str
    effect_id: str
    """Unique in the run: `perform:<path>:<attempt>`, `finish:<seq>`…"""
    body: bytes
    lease: int | None = None


class TimerRow(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    timer: str
    at_ms: int


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    seq: int
    body: bytes


class Beside(msgspec.Struct, frozen=True, kw_only=True):
    """What people are told of an order's beginning: its line in the list, and who asked for it."""

    record: OrderRecord
    audit: AuditEntry


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    events: tuple[EventRow, ...] = ()
    effects: tuple[EffectRow, ...] = ()
    done_effects: tuple[str, ...] = ()
    leased_effects: tuple[tuple[str, int], ...] = ()
    set_timers: tuple[TimerRow, ...] = ()
    clear_timers: tuple[str, ...] = ()
    snapshot: Snapshot | None = None
    ended: bool | None = None
    """Whether the run is over; only open runs are loaded at start."""
    plan: tuple[str, bytes] | None = None
    """(hash, encoded plan) to keep, at a run's first commit."""
    owed: tuple[int, int] | None = None
    """How many effects and timers the run has after it, so that a row that is gone is missed."""
    beside: Beside | None = None
    """Kept in the same transaction, where the journal's store keeps such things."""


class Quarantined(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    seq: int
    """The first event that does not verify; all before it are good."""
    reason: str


class LoadedRun(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    snapshot: Snapshot | None
    events: tuple[EventRow, ...]
    """Those after the snapshot."""
    plan: bytes
    effects: tuple[EffectRow, ...]
    timers: tuple[TimerRow, ...]


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    runs: tuple[LoadedRun, ...]
    quarantined: tuple[Quarantined, ...]


class Journal(Protocol):
    def append(self, commit: Commit) -> asyncio.Future[None]:
        """Has its place in the order when the call returns, and is durable when the future is
        done. Raises as above; never partially."""
        ...

    def append_lazily(self, commit: Commit) -> None:
        """Written with the next commit, or within 50 ms; nobody waits. For advisory events."""
        ...

    async def load_open(self) -> Loaded:
        """Every open run with its chain verified from its snapshot on. For start-up."""
        ...

    async def load_run(self, run_id: str) -> LoadedRun | Quarantined | None:
        """One run, open or ended, verified in full."""
        ...

    async def events(
        self, run_id: str, after_seq: int = 0, limit: int = 1000
    ) -> Sequence[EventRow]:
        """A page of the run's events."""
        ...

    async def run_ids(self, after: str = "", limit: int = 1000) -> Sequence[str]:
        """A page of the ids of all runs, open and ended, in their order."""
        ...

    async def verify(self) -> Sequence[Quarantined]:
        """Check every chain in full. Reads all of it."""
        ...

    async def next_epoch(self) -> int:
        """The number of this server's life; larger than any lease in the outbox. Durable."""
        ...

    async def reopen(self) -> None:
        """Try to write again after `journal_full`. Callers must reload what they hold in memory."""
        ...

    async def close(self) -> None: ...

"""The journal and the ledger of a simulated machine: slow, and mortal around every write."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from agent_work_orders.state_manager.journal import Commit
from agent_work_orders.state_manager.ledger import Entry
from agent_work_orders.testing.fakes.memory_journal import MemoryDisk, MemoryJournal, refusal
from agent_work_orders.testing.fakes.memory_ledger import MemoryLedger
from agent_work_orders.testing.simulation.faults import Boundaries, Options, PowerCut

# The real journal's promise for lazy commits.
LAZY_S = 0.05
FULL_FOR_S = (0.5, 20.0)


class SimulatedDisk(MemoryDisk):
    """One disk for journal and ledger: when it is full, it is full for both."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger: dict[str, Entry] = {}
        self.fills = 0


class SimulatedJournal(MemoryJournal):
    """Writes what waits as one group after a seeded delay; may die before and after the fsync."""

    def __init__(
        self, disk: SimulatedDisk, options: Options, rng: random.Random, at: Boundaries
    ) -> None:
        super().__init__(disk, auto_sync=False)
        self.disk = disk
        self._options = options
        self._rng = rng
        self._at = at
        self._due: asyncio.TimerHandle | None = None

    def append(self, commit: Commit) -> asyncio.Future[None]:
        waiter = super().append(commit)
        self._wake(self._rng.choice((0.0, 0.0005, 0.002, 0.02)))
        return waiter

    def append_lazily(self, commit: Commit) -> None:
        super().append_lazily(commit)
        self._wake(LAZY_S)

    def admit(self) -> None:
        """The ledger has the same writer: what one finds out, both know."""
        if self.disk.full:
            self._trouble = "journal_full"
        if self._trouble is not None:
            raise refusal(self._trouble)

    def write(self) -> None:
        self._due = None
        if not self._unsynced:
            return
        if self._at.due("journal before fsync"):
            # What was handed to the kernel may have reached the disk nevertheless.
            keep = self._rng.randint(0, len(self._unsynced)) if self._options.crash_rate else 0
            self.lose_unsynced(keep)
            raise PowerCut("journal before fsync")
        if self._rng.random() < self._options.full_rate and self.disk.fills < 3:
            self._fill()
        self.sync()
        self._at.cross("journal after fsync")

    def _fill(self) -> None:
        disk = self.disk
        disk.full = True
        disk.fills += 1

        def freed() -> None:
            disk.full = False

        asyncio.get_running_loop().call_later(self._rng.uniform(*FULL_FOR_S), freed)

    def _wake(self, delay_s: float) -> None:
        loop = asyncio.get_running_loop()
        if self._due is not None:
            if self._due.when() <= loop.time() + delay_s:
                return
            self._due.cancel()
        self._due = loop.call_later(delay_s, self.write)


class SimulatedLedger(MemoryLedger):
    def __init__(self, journal: SimulatedJournal, rng: random.Random, at: Boundaries) -> None:
        super().__init__(journal.disk.ledger)
        self._journal = journal
        self._rng = rng
        self._at = at

    async def intend(
        self, key: str, *, order_id: str, what: str, intent: dict[str, Any], at_ms: int
    ) -> Entry:
        await self._write("intent")
        entry = await self._intend(key, order_id, what, intent, at_ms)
        self._at.cross("ledger after intent")
        await asyncio.sleep(0)
        return entry

    async def receive(self, key: str, receipt: dict[str, Any], *, at_ms: int) -> Entry:
        await self._write("receipt")
        entry = await super().receive(key, receipt, at_ms=at_ms)
        self._at.cross("ledger after receipt")
        await asyncio.sleep(0)
        return entry

    async def _intend(
        self, key: str, order_id: str, what: str, intent: dict[str, Any], at_ms: int
    ) -> Entry:
        return await super().intend(key, order_id=order_id, what=what, intent=intent, at_ms=at_ms)

    async def _write(self, what: str) -> None:
        await asyncio.sleep(self._rng.choice((0.0, 0.001, 0.01)))
        self._at.cross(f"ledger before {what}")
        self._journal.admit()

"""A whole store without a disk. The contract is state_manager/store.py."""

from __future__ import annotations

from agent_work_orders.clock import Clock
from agent_work_orders.state_manager.damaged_row import DamagedRow
from agent_work_orders.state_manager.heads import Advance
from agent_work_orders.state_manager.store import Store
from agent_work_orders.testing.fakes.memory_access import (
    MemoryAudit,
    MemoryCredentials,
    MemoryKeys,
    MemorySessions,
)
from agent_work_orders.testing.fakes.memory_journal import MemoryDisk, MemoryJournal
from agent_work_orders.testing.fakes.memory_ledger import MemoryLedger
from agent_work_orders.testing.fakes.memory_read_side import (
    MemoryApprovals,
    MemoryFeed,
    MemoryLogbook,
    MemoryRecords,
    MemoryVersions,
)
from agent_work_orders.testing.fakes.memory_world import (
    MemoryArtifacts,
    MemoryBranches,
    MemoryDeliveries,
    MemoryIdempotencyKeys,
    MemoryQuota,
    MemorySubjects,
)


class MemoryStore:
    def __init__(self, clock: Clock) -> None:
        self.damaged: tuple[DamagedRow, ...] = ()
        self.ledger = MemoryLedger()
        self.branches = MemoryBranches()
        self.artifacts = MemoryArtifacts()
        self.deliveries = MemoryDeliveries()
        self.subjects = MemorySubjects()
        self.idempotency = MemoryIdempotencyKeys()
        self.quota = MemoryQuota()
        self.approvals = MemoryApprovals()
        self.records = MemoryRecords(self.approvals)
        self.logbook = MemoryLogbook()
        self.feed = MemoryFeed()
        self.versions = MemoryVersions()
        self.keys = MemoryKeys(clock)
        self.sessions = MemorySessions(self.keys, clock)
        self.credentials = MemoryCredentials()
        self.audit = MemoryAudit()
        self.disk = _Disk(self.records, self.audit)
        self.journal = MemoryJournal(self.disk)

    def trouble(self) -> tuple[str, str] | None:
        return ("journal_full", "the simulated disk is full") if self.disk.full else None


class _Disk(MemoryDisk):
    """Keeps what a commit has beside its events where people look for it."""

    def __init__(self, records: MemoryRecords, audit: MemoryAudit) -> None:
        super().__init__()
        self._records = records
        self._audit = audit

    def apply(self, advance: Advance) -> None:
        super().apply(advance)
        beside = advance.commit.beside
        if beside is not None:
            self._records.upsert_lazily(beside.record)
            self._audit.add(beside.audit)


_KEPT: type[Store] = MemoryStore

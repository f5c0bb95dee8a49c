from __future__ import annotations

import pytest

from agent_work_orders.state_manager.ledger import Ledger
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.testing.conformance.ledger import LedgerConformance
from agent_work_orders.testing.fakes.memory_ledger import MemoryLedger


class TestSqliteLedger(LedgerConformance):
    @pytest.fixture
    def ledger(self, store: SqliteStore) -> Ledger:
        return store.ledger


class TestMemoryLedger(LedgerConformance):
    @pytest.fixture
    def ledger(self) -> Ledger:
        return MemoryLedger()

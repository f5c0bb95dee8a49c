"""The embedded engine keeps the contract, over the real SQLite journal."""

from __future__ import annotations

from agent_work_orders.testing.conformance.engine import EngineConformance


class TestEmbedded(EngineConformance):
    pass

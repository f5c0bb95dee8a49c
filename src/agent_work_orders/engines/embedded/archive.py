"""Runs as their journal has them, with nobody at work: the reading half of engine.py."""

from __future__ import annotations

from agent_work_orders.engines.replay import replay, set_aside
from agent_work_orders.state_manager.journal import Journal, Quarantined
from agent_work_orders.workflow_engine.run import Run


class ArchivedRuns:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def run(self, run_id: str) -> Run | None:
        loaded = await self._journal.load_run(run_id)
        if isinstance(loaded, Quarantined):
            raise set_aside(loaded)
        return None if loaded is None else replay(loaded, {}).run

    async def open_runs(self) -> list[str]:
        return []

    def held_until_ms(self, run_id: str) -> int | None:
        return None

"""Runs as their journal has them, with nobody at work: the reading half of engine.py."""

from __future__ import annotations

from agent_work_orders.engines.embedded.kept_run import restore
from agent_work_orders.errors import Conflict
from agent_work_orders.state_manager.journal import Journal, Quarantined
from agent_work_orders.workflow_engine.run import Run


class ArchivedRuns:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def run(self, run_id: str) -> Run | None:
        loaded = await self._journal.load_run(run_id)
        if isinstance(loaded, Quarantined):
            raise set_aside(loaded)
        return None if loaded is None else restore(loaded, {}).run

    async def open_runs(self) -> list[str]:
        return []

    def held_until_ms(self, run_id: str) -> int | None:
        return None


def set_aside(broken: Quarantined) -> Conflict:
    return Conflict(
        "run_quarantined",
        f"the journal of {broken.run_id} is damaged at event {broken.seq}: {broken.reason}",
        hint="Restore a backup; `awo doctor` lists everything that is damaged. See "
        "docs/runbook.md.",
    )

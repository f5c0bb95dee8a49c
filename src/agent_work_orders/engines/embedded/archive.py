"""An engine that only tells: runs as their journal has them, nothing is started or changed."""

from __future__ import annotations

from typing import Any, NoReturn

from agent_work_orders.engines.embedded.kept_run import restore
from agent_work_orders.engines.engine import Observer
from agent_work_orders.errors import Broken, Conflict
from agent_work_orders.state_manager.journal import Journal, Quarantined
from agent_work_orders.workflow_engine.events import AnyEvent, Submitted
from agent_work_orders.workflow_engine.plan import Plan
from agent_work_orders.workflow_engine.run import Run


class ArchivedRuns:
    """Keeps the contract of engine.py as far as reading goes."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def start(self) -> None:
        return None

    async def stop(self, *, drain_s: float = 30.0) -> None:
        return None

    async def run(self, run_id: str) -> Run | None:
        loaded = self._journal.load_run(run_id)
        if isinstance(loaded, Quarantined):
            raise set_aside(loaded)
        return None if loaded is None else restore(loaded, {}).run

    async def submit(self, run_id: str, plan: Plan, submitted: Submitted) -> Run:
        _refuse()

    async def post(self, run_id: str, event: AnyEvent) -> bool:
        _refuse()

    def observe(self, observer: Observer) -> None:
        return None

    def health(self) -> dict[str, Any]:
        return {"ok": False, "reason": "opened for looking only", "open": 0, "running": 0}


def set_aside(broken: Quarantined) -> Conflict:
    return Conflict(
        "run_quarantined",
        f"the journal of {broken.run_id} is damaged at event {broken.seq}: {broken.reason}",
        hint="Restore a backup; `awo doctor` lists everything that is damaged. See "
        "docs/runbook.md.",
    )


def _refuse() -> NoReturn:
    raise Broken(
        "archive_read_only",
        "the data directory was opened for looking only",
        hint="This is a bug: a command that only looks tried to write.",
    )

"""The embedded engine over the real SQLite journal and fake tools."""

from __future__ import annotations

from pathlib import Path

from agent_work_orders.clock import SystemClock
from agent_work_orders.engines.embedded.engine import EmbeddedEngine
from agent_work_orders.engines.perform import Performer
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.testing.fakes import tools


class EmbeddedRig:
    def __init__(self, home: Path) -> None:
        self.home = home
        self.world = tools.World()

    async def start(self) -> None:
        clock = SystemClock()
        self.store = SqliteStore.open(self.home, clock)
        performer = Performer(
            tools.make(self.world),
            ledger=self.store.ledger,
            artifacts=self.store.artifacts,
            clock=clock,
            log=lambda *_: None,
        )
        self.engine = EmbeddedEngine(self.store.journal, performer, clock)
        await self.engine.start()

    async def crash(self) -> None:
        """No drain, no answers: tasks are cut off and the store is opened anew."""
        await self.engine.stop(drain_s=0)
        await self.store.close()
        await self.start()

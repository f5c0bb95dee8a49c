"""The real product beside the simulator, for what happens to deliveries: orders only wait."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
from pathlib import Path
from typing import Any

from github_matrix import Play

from agent_work_orders.state_manager.sqlite.database import DATABASE_NAME
from agent_work_orders.testing.github_simulator.server import GithubSimulator

WAITS = """
name: demo-github
tasks:
  ask:
    uses: agent.prompt
    with: {prompt: Do it}
    approval: {message: "Really?", expires: 1h}
"""
TABLES = ("orders", "events", "ledger", "order_subjects", "idempotency_keys", "approvals")


class WebhookPlay(Play):
    def __init__(self, room: Path, github: GithubSimulator) -> None:
        super().__init__(room, github)
        (room / "data" / "workflows" / "demo-github.yaml").write_text(WAITS)

    @property
    def port(self) -> int:
        return self._port

    @property
    def secret(self) -> str:
        return self.stage.webhook_secret

    def rows(self, query: str, *values: Any) -> list[Any]:
        """From the product's own file, read from outside."""
        database = sqlite3.connect(f"file:{self.folder / 'data' / DATABASE_NAME}?mode=ro", uri=True)
        try:
            return database.execute(query, values).fetchall()
        finally:
            database.close()

    def counts(self) -> dict[str, int]:
        return {name: self.rows(f"SELECT count(*) FROM {name}")[0][0] for name in TABLES}

    def orders(self) -> int:
        return int(self.rows("SELECT count(*) FROM orders")[0][0])

    async def until_orders(self, count: int) -> None:
        """Then everything that is under way has ended, and it is still that many."""
        for _ in range(1_200):
            if self.orders() >= count:
                break
            await asyncio.sleep(0.05)
        await self.quiet()
        assert self.orders() == count, self.complaints()

    async def quiet(self) -> None:
        """Until the simulator has told everything and the product has handled it."""
        await self.github.deliveries.settled()
        for _ in range(1_200):
            if not self.rows("SELECT 1 FROM deliveries WHERE outcome IS NULL"):
                return
            await asyncio.sleep(0.05)
        raise AssertionError("deliveries are still waiting: " + self.complaints())

    async def stop_the_clock(self) -> None:
        """The process is there and does nothing: what is sent to it is taken by the kernel."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGSTOP)

    def redeliveries(self) -> int:
        return sum(one.redelivery for one in self.github.deliveries.kept)


async def happened(what: Any) -> None:
    for _ in range(3_000):
        if what():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it did not happen")

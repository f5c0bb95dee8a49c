"""The observer that tidies up: an order's sandbox goes when the order ends."""

from __future__ import annotations

import asyncio

from agent_work_orders.engines.engine import Change
from agent_work_orders.engines.perform import Log
from agent_work_orders.errors import Failed
from agent_work_orders.sandbox_manager.sandbox import Sandboxes
from agent_work_orders.tools.workspaces import Workspaces


class Housekeeper:
    def __init__(self, workspaces: Workspaces, log: Log) -> None:
        self._workspaces = workspaces
        self._log = log
        self._going: set[asyncio.Task[None]] = set()

    def observe(self, change: Change) -> None:
        run = change.after
        if run.parent is None and run.stage == "ended" and change.before.stage != "ended":
            task = asyncio.get_running_loop().create_task(self._close(run.run_id))
            self._going.add(task)
            task.add_done_callback(self._going.discard)

    async def reap(self, sandboxes: Sandboxes, open_orders: set[str], now_ms: int) -> None:
        """Remove what no order needs any more; what cannot be removed is said."""
        await sandboxes.reap(open_orders, now_ms)
        for identifier in sandboxes.unremoved:
            self._log("", "sandbox_cleanup_failed", "warning", {"sandbox_identifier": identifier})

    async def finish(self) -> None:
        if self._going:
            await asyncio.wait(self._going)

    async def _close(self, order_id: str) -> None:
        """Its commits stay in the mirror. What cannot be removed now goes at the next start."""
        try:
            if await self._workspaces.close(order_id):
                self._log(order_id, "sandbox_cleanup_completed", "info", {})
        except (Failed, OSError) as error:
            self._log(order_id, "sandbox_cleanup_failed", "warning", {"error": str(error)})

"""The observer that tidies up: an order's sandbox goes when the order ends, and with the last order
of a repository what git proved itself with there."""

from __future__ import annotations

import asyncio

from agent_work_orders.engines.engine import Change
from agent_work_orders.errors import Conflict, Failed
from agent_work_orders.ids import order_of
from agent_work_orders.sandbox_manager.sandbox import Sandboxes
from agent_work_orders.tools.workspaces import Workspaces
from agent_work_orders.work_orders.context import LiveContext
from agent_work_orders.work_orders.order_facts import facts_of
from agent_work_orders.work_orders.sandboxes import keep_expired
from agent_work_orders.workflow_engine.run import Run


class Housekeeper:
    def __init__(self, workspaces: Workspaces, context: LiveContext) -> None:
        self._workspaces = workspaces
        self._context = context
        self._log = context.log
        self._going: set[asyncio.Task[None]] = set()

    def observe(self, change: Change) -> None:
        run = change.after
        if run.parent is None and run.stage == "ended" and change.before.stage != "ended":
            task = asyncio.get_running_loop().create_task(self._tidy(run))
            self._going.add(task)
            task.add_done_callback(self._going.discard)

    async def reap(self, sandboxes: Sandboxes, open_orders: set[str], now_ms: int) -> None:
        """Remove what no order needs any more; what cannot be removed is said. Workspaces of orders
        that are damaged stay, and those of orders that the journal does not know are set aside:
        they may be all that is left of acknowledged work. What expires of an
        open order is kept first."""
        damaged = set[str]()
        for order_id in set(await sandboxes.orders()) - open_orders:
            try:
                known = await self._context.runs.run(order_id) is not None
            except Conflict:
                damaged.add(order_id)
            else:
                for place in () if known else await sandboxes.set_aside(order_id):
                    told = {"order": order_id, "to": place}
                    self._log("", "workspace_set_aside", "warning", told)
        wanted = open_orders | damaged
        if not await keep_expired(self._context, wanted, now_ms):
            now_ms = 0  # none has expired until all can be kept
        await sandboxes.reap(wanted, now_ms)
        for identifier in sandboxes.unremoved:
            self._log("", "sandbox_cleanup_failed", "warning", {"sandbox_identifier": identifier})

    async def finish(self) -> None:
        if self._going:
            await asyncio.wait(self._going)

    async def _tidy(self, run: Run) -> None:
        await self._close(run.run_id)
        await self._leave(run)

    async def _leave(self, run: Run) -> None:
        """An order that begins meanwhile finds its login refused, and gets another."""
        logins, order = self._context.mirrors.git.logins, facts_of(run)
        others = {order_of(run_id) for run_id in await self._context.runs.open_runs()} - {
            run.run_id
        }
        records = [await self._context.store.records.get(one) for one in others]
        busy = any(one is not None and one.repository == order.repository for one in records)
        if logins is not None and not busy:
            await logins.done(order.repository_url)

    async def _close(self, order_id: str) -> None:
        """Its commits stay in the mirror. What cannot be removed now goes at the next start."""
        try:
            if await self._workspaces.close(order_id):
                self._log(order_id, "sandbox_cleanup_completed", "info", {})
        except (Failed, OSError) as error:
            self._log(order_id, "sandbox_cleanup_failed", "warning", {"error": str(error)})

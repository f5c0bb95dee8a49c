"""All types of sandbox behind one door: who makes which, and one register over all of them.

A new type is a folder beside `local/` and a line here.
"""

from __future__ import annotations

from pathlib import Path

from agent_work_orders.clock import Clock
from agent_work_orders.errors import Environmental, Refused
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.sandbox_manager.bubblewrap.sandboxes import BoxedSandboxes, BoxOptions
from agent_work_orders.sandbox_manager.container.containers import (
    ContainerOptions,
    container_places,
)
from agent_work_orders.sandbox_manager.local.agent_user import AgentUsers
from agent_work_orders.sandbox_manager.sandbox import (
    Isolation,
    Record,
    Sandbox,
    Sandboxes,
    Spec,
    State,
)
from agent_work_orders.sandbox_manager.sandbox_types import SANDBOX_TYPES, SandboxType
from agent_work_orders.sandbox_manager.workspace_lock import WorkspaceLocks

NOWHERE = State(exists=False, workspace=None, head_sha=None, disk_bytes=None)


class SandboxFactory:
    """See sandbox.Sandboxes for the contract. An order has sandboxes of one type, so what is asked
    by its id is asked of each implementation, and at most one has an answer."""

    def __init__(
        self,
        home: Path,
        mirrors: Mirrors,
        clock: Clock,
        *,
        users: AgentUsers | None = None,
        boxes: BoxOptions | None = None,
        containers: ContainerOptions | None = None,
    ) -> None:
        self.mirrors = mirrors
        self.locks = WorkspaceLocks()
        self.unremoved: list[str] = []
        local = BoxedSandboxes(
            home,
            mirrors,
            clock,
            users=users,
            locks=self.locks,
            options=boxes,
            beside=container_places(containers),
        )
        self._makers: dict[SandboxType, Sandboxes] = {
            "git_branch": local,
            "git_worktree": local,
            "bubblewrap": local,
            "container": local,
        }
        self._all = tuple(dict.fromkeys(self._makers.values()))

    def isolation(self, sandbox_type: SandboxType) -> Isolation:
        return self._maker(sandbox_type).isolation(sandbox_type)

    async def problem(self, sandbox_type: SandboxType) -> Environmental | None:
        return await self._maker(sandbox_type).problem(sandbox_type)

    def open(self, spec: Spec) -> Sandbox:
        """Refused for a type that there is not, or a spec that is malformed."""
        return self._maker(spec.sandbox_type).open(spec)

    async def found(self, order_id: str, part: str = "") -> Sandbox | None:
        for one in self._all:
            if (found := await one.found(order_id, part)) is not None:
                return found
        return None

    async def start(self) -> None:
        for one in self._all:
            await one.start()

    async def sweep(self) -> int:
        return sum([await one.sweep() for one in self._all])

    async def reap(self, open_orders: set[str], now_ms: int) -> list[str]:
        reaped = [name for one in self._all for name in await one.reap(open_orders, now_ms)]
        self.unremoved = [name for one in self._all for name in one.unremoved]
        return reaped

    async def orders(self) -> list[str]:
        return sorted({order_id for one in self._all for order_id in await one.orders()})

    async def set_aside(self, order_id: str) -> list[str]:
        return [place for one in self._all for place in await one.set_aside(order_id)]

    async def discard(self, order_id: str) -> bool:
        return any([await one.discard(order_id) for one in self._all])

    async def state(self, order_id: str, part: str = "") -> State:
        for one in self._all:
            found = await one.state(order_id, part)
            if found.exists:
                return found
        return NOWHERE

    async def records(self) -> list[Record]:
        return [record for one in self._all for record in await one.records()]

    def close(self) -> None:
        for one in self._all:
            one.close()

    def _maker(self, sandbox_type: SandboxType) -> Sandboxes:
        if sandbox_type not in self._makers:
            raise Refused(
                "sandbox_type_unknown",
                f"There is no sandbox type {sandbox_type!r} here",
                hint=f"Use one of {', '.join(SANDBOX_TYPES)}.",
                field="sandbox_type",
            )
        return self._makers[sandbox_type]

"""The local types of sandbox, and those whose programs run in places of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from agent_work_orders.clock import Clock
from agent_work_orders.errors import Environmental
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.sandbox_manager.bubblewrap.boxes import Boxes
from agent_work_orders.sandbox_manager.inside.limits import Limits
from agent_work_orders.sandbox_manager.inside.outlets import Outlets
from agent_work_orders.sandbox_manager.inside.places import Places
from agent_work_orders.sandbox_manager.local.agent_user import AgentUsers
from agent_work_orders.sandbox_manager.local.sandbox_folder import Host
from agent_work_orders.sandbox_manager.local.sandboxes import LocalSandboxes, ProgramsMaker
from agent_work_orders.sandbox_manager.sandbox import Isolation
from agent_work_orders.sandbox_manager.sandbox_types import SandboxType
from agent_work_orders.sandbox_manager.workspace_lock import WorkspaceLocks


class BoxOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the operator decided about boxes. `outlets`: who answers at their ways out."""

    limits: Limits = Limits()
    outlets: Outlets | None = None
    programs: tuple[str, ...] = ()
    """Files that are shown as they are: agents that the server brings along."""


class BoxedSandboxes(LocalSandboxes):
    """Local sandboxes with one type more, whose programs run in boxes."""

    def __init__(
        self,
        home: Path,
        mirrors: Mirrors,
        clock: Clock,
        *,
        users: AgentUsers | None = None,
        locks: WorkspaceLocks | None = None,
        options: BoxOptions | None = None,
        beside: Callable[[Path, Host], Mapping[SandboxType, Places]] = lambda _home, _host: {},
    ) -> None:
        """`beside`: other types whose programs run in places of their own."""
        options = options or BoxOptions()

        def further(host: Host) -> Mapping[SandboxType, ProgramsMaker]:
            self.boxes = Boxes(
                home.resolve(),
                host,
                options.limits,
                outlets=options.outlets,
                programs=options.programs,
            )
            self._places: dict[SandboxType, Places] = {
                "bubblewrap": self.boxes,
                **beside(home.resolve(), host),
            }
            return {name: one.programs for name, one in self._places.items()}

        super().__init__(home, mirrors, clock, users=users, locks=locks, further=further)

    def isolation(self, sandbox_type: SandboxType) -> Isolation:
        places = self._places.get(sandbox_type)
        return super().isolation(sandbox_type) if places is None else places.isolation()

    async def problem(self, sandbox_type: SandboxType) -> Environmental | None:
        places = self._places.get(sandbox_type)
        return None if places is None else await places.problem()

    async def sweep(self) -> int:
        killed = await super().sweep()
        for places in self._places.values():
            await places.sweep()
        return killed

    def close(self) -> None:
        super().close()
        for places in self._places.values():
            places.close()

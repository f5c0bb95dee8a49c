"""The local types of sandbox, and one more whose programs run in boxes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from agent_work_orders.clock import Clock
from agent_work_orders.errors import Environmental
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.sandbox_manager.bubblewrap.box import Outlets
from agent_work_orders.sandbox_manager.bubblewrap.boxes import Boxes
from agent_work_orders.sandbox_manager.bubblewrap.cgroups import Limits
from agent_work_orders.sandbox_manager.bubblewrap.isolation import isolation_of
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
    ) -> None:
        options = options or BoxOptions()

        def further(host: Host) -> Mapping[SandboxType, ProgramsMaker]:
            self.boxes = Boxes(
                home.resolve(),
                host,
                options.limits,
                outlets=options.outlets,
                programs=options.programs,
            )
            return {"bubblewrap": self.boxes.programs}

        super().__init__(home, mirrors, clock, users=users, locks=locks, further=further)

    def isolation(self, sandbox_type: SandboxType) -> Isolation:
        if sandbox_type == "bubblewrap":
            return isolation_of(self.boxes.cgroups.kind, self.boxes.answered)
        return super().isolation(sandbox_type)

    async def problem(self, sandbox_type: SandboxType) -> Environmental | None:
        return await self.boxes.problem() if sandbox_type == "bubblewrap" else None

    async def sweep(self) -> int:
        killed = await super().sweep()
        self.boxes.cgroups.sweep()
        return killed

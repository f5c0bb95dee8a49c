"""All boxes of a server, by the name of the sandbox that they serve."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec

from agent_work_orders.errors import Environmental
from agent_work_orders.sandbox_manager.bubblewrap import arguments, runtime
from agent_work_orders.sandbox_manager.bubblewrap.box import Box, Wiring
from agent_work_orders.sandbox_manager.bubblewrap.cgroups import Cgroups
from agent_work_orders.sandbox_manager.bubblewrap.isolation import isolation_of
from agent_work_orders.sandbox_manager.inside import places, shown
from agent_work_orders.sandbox_manager.inside.limits import Limits
from agent_work_orders.sandbox_manager.inside.outlets import Outlets
from agent_work_orders.sandbox_manager.local import processes
from agent_work_orders.sandbox_manager.local.agent_user import first_closed_folder
from agent_work_orders.sandbox_manager.local.programs import OrderFolder, Programs
from agent_work_orders.sandbox_manager.local.sandbox_folder import Host
from agent_work_orders.sandbox_manager.sandbox import Isolation, WayOut


class Boxes:
    """See inside.places.Places for the contract."""

    def __init__(
        self,
        home: Path,
        host: Host,
        limits: Limits,
        *,
        outlets: Outlets | None = None,
        programs: tuple[str, ...] = (),
    ) -> None:
        self._home = home
        self._host = host
        self._prepared: runtime.Runtime | None = None
        self._outlets = outlets
        self._worked = False
        self._further = programs
        self._tools: tuple[str, ...] | None = None
        self.cgroups = Cgroups(host.tag, limits)
        self._wiring = Wiring(
            supervisor=host.supervisor,
            runtime=self.prepared,
            view=self._view,
            tags=self._tags,
            began=self.cgroups.enter,
            ended=self.cgroups.leave,
            outlets=outlets,
        )
        self._known = places.Known(lambda folder: Box(self._wiring, folder))

    def programs(self, folder: OrderFolder) -> Programs:
        return places.PlacedPrograms(self, self._known, folder)

    def way_out(self, folder: OrderFolder) -> WayOut:
        """Without anybody who answers there is none: not the machine's network either."""
        return WayOut() if self._outlets is None else self._outlets.way_out(folder.spec)

    async def problem(self) -> Environmental | None:
        if not self._worked:
            try:
                await self._try()
            except Environmental as found:
                return found
            self._worked = True
        return None

    async def _try(self) -> None:
        above = shown.runtime_folder(self._home)
        with places.trial(above, self._host.leases, "bubblewrap") as folder:
            box = Box(msgspec.structs.replace(self._wiring, outlets=None), folder)
            try:
                await box.start()
            finally:
                await box.close()

    def isolation(self) -> Isolation:
        return isolation_of(self.cgroups.kind, self._outlets is not None)

    async def sweep(self) -> None:
        self.cgroups.sweep()

    def close(self) -> None:
        """They end with the supervisor."""

    def prepared(self) -> runtime.Runtime:
        """What a box needs of ours; made at the first use. Blocks for a moment then."""
        if self._prepared is None:
            self._prepared = runtime.prepare(self._home)
        return self._prepared

    def path(self) -> str:
        """PATH of programs: what of the server's own is shown to them."""
        tools = self._shown_tools()
        inside = [
            entry
            for entry in dict.fromkeys(self._host.path.split(":"))
            if arguments.is_system(entry) or any(arguments.is_in(entry, tool) for tool in tools)
        ]
        return ":".join(inside)

    def _shown_tools(self) -> tuple[str, ...]:
        if self._tools is None:
            found = arguments.tools_of(self._host.path, os.environ.get("HOME", ""))
            tools = [one for one in found if self._can_be_shown(one)]
            self._tools = (*tools, *(one for one in self._further if os.path.isfile(one)))
        return self._tools

    def _view(self, folder: OrderFolder) -> arguments.View:
        return runtime.view(
            self.prepared(), order=folder.path, mirror=folder.mirror, tools=self._shown_tools()
        )

    def _can_be_shown(self, tool: str) -> bool:
        """There, on a way that agents' users may go, and nothing of ours: neither the data
        directory nor the server's own interpreter and packages."""
        place = Path(tool).resolve()
        ours = (self._home, Path(sys.prefix).resolve())
        if not place.is_dir() or any(_overlap(place, one) for one in ours):
            return False
        users = self._host.leases.users
        return users.own or first_closed_folder(place, users) is None

    def _tags(self, folder: OrderFolder) -> dict[str, str]:
        return {
            "PATH": os.defpath,
            processes.ORDER_TAG: folder.spec.order_id,
            processes.SANDBOX_TAG: folder.spec.name,
            processes.HOME_TAG: self._host.tag,
        }


def _overlap(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)

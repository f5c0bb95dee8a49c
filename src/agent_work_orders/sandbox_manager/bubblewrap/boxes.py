"""All boxes of a server, by the name of the sandbox that they serve."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

from agent_work_orders.sandbox_manager.bubblewrap import arguments, runtime
from agent_work_orders.sandbox_manager.bubblewrap.box import Box, Outlets, Wiring, seen
from agent_work_orders.sandbox_manager.bubblewrap.cgroups import Cgroups, Limits
from agent_work_orders.sandbox_manager.local import processes
from agent_work_orders.sandbox_manager.local.agent_user import first_closed_folder
from agent_work_orders.sandbox_manager.local.programs import OrderFolder, Program, Programs
from agent_work_orders.sandbox_manager.local.sandbox_folder import Host


class Boxes:
    """Makes `Programs` for orders of one server's data directory."""

    def __init__(
        self, home: Path, host: Host, limits: Limits, *, outlets: Outlets | None = None
    ) -> None:
        self._home = home
        self._host = host
        self._prepared: runtime.Runtime | None = None
        self._tools: tuple[str, ...] | None = None
        self._boxes: dict[str, Box] = {}
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

    def programs(self, folder: OrderFolder) -> Programs:
        """Of one sandbox; the same box every time."""
        name = folder.spec.name
        box = self._boxes.get(name)
        if box is None:
            box = self._boxes[name] = Box(self._wiring, folder)
        return _BoxedPrograms(self, name, box, folder)

    def forget(self, name: str, box: Box) -> None:
        if self._boxes.get(name) is box:
            del self._boxes[name]

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
            self._tools = tuple(one for one in found if self._can_be_shown(one))
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


class _BoxedPrograms:
    """See local.programs.Programs for the contract."""

    def __init__(self, boxes: Boxes, name: str, box: Box, folder: OrderFolder) -> None:
        self._boxes = boxes
        self._name = name
        self._box = box
        self._folder = folder

    @property
    def path(self) -> str:
        return self._boxes.path()

    def seen(self, place: Path) -> str:
        return seen(self._folder, place)

    async def spawn(self, program: Program, stdin: int, stdout: int, stderr: int) -> socket.socket:
        return await self._box.spawn(program, stdin, stdout, stderr)

    async def close(self) -> None:
        await self._box.close()
        self._boxes.forget(self._name, self._box)

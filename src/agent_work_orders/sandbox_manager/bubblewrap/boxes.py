"""All boxes of a server, by the name of the sandbox that they serve."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from pathlib import Path

import msgspec

from agent_work_orders.errors import Environmental
from agent_work_orders.ids import new_order_id
from agent_work_orders.sandbox_manager.bubblewrap import arguments, runtime
from agent_work_orders.sandbox_manager.bubblewrap.box import Box, Outlets, Wiring, seen
from agent_work_orders.sandbox_manager.bubblewrap.cgroups import Cgroups, Limits
from agent_work_orders.sandbox_manager.local import descriptor_files, processes
from agent_work_orders.sandbox_manager.local.agent_user import first_closed_folder
from agent_work_orders.sandbox_manager.local.programs import OrderFolder, Program, Programs
from agent_work_orders.sandbox_manager.local.sandbox_folder import Host
from agent_work_orders.sandbox_manager.sandbox import Spec, WayOut


class Boxes:
    """Makes `Programs` for orders of one server's data directory."""

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

    def way_out(self, folder: OrderFolder) -> WayOut:
        """Without anybody who answers there is none: not the machine's network either."""
        return WayOut() if self._outlets is None else self._outlets.way_out(folder.spec)

    async def problem(self) -> Environmental | None:
        """Found out by starting a box, until one could be."""
        if not self._worked:
            try:
                await self._try()
            except Environmental as found:
                return found
            self._worked = True
        return None

    async def _try(self) -> None:
        with tempfile.TemporaryDirectory(prefix=".trial-", dir=self._trials()) as made:
            place = Path(made)
            spec = Spec(
                order_id=new_order_id(),
                sandbox_type="bubblewrap",
                repository="",
                base_sha="",
                branch="",
            )
            leases = self._host.leases
            folder = OrderFolder(path=place, mirror=place, spec=spec, leases=leases)
            uid = leases.hold(place)
            try:
                for name in ("repo", "tmp"):
                    descriptor_files.make_folder(place / name, leases.users.user(uid))
                descriptor_files.let_pass(place, leases.users.user(uid))
                box = Box(msgspec.structs.replace(self._wiring, outlets=None), folder)
                try:
                    await box.start()
                finally:
                    await box.close()
            finally:
                leases.release(place, uid)

    def _trials(self) -> Path:
        place = self._home / "runtime"
        place.mkdir(mode=0o711, exist_ok=True)
        return place

    def forget(self, name: str, box: Box) -> None:
        if self._boxes.get(name) is box:
            del self._boxes[name]

    @property
    def answered(self) -> bool:
        """Whether there is a way out."""
        return self._outlets is not None

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

    @property
    def way_out(self) -> WayOut | None:
        return self._boxes.way_out(self._folder)

    def seen(self, place: Path) -> str:
        return seen(self._folder, place)

    async def spawn(self, program: Program, stdin: int, stdout: int, stderr: int) -> socket.socket:
        return await self._box.spawn(program, stdin, stdout, stderr)

    async def close(self) -> None:
        await self._box.close()
        self._boxes.forget(self._name, self._box)

"""The contract of what starts the programs of one order on its folder: the supervisor of this
machine (`LocalPrograms`), or a box around it (`bubblewrap/`).

A program is given by the host's own paths, and sees what is at them elsewhere: `seen` says where.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from agent_work_orders.repositories import origin as origins
from agent_work_orders.sandbox_manager.local import descriptor_files, files
from agent_work_orders.sandbox_manager.local.agent_user import AgentUser
from agent_work_orders.sandbox_manager.local.leases import Leases
from agent_work_orders.sandbox_manager.local.supervisor_client import Request, SupervisorClient
from agent_work_orders.sandbox_manager.sandbox import Spec, WayOut


class OrderFolder(msgspec.Struct, frozen=True, kw_only=True):
    """Where an order's files are on this machine, and what they borrow from."""

    path: Path
    mirror: Path
    spec: Spec
    leases: Leases

    @property
    def repo(self) -> Path:
        return self.path / "repo"

    @property
    def user(self) -> AgentUser:
        """Whose the work tree is. Never a user that is not for agents: a copy of a data directory
        may belong to anybody."""
        uid = descriptor_files.owner(self.repo)
        if uid is None or uid not in self.leases.users:
            raise files.lost(self.repo)
        return self.leases.users.user(uid)

    @property
    def guarded(self) -> list[str]:
        """A local origin's folders: no program of the order may write there."""
        return origins.folders_of(self.spec.origin) if self.spec.origin else []


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """`below`: names from `cwd` on, none of them a link. `directory`: one of the order's that only
    this program needs. `borrowing`: whether it reads the mirror."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    below: Sequence[str] = ()
    directory: Path | None = None
    borrowing: bool


class Programs(Protocol):
    @property
    def path(self) -> str:
        """PATH of the order's programs, unless they are given another. Empty: that of the place
        where they run, which only it knows."""
        ...

    @property
    def way_out(self) -> WayOut | None:
        """See Sandbox."""
        ...

    def seen(self, place: Path) -> str:
        """Where programs see a folder or file of the order, or of its mirror."""
        ...

    async def spawn(self, program: Program, stdin: int, stdout: int, stderr: int) -> socket.socket:
        """Start it; the answer is its control socket, on which supervisor.py's words come. The
        descriptors stay the caller's. Environmental `sandbox_setup_failed`,
        `sandbox_isolation_unavailable`: nothing was started."""
        ...

    async def close(self) -> None:
        """End all programs, before the folder is removed. Repeating is harmless."""
        ...


class LocalPrograms:
    """Each execution is one of the supervisor's, in namespaces where the kernel gives them."""

    way_out: WayOut | None = None

    def __init__(self, supervisor: SupervisorClient, folder: OrderFolder, path: str) -> None:
        self._supervisor = supervisor
        self.path = path
        self._folder = folder

    def seen(self, place: Path) -> str:
        return str(place)

    async def spawn(self, program: Program, stdin: int, stdout: int, stderr: int) -> socket.socket:
        folder = self._folder
        shown = [(str(folder.path / name), True) for name in ("repo", "home", "tmp")]
        if program.borrowing:
            shown.append((str(folder.mirror), False))
        if program.directory is not None and not program.directory.is_relative_to(folder.repo):
            shown.append((str(program.directory), True))
        request = Request(
            argv=program.argv,
            env=program.env,
            cwd=str(program.cwd),
            below=program.below,
            user=folder.user,
            shown=shown,
            guarded=folder.guarded,
            temporary=str(folder.path / "tmp"),
        )
        return await self._supervisor.spawn(request, stdin, stdout, stderr)

    async def close(self) -> None:
        """Each ends with its execution."""

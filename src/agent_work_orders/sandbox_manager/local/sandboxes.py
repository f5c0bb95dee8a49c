"""The factory of local sandboxes, and what a restart or the passing of time takes away."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from agent_work_orders.clock import Clock
from agent_work_orders.errors import Environmental, Failed
from agent_work_orders.ids import ORDER_ID
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.repositories.refname import check_branch, check_order, check_sha
from agent_work_orders.sandbox_manager.local import descriptor_trees, processes
from agent_work_orders.sandbox_manager.local.agent_user import AgentUsers, agent_users
from agent_work_orders.sandbox_manager.local.leases import Leases
from agent_work_orders.sandbox_manager.local.programs import LocalPrograms, OrderFolder, Programs
from agent_work_orders.sandbox_manager.local.protection import Case, Protection, describe, isolation
from agent_work_orders.sandbox_manager.local.register import Register, check_name, order_in
from agent_work_orders.sandbox_manager.local.sandbox import LocalSandbox, found_state
from agent_work_orders.sandbox_manager.local.sandbox_folder import Host, SandboxFolder
from agent_work_orders.sandbox_manager.local.supervisor_client import SupervisorClient
from agent_work_orders.sandbox_manager.sandbox import Isolation, Record, Spec, State, sandbox_name
from agent_work_orders.sandbox_manager.sandbox_types import SandboxType
from agent_work_orders.sandbox_manager.workspace_lock import WorkspaceLocks

ProgramsMaker = Callable[[OrderFolder], Programs]

LOST = "lost"
"""Of the data directory: what belongs to nobody that the journal knows."""
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class LocalSandboxes:
    """Sandboxes below a data directory. Call `sweep` before anything else, `close` at the end.

    The data directory becomes enterable but not readable for others (0711): what is secret in it
    needs a mode of its own.
    """

    def __init__(
        self,
        home: Path,
        mirrors: Mirrors,
        clock: Clock,
        *,
        users: AgentUsers | None = None,
        path: str | None = None,
        namespaces: Literal["auto", "off"] = "auto",
        locks: WorkspaceLocks | None = None,
        further: Callable[[Host], Mapping[SandboxType, ProgramsMaker]] = lambda _host: {},
    ) -> None:
        """`further`: types that start programs in another way on the same folders."""
        home.mkdir(parents=True, exist_ok=True)
        self._home = home.resolve()
        self._folder = self._home / "workspaces"
        self._folder.mkdir(exist_ok=True)
        for folder in (self._home, self._folder):
            folder.chmod(0o711)
        self.mirrors = mirrors
        self.locks = locks or WorkspaceLocks()
        self._register = Register(self._home / "sandboxes")
        tag = processes.home_tag(self._home)
        who = users or agent_users()
        self._host = Host(
            supervisor=SupervisorClient(self._home, who, tag, namespaces),
            clock=clock,
            leases=Leases(who),
            tag=tag,
            path=path or os.environ.get("PATH") or DEFAULT_PATH,
            git=mirrors.git.executable,
        )
        self._programs: dict[SandboxType, ProgramsMaker] = {
            "git_branch": self._local_programs,
            "git_worktree": self._local_programs,
            **further(self._host),
        }
        self.unremoved: list[str] = []

    def _local_programs(self, folder: OrderFolder) -> Programs:
        return LocalPrograms(self._host.supervisor, folder, self._host.path)

    def open(self, spec: Spec) -> LocalSandbox:
        """The sandbox of an order; nothing is made before `setup`. Refused for a spec with a
        malformed id, commit or branch."""
        check_name(spec.name)
        check_sha(spec.base_sha, field="base_sha")
        check_branch(spec.branch, field="branch")
        mirror = self.mirrors.at(spec.repository)
        place = OrderFolder(
            path=self._folder / spec.name,
            mirror=mirror.path,
            spec=spec,
            leases=self._host.leases,
        )
        programs = self._programs[spec.sandbox_type](place)
        index_path = self._register.index_path(spec.name)
        folder = SandboxFolder(self._host, place, mirror, index_path, programs)
        return LocalSandbox(folder, spec, self._register)

    async def found(self, order_id: str, part: str = "") -> LocalSandbox | None:
        check_order(order_id)
        entry = await asyncio.to_thread(self._register.get, sandbox_name(order_id, part))
        return None if entry is None else self.open(entry.spec)

    async def start(self) -> None:
        """Start the supervisor early, so that the first sandbox does not wait for it."""
        await self._host.supervisor.start()

    async def sweep(self) -> int:
        leases = self._host.leases
        uids = await asyncio.to_thread(leases.held_below, self._folder)
        killed = await asyncio.to_thread(processes.kill_tagged, self._host.tag, uids=uids)
        await asyncio.to_thread(leases.sweep)
        return killed

    async def reap(self, open_orders: set[str], now_ms: int) -> list[str]:
        reaped: list[str] = []
        self.unremoved = []
        for entry in self._register.all():
            record, name = entry.record, entry.spec.name
            wanted = record.order_id in open_orders and record.expires_at_ms > now_ms
            gone = record.status == "TERMINATED" and not (self._folder / name).exists()
            if wanted or gone or self.locks.in_use(name):
                continue
            try:
                await self._discard(entry.spec)
            except (Failed, OSError):
                self.unremoved.append(record.sandbox_identifier)
            else:
                reaped.append(record.sandbox_identifier)
        known = {entry.spec.name for entry in self._register.all()}
        for folder in self._folder.iterdir():
            if folder.name not in known and order_in(folder.name) not in open_orders:
                try:
                    await asyncio.to_thread(descriptor_trees.remove, folder)
                except OSError:
                    self.unremoved.append(folder.name)
                else:
                    reaped.append(folder.name)
        return reaped

    async def orders(self) -> list[str]:
        found = {order_in(folder.name) for folder in self._folder.iterdir()}
        return sorted(name for name in found if ORDER_ID.fullmatch(name))

    async def set_aside(self, order_id: str) -> list[str]:
        """By renaming: what an agent wrote is neither read nor followed."""
        place = self._home / LOST / "workspaces"
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        moved: list[str] = []
        for folder in self._folder.iterdir():
            if order_in(folder.name) == order_id:
                target, number = place / folder.name, 1
                while target.exists():
                    number += 1
                    target = place / f"{folder.name}.{number}"
                folder.rename(target)
                moved.append(str(target))
        return moved

    async def discard(self, order_id: str) -> bool:
        names = [folder.name for folder in self._folder.iterdir()]
        found = [self._register.get(name) for name in names if order_in(name) == order_id]
        for entry in found:
            if entry is not None:
                await self._discard(entry.spec)
        return bool(found)

    async def _discard(self, spec: Spec) -> None:
        async with self.locks.alone(spec.name):
            await self.open(spec).cleanup()

    async def state(self, order_id: str, part: str = "") -> State:
        repo = self.workspace(order_id, part)
        entry = await asyncio.to_thread(self._register.get, repo.parent.name)
        return found_state(entry, repo)

    def workspace(self, order_id: str, part: str = "") -> Path:
        """Where its work tree is, or would be."""
        check_order(order_id)
        return self._folder / check_name(sandbox_name(order_id, part)) / "repo"

    async def records(self) -> list[Record]:
        entries = await asyncio.to_thread(self._register.all)
        return [msgspec.structs.replace(one.record, part=one.spec.part) for one in entries]

    def protection(self) -> Protection:
        """What is and what is not separated here. Known after `start`."""
        return describe(self._case())

    async def problem(self, sandbox_type: SandboxType) -> Environmental | None:
        """What there is can always be used."""
        return None

    def isolation(self, sandbox_type: SandboxType) -> Isolation:
        return isolation(self._case(), sandbox_type)

    def _case(self) -> Case:
        supervisor, users = self._host.supervisor, self._host.leases.users
        return Case(
            root=not users.own,
            users=users.words(),
            shared=users.shared,
            namespaces=bool(supervisor.namespaces),
            guards=supervisor.guards,
            private=supervisor.private,
            scoped=supervisor.scoped,
        )

    def close(self) -> None:
        """End the supervisor and with it everything that runs."""
        self._host.supervisor.close()

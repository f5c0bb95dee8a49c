"""All containers of a server, by the name of the sandbox that they serve."""

from __future__ import annotations

import asyncio
import contextlib
import resource
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from agent_work_orders.errors import Environmental
from agent_work_orders.sandbox_manager.container.configuration import (
    HOME_LABEL,
    ORDER_LABEL,
    SANDBOX_LABEL,
    Wanted,
    configuration,
)
from agent_work_orders.sandbox_manager.container.container import Container, Wiring
from agent_work_orders.sandbox_manager.container.engine import Engine
from agent_work_orders.sandbox_manager.container.image import Image
from agent_work_orders.sandbox_manager.container.isolation import isolation_of
from agent_work_orders.sandbox_manager.inside import places, shown
from agent_work_orders.sandbox_manager.inside.limits import Limits
from agent_work_orders.sandbox_manager.inside.outlets import Outlets
from agent_work_orders.sandbox_manager.inside.places import unavailable
from agent_work_orders.sandbox_manager.local.programs import OrderFolder, Programs
from agent_work_orders.sandbox_manager.local.sandbox_folder import Host
from agent_work_orders.sandbox_manager.sandbox import Isolation, WayOut
from agent_work_orders.sandbox_manager.sandbox_types import SandboxType

# More than a build opens at once; browsers and databases want this many.
OPEN_FILES = 65_536
# The kernel's usual number of processes, and all that Podman gives itself.
ALL_PROCESSES = 32_768


class ContainerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the operator decided about containers. `sockets`: of the engines, all of which see this
    machine's files. `outlets`: who answers at the ways out."""

    sockets: Sequence[str] = ()
    image: str = ""
    archive: str = ""
    limits: Limits = Limits()
    outlets: Outlets | None = None


class Containers:
    """See inside.places.Places for the contract."""

    def __init__(self, home: Path, host: Host, options: ContainerOptions) -> None:
        self._home = home
        self._host = host
        self._options = options
        self._engines = [Engine(path) for path in options.sockets]
        self._image = Image(options.image, options.archive)
        self._worked = False
        self._wiring = Wiring(
            choose=self._choose, configured=self._configured, outlets=options.outlets
        )
        self._known = places.Known(lambda folder: Container(self._wiring, folder))

    def programs(self, folder: OrderFolder) -> Programs:
        return places.PlacedPrograms(self, self._known, folder)

    def path(self) -> str:
        """That of the image: inner.py has it."""
        return ""

    def way_out(self, folder: OrderFolder) -> WayOut:
        """Without anybody who answers there is none: not the machine's network either."""
        outlets = self._options.outlets
        return WayOut() if outlets is None else outlets.way_out(folder.spec)

    def isolation(self) -> Isolation:
        return isolation_of(self._options.limits, self._options.outlets is not None)

    async def problem(self) -> Environmental | None:
        if not self._worked:
            try:
                await self._try()
            except Environmental as found:
                return found
            self._worked = True
        return None

    async def sweep(self) -> None:
        living = {one.container_id for one in self._known.all()}
        for engine in self._engines:
            with contextlib.suppress(Environmental):
                for one in await engine.listed(f"{HOME_LABEL}={self._host.tag}"):
                    if one.container_id not in living:
                        await engine.remove(one.container_id)

    def close(self) -> None:
        """The next server removes what is left of them."""
        for container in self._known.all():
            container.hang_up()

    async def _try(self) -> None:
        above = shown.runtime_folder(self._home)
        with places.trial(above, self._host.leases, "container") as folder:
            wiring = msgspec.structs.replace(self._wiring, outlets=None)
            container = Container(wiring, folder)
            try:
                await container.start()
            finally:
                await container.close()

    async def _choose(self) -> Engine:
        """The one with the fewest containers of ours, of those that answer."""
        if not self._engines:
            raise unavailable(
                "no container engine is named",
                "Set AWO_CONTAINER_SOCKETS to the socket of Docker (/var/run/docker.sock) or "
                "Podman (/run/podman/podman.sock).",
            )
        loads: list[tuple[int, int]] = []
        silent: Environmental | None = None
        for number, engine in enumerate(self._engines):
            try:
                loads.append((len(await engine.listed(HOME_LABEL)), number))
            except Environmental as error:
                silent = error
        if not loads:
            assert silent is not None
            raise silent
        return self._engines[min(loads)[1]]

    async def _configured(
        self, engine: Engine, folder: OrderFolder
    ) -> tuple[str, Mapping[str, Any]]:
        """Its name, and what it is made of."""
        image, inside = await self._image.on(engine), await asyncio.to_thread(self._shown)
        limits, users = self._options.limits, self._host.leases.users
        # The kernel counts a user's processes wherever they are: of a shared one, all others too.
        most = ALL_PROCESSES if users.shared else limits.processes
        wanted = Wanted(
            image=image,
            order=str(folder.path),
            mirror=str(folder.mirror),
            runtime=str(inside),
            user=await self._user(engine, folder),
            labels={
                HOME_LABEL: self._host.tag,
                ORDER_LABEL: folder.spec.order_id,
                SANDBOX_LABEL: folder.spec.name,
            },
            limits=limits,
            open_files=_within(resource.RLIMIT_NOFILE, OPEN_FILES),
            processes_of_user=_within(resource.RLIMIT_NPROC, most),
            outlet=self._wiring.outlets is not None,
        )
        return f"awo-{self._host.tag}-{folder.spec.name}", configuration(wanted)

    async def _user(self, engine: Engine, folder: OrderFolder) -> str:
        """Whom its programs run as: whose the order's files are."""
        if await engine.own_users():
            raise unavailable(
                f"the engine at {engine.path} has users of its own (rootless, or userns-remap), "
                "who do not own the order's files",
                "Name the socket of an engine that runs as root, without userns-remap, in "
                "AWO_CONTAINER_SOCKETS.",
            )
        return f"{folder.user.uid}:{folder.user.gid}"

    def _shown(self) -> Path:
        files = {"inner.py": shown.inner(), "filter": shown.Entry(content=shown.refusals())}
        return shown.keep(self._home, files)


def container_places(
    options: ContainerOptions | None,
) -> Callable[[Path, Host], Mapping[SandboxType, places.Places]]:
    """What makes the type, for a data directory."""
    return lambda home, host: {"container": Containers(home, host, options or ContainerOptions())}


def _within(limit: int, wanted: int) -> int:
    """Never more than the server itself may have: an engine beside it can hardly give more."""
    most = resource.getrlimit(limit)[1]
    return wanted if most == resource.RLIM_INFINITY else min(wanted, most)

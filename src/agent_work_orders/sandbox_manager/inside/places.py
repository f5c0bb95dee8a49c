"""The contract of one type of sandbox whose programs run in places of their own, and what is the
same for all of them."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from agent_work_orders.errors import Environmental
from agent_work_orders.ids import new_order_id
from agent_work_orders.sandbox_manager.inside.channel import Place, spawn
from agent_work_orders.sandbox_manager.inside.paths import seen
from agent_work_orders.sandbox_manager.local import descriptor_files
from agent_work_orders.sandbox_manager.local.leases import Leases
from agent_work_orders.sandbox_manager.local.programs import OrderFolder, Program, Programs
from agent_work_orders.sandbox_manager.sandbox import Isolation, Spec, WayOut
from agent_work_orders.sandbox_manager.sandbox_types import SandboxType

P = TypeVar("P", bound=Place)


class Places(Protocol):
    """All places of a server, of one type."""

    def programs(self, folder: OrderFolder) -> Programs:
        """Of one sandbox; the same place every time."""
        ...

    def isolation(self) -> Isolation: ...

    async def problem(self) -> Environmental | None:
        """Why none can be made here; None when one can. Found out by making one."""
        ...

    async def sweep(self) -> None:
        """Remove what a server that was killed left behind. What cannot be asked stops nothing."""
        ...

    def close(self) -> None:
        """End everything that runs, once the supervisor has ended."""
        ...


class Shared(Protocol):
    """What one sandbox's programs ask of all."""

    def path(self) -> str: ...

    def way_out(self, folder: OrderFolder) -> WayOut: ...


class Known(Generic[P]):
    """The places there are, by the name of the sandbox that they serve. Whoever opens a sandbox
    again, also to remove it, has the same place."""

    def __init__(self, make: Callable[[OrderFolder], P]) -> None:
        self._make = make
        self._places: dict[str, P] = {}

    def of(self, folder: OrderFolder) -> P:
        """Made where there is none yet, but not started."""
        name = folder.spec.name
        if name not in self._places:
            self._places[name] = self._make(folder)
        return self._places[name]

    async def close(self, folder: OrderFolder) -> None:
        place = self._places.get(folder.spec.name)
        if place is not None:
            await place.close()
            self._places.pop(folder.spec.name, None)

    def all(self) -> list[P]:
        return list(self._places.values())


class PlacedPrograms(Generic[P]):
    """See local.programs.Programs for the contract."""

    def __init__(self, shared: Shared, known: Known[P], folder: OrderFolder) -> None:
        self._shared = shared
        self._known = known
        self._folder = folder

    @property
    def path(self) -> str:
        return self._shared.path()

    @property
    def way_out(self) -> WayOut | None:
        return self._shared.way_out(self._folder)

    def seen(self, place: Path) -> str:
        return seen(self._folder, place)

    async def spawn(self, program: Program, stdin: int, stdout: int, stderr: int) -> socket.socket:
        place = self._known.of(self._folder)
        return await spawn(place, self._folder, program, stdin, stdout, stderr)

    async def close(self) -> None:
        await self._known.close(self._folder)


@contextmanager
def trial(above: Path, leases: Leases, sandbox_type: SandboxType) -> Iterator[OrderFolder]:
    """A folder like an order's, to try a place on. Blocks for a moment."""
    with tempfile.TemporaryDirectory(prefix=".trial-", dir=above) as made:
        place = Path(made)
        spec = Spec(
            order_id=new_order_id(),
            sandbox_type=sandbox_type,
            repository="",
            base_sha="",
            branch="",
        )
        uid = leases.hold(place)
        try:
            for name in ("repo", "tmp"):
                descriptor_files.make_folder(place / name, leases.users.user(uid))
            descriptor_files.let_pass(place, leases.users.user(uid))
            yield OrderFolder(path=place, mirror=place, spec=spec, leases=leases)
        finally:
            leases.release(place, uid)


def unavailable(reason: str, hint: str) -> Environmental:
    return Environmental(
        "sandbox_isolation_unavailable",
        f"The sandbox cannot isolate here: {reason}",
        hint=hint,
    )

"""One box: a `bwrap` that the supervisor watches over, with inner.py in it, on one order's folder.

The supervisor starts it like any program of the order: as the order's own user, never as root, with
the data directory covered, dead when the server dies. So real root never comes near `bwrap`.
A box is started at the first program, serves all of them, and is started again when it was lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable, Iterator

import msgspec

from agent_work_orders.errors import Environmental, Failed
from agent_work_orders.repositories.failure import end_of_stderr
from agent_work_orders.sandbox_manager.bubblewrap import arguments
from agent_work_orders.sandbox_manager.bubblewrap.runtime import Runtime
from agent_work_orders.sandbox_manager.inside import paths
from agent_work_orders.sandbox_manager.inside.channel import first_word
from agent_work_orders.sandbox_manager.inside.outlets import Outlets as Outlets
from agent_work_orders.sandbox_manager.inside.places import unavailable
from agent_work_orders.sandbox_manager.local.programs import OrderFolder
from agent_work_orders.sandbox_manager.local.supervisor_client import Request, SupervisorClient

END_TIMEOUT_S = 10.0
_STDERR_BYTES = 65_536
CHANNEL_FD, STDERR_FD, FILTER_FD, ARGUMENTS_FD = 0, 2, 1, 3
"""Of what bwrap inherits. Its arguments are none that a process of the box could read."""


class Wiring(msgspec.Struct, frozen=True, kw_only=True):
    """What a server's boxes share. `view` says what of this machine one sees; `began` and `ended`
    are told of the process that all of a box is below."""

    supervisor: SupervisorClient
    runtime: Callable[[], Runtime]
    view: Callable[[OrderFolder], arguments.View]
    tags: Callable[[OrderFolder], dict[str, str]]
    began: Callable[[OrderFolder, int], None]
    ended: Callable[[OrderFolder], None]
    outlets: Outlets | None = None
    """None: there is no way out at all."""


class Box:
    """See inside.channel.Place for the contract."""

    def __init__(self, wiring: Wiring, folder: OrderFolder) -> None:
        self._wiring = wiring
        self._folder = folder
        self._starting = asyncio.Lock()
        self._channel: socket.socket | None = None
        self._control: socket.socket | None = None
        self._dead = asyncio.Event()
        self._end_outlet: Callable[[], None] | None = None

    @property
    def channel(self) -> socket.socket | None:
        return self._channel

    async def start(self) -> None:
        async with self._starting:
            if self._channel is not None and not self._dead.is_set():
                return
            await self._ended()
            await self._begin()

    async def close(self) -> None:
        if self._control is not None and not self._dead.is_set():
            with contextlib.suppress(OSError):
                self._control.send(b"K")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(END_TIMEOUT_S):
                    await self._dead.wait()
        await self._ended()

    async def _begin(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        said = os.memfd_create("stderr", os.MFD_CLOEXEC)
        try:
            runtime = await asyncio.to_thread(self._wiring.runtime)
            words = self._arguments()
            with theirs, _memory(runtime.seccomp) as rules, _memory(words) as argv:
                fds = {CHANNEL_FD: theirs.fileno(), FILTER_FD: rules, STDERR_FD: said}
                control = await self._wiring.supervisor.spawn_watched(
                    self._request(runtime),
                    [fd for _, fd in sorted({**fds, ARGUMENTS_FD: argv}.items())],
                    self._tell_began,
                )
            self._control = control
            self._dead = asyncio.Event()
            asyncio.get_running_loop().add_reader(control.fileno(), self._heard, control)
            listener = await self._ready(ours, said)
        except BaseException:
            ours.close()
            await self._ended()
            raise
        finally:
            os.close(said)
        self._channel = ours
        if listener is not None:
            assert self._wiring.outlets is not None
            self._end_outlet = self._wiring.outlets.serve(self._folder.spec, listener)

    def _tell_began(self, pid: int) -> None:
        self._wiring.began(self._folder, pid)

    def _arguments(self) -> bytes:
        said = arguments.arguments(self._wiring.view(self._folder), seccomp=FILTER_FD)
        return b"".join(os.fsencode(word) + b"\0" for word in said)

    def _request(self, runtime: Runtime) -> Request:
        folder = self._folder
        inner = [runtime.python, "-I", "-S", f"{paths.RUNTIME}/inner.py"]
        outlet = ["outlet"] if self._wiring.outlets is not None else []
        return Request(
            argv=[runtime.bwrap, "--args", str(ARGUMENTS_FD), "--", *inner, *outlet],
            env=self._wiring.tags(folder),
            cwd="/",
            user=folder.user,
            shown=[
                (str(folder.path), True),
                (str(folder.mirror), False),
                (runtime.folder, False),
            ],
            temporary="",
        )

    def _heard(self, control: socket.socket) -> None:
        """Its end: with it, all are dead. What it says before is of no use: a program's end is
        told on a socket of its own."""
        try:
            if control.recv(4096):
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        asyncio.get_running_loop().remove_reader(control.fileno())
        self._dead.set()

    async def _ready(self, ours: socket.socket, said: int) -> socket.socket | None:
        try:
            return await first_word(ours, self._dead)
        except TimeoutError:
            raise unavailable("it did not start in time", "Look at the machine's load.") from None
        except ConnectionError:
            raise _explained(os.pread(said, _STDERR_BYTES, 0)) from None

    async def _ended(self) -> None:
        """Forget one that is gone."""
        if self._end_outlet is not None:
            self._end_outlet()
            self._end_outlet = None
        ours, self._channel = self._channel, None
        control, self._control = self._control, None
        if ours is not None:
            ours.close()
        if control is not None:
            if not self._dead.is_set():
                asyncio.get_running_loop().remove_reader(control.fileno())
                self._dead.set()
            control.close()
            self._wiring.ended(self._folder)


@contextlib.contextmanager
def _memory(content: bytes) -> Iterator[int]:
    fd = os.memfd_create("content", os.MFD_CLOEXEC)
    try:
        os.write(fd, content)
        os.lseek(fd, 0, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)


_SIGNS = (
    (b"No permissions to create new namespace", "user namespaces are not allowed here"),
    (b"setting up uid map", "user namespaces are not allowed here"),
    (b"Creating new namespace failed", "user namespaces are not allowed here"),
    (b"Can't mount proc", "this container does not let programs have a /proc of their own"),
)


def _explained(said: bytes) -> Failed:
    for sign, reason in _SIGNS:
        if sign in said:
            return unavailable(
                reason,
                "Allow unprivileged user namespaces (kernel.unprivileged_userns_clone=1, "
                "kernel.apparmor_restrict_unprivileged_userns=0), or in a container run it with "
                "them. Until then choose another type of sandbox.",
            )
    return Environmental(
        "sandbox_setup_failed",
        f"The sandbox could not be started: {end_of_stderr(said) or 'it said nothing'}",
        hint="The words of bwrap above say what it missed.",
    )

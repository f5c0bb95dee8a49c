"""One box: a `bwrap` that the supervisor watches over, with inner.py in it, on one order's folder.

The supervisor starts it like any program of the order: as the order's own user, never as root, with
the data directory covered, dead when the server dies. So real root never comes near `bwrap`.
A box is started at the first program, serves all of them, and is started again when it was lost.
"""

from __future__ import annotations

import array
import asyncio
import contextlib
import marshal
import os
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import msgspec

from agent_work_orders.errors import Environmental, Failed
from agent_work_orders.repositories.failure import end_of_stderr
from agent_work_orders.sandbox_manager.bubblewrap import arguments
from agent_work_orders.sandbox_manager.bubblewrap.runtime import Runtime, unavailable
from agent_work_orders.sandbox_manager.local.programs import OrderFolder, Program
from agent_work_orders.sandbox_manager.local.supervisor_client import Request, SupervisorClient
from agent_work_orders.sandbox_manager.sandbox import Spec, WayOut

# bwrap and the interpreter take 40 ms on an idle machine; on one that thrashes, a thousand times.
START_TIMEOUT_S = 30.0
END_TIMEOUT_S = 10.0
_STDERR_BYTES = 65_536
CHANNEL_FD, STDERR_FD, FILTER_FD, ARGUMENTS_FD = 0, 2, 1, 3
"""Of what bwrap inherits. Its arguments are none that a process of the box could read."""


class Outlets(Protocol):
    """Who answers at the ways out of boxes."""

    def way_out(self, spec: Spec) -> WayOut:
        """What programs of a sandbox are told of theirs; the same as long as the server lives."""
        ...

    def serve(self, spec: Spec, listener: socket.socket) -> Callable[[], None]:
        """Answer at a box's listening socket, from now on, until what is returned is called."""
        ...


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
    """Not safe for two orders; for two programs of one order it is."""

    def __init__(self, wiring: Wiring, folder: OrderFolder) -> None:
        self._wiring = wiring
        self._folder = folder
        self._starting = asyncio.Lock()
        self._channel: socket.socket | None = None
        self._control: socket.socket | None = None
        self._dead = asyncio.Event()
        self._end_outlet: Callable[[], None] | None = None

    @property
    def alive(self) -> bool:
        return self._channel is not None and not self._dead.is_set()

    async def start(self) -> None:
        """Environmental `sandbox_setup_failed` with the last words of `bwrap`."""
        async with self._starting:
            if self.alive:
                return
            await self._ended()
            await self._begin()

    async def spawn(self, program: Program, stdin: int, stdout: int, stderr: int) -> socket.socket:
        """Once more where the box turns out to be gone before anything of the program ran."""
        await self.start()
        with contextlib.suppress(OSError):
            control = self._send(program, stdin, stdout, stderr)
            if await _answers(control):
                return control
            control.close()
        await self.close()
        await self.start()
        return self._send(program, stdin, stdout, stderr)

    async def close(self) -> None:
        """All that runs in it is dead afterwards."""
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
            listener = await self._ready(ours, control, said)
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
        inner = [runtime.python, "-I", "-S", f"{arguments.RUNTIME}/inner.py"]
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

    async def _ready(
        self, ours: socket.socket, control: socket.socket, said: int
    ) -> socket.socket | None:
        """Wait for inner.py's first word. Its listening socket, if it has one."""
        ours.setblocking(False)
        loop = asyncio.get_running_loop()
        readable = asyncio.Event()
        loop.add_reader(ours.fileno(), readable.set)
        speaking = loop.create_task(readable.wait())
        dying = loop.create_task(self._dead.wait())
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                await asyncio.wait({speaking, dying}, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            raise unavailable("it did not start in time", "Look at the machine's load.") from None
        finally:
            loop.remove_reader(ours.fileno())
            speaking.cancel()
            dying.cancel()
        word = b""
        fds: list[int] = []
        with contextlib.suppress(OSError):
            word, fds, _, _ = socket.recv_fds(ours, 16, 1, socket.MSG_CMSG_CLOEXEC)
        if word != b"ready":
            raise _explained(os.pread(said, _STDERR_BYTES, 0))
        ours.setblocking(True)
        return socket.socket(fileno=fds[0]) if fds else None

    async def _ended(self) -> None:
        """Forget one that is gone."""
        if self._end_outlet is not None:
            self._end_outlet()
            self._end_outlet = None
        channel, self._channel = self._channel, None
        control, self._control = self._control, None
        if channel is not None:
            channel.close()
        if control is not None:
            if not self._dead.is_set():
                asyncio.get_running_loop().remove_reader(control.fileno())
                self._dead.set()
            control.close()
            self._wiring.ended(self._folder)

    def _send(self, program: Program, stdin: int, stdout: int, stderr: int) -> socket.socket:
        if self._channel is None:
            raise OSError("the box is gone")
        request = {
            "argv": list(program.argv),
            "env": dict(program.env),
            "cwd": seen(self._folder, program.cwd),
            "below": list(program.below),
        }
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            fds = array.array("i", [theirs.fileno(), stdin, stdout, stderr])
            try:
                self._channel.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
                body = marshal.dumps(request, 2)
                ours.sendall(struct.pack("!I", len(body)) + body)
            except BaseException:
                ours.close()
                raise
        ours.setblocking(False)
        return ours


def seen(folder: OrderFolder, place: Path) -> str:
    """Where programs in the box see a path of the order, or of its mirror."""
    if place.is_relative_to(folder.path):
        return str(Path(arguments.ORDER, place.relative_to(folder.path)))
    if place.is_relative_to(folder.mirror):
        return str(Path(arguments.MIRROR, place.relative_to(folder.mirror)))
    return str(place)


async def _answers(control: socket.socket) -> bool:
    """Whether a first word comes. It is left there for who reads the socket."""
    loop, readable = asyncio.get_running_loop(), asyncio.Event()
    fd = control.fileno()
    loop.add_reader(fd, readable.set)
    try:
        await readable.wait()
    except BaseException:
        loop.remove_reader(fd)
        control.close()
        raise
    loop.remove_reader(fd)
    try:
        return control.recv(1, socket.MSG_PEEK) != b""
    except ConnectionResetError:
        return False


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

"""The server's end of inner.py: a program and its descriptors go in, its control socket comes out.

Whoever has the channel is a `Place`; what differs among places is how one begins and ends.
"""

from __future__ import annotations

import array
import asyncio
import contextlib
import marshal
import socket
import struct
from typing import Protocol

from agent_work_orders.sandbox_manager.inside.paths import seen
from agent_work_orders.sandbox_manager.local.programs import OrderFolder, Program

# A place takes 20 to 300 ms to start on an idle machine; on one that thrashes, a thousand times.
START_TIMEOUT_S = 30.0


class Place(Protocol):
    """Where the programs of one order run. Not safe for two orders; for two programs of one order
    it is."""

    @property
    def channel(self) -> socket.socket | None:
        """None: it is not there."""
        ...

    async def start(self) -> None:
        """Make it, unless it is there. Environmental `sandbox_setup_failed` with the last words,
        or `sandbox_isolation_unavailable`."""
        ...

    async def close(self) -> None:
        """All that runs in it is dead afterwards. Repeating is harmless."""
        ...


async def spawn(
    place: Place, folder: OrderFolder, program: Program, stdin: int, stdout: int, stderr: int
) -> socket.socket:
    """Once more where the place turns out to be gone before anything of the program ran."""
    await place.start()
    with contextlib.suppress(OSError):
        control = _send(place, folder, program, stdin, stdout, stderr)
        if await _answers(control):
            return control
        control.close()
    await place.close()
    await place.start()
    return _send(place, folder, program, stdin, stdout, stderr)


async def first_word(channel: socket.socket, dead: asyncio.Event) -> socket.socket | None:
    """Wait for inner.py's `ready`; its listening socket, if it has one. ConnectionError: it ended
    instead. TimeoutError."""
    channel.setblocking(False)
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(channel.fileno(), readable.set)
    speaking = loop.create_task(readable.wait())
    dying = loop.create_task(dead.wait())
    try:
        async with asyncio.timeout(START_TIMEOUT_S):
            await asyncio.wait({speaking, dying}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        loop.remove_reader(channel.fileno())
        speaking.cancel()
        dying.cancel()
    word = b""
    fds: list[int] = []
    with contextlib.suppress(OSError):
        word, fds, _, _ = socket.recv_fds(channel, 16, 1, socket.MSG_CMSG_CLOEXEC)
    listener = socket.socket(fileno=fds[0]) if fds else None
    if word != b"ready":
        raise ConnectionError("it ended")
    channel.setblocking(True)
    return listener


def _send(
    place: Place, folder: OrderFolder, program: Program, stdin: int, stdout: int, stderr: int
) -> socket.socket:
    if place.channel is None:
        raise OSError("the place is gone")
    request = {
        "argv": list(program.argv),
        "env": dict(program.env),
        "cwd": seen(folder, program.cwd),
        "below": list(program.below),
    }
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with theirs:
        fds = array.array("i", [theirs.fileno(), stdin, stdout, stderr])
        try:
            place.channel.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
            body = marshal.dumps(request, 2)
            ours.sendall(struct.pack("!I", len(body)) + body)
        except BaseException:
            ours.close()
            raise
    ours.setblocking(False)
    return ours


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

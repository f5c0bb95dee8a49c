"""One container: inner.py as its first process, on one order's folder.

The server listens at a socket file in the order's folder, which only the server writes; inner.py
connects to it once, and the file is gone before any program of the order runs. The channel's end is
the container's: a server that is killed leaves nothing that runs, and the next removes the rest.
A container is started at the first program, serves all of them, and is started again when lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

from agent_work_orders.errors import Environmental
from agent_work_orders.repositories.failure import end_of_stderr
from agent_work_orders.sandbox_manager.container.engine import Engine
from agent_work_orders.sandbox_manager.inside.channel import START_TIMEOUT_S, first_word
from agent_work_orders.sandbox_manager.inside.outlets import Outlets
from agent_work_orders.sandbox_manager.inside.places import unavailable
from agent_work_orders.sandbox_manager.local import descriptor_files
from agent_work_orders.sandbox_manager.local.programs import OrderFolder

SOCKET_FILE = "channel"
"""In the order's folder; inner.py knows it."""
# Whether one that does not say anything is still there; most have said it before the first look.
LOOK_S = 0.25
_PEER = struct.Struct("iII")


class Wiring(msgspec.Struct, frozen=True, kw_only=True):
    """What a server's containers share. `choose`: the engine for a new one; `configured`: what it
    is made of there, and its name."""

    choose: Callable[[], Awaitable[Engine]]
    configured: Callable[[Engine, OrderFolder], Awaitable[tuple[str, Mapping[str, Any]]]]
    outlets: Outlets | None = None


class Container:
    """See inside.channel.Place for the contract."""

    def __init__(self, wiring: Wiring, folder: OrderFolder) -> None:
        self._wiring = wiring
        self._folder = folder
        self._starting = asyncio.Lock()
        self._engine: Engine | None = None
        self._id = ""
        self._channel: socket.socket | None = None
        self._dead = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end_outlet: Callable[[], None] | None = None

    @property
    def channel(self) -> socket.socket | None:
        return self._channel

    @property
    def container_id(self) -> str:
        """Empty: it is not there."""
        return self._id

    async def start(self) -> None:
        async with self._starting:
            if self._channel is not None and not self._dead.is_set():
                return
            await self.close()
            await self._begin()

    def hang_up(self) -> bool:
        """The channel's end ends all that runs in it. Whether there was one."""
        if self._end_outlet is not None:
            self._end_outlet()
            self._end_outlet = None
        channel, self._channel = self._channel, None
        if channel is None:
            return False
        assert self._loop is not None
        if not self._loop.is_closed():
            self._loop.remove_reader(channel.fileno())
        channel.close()
        return True

    async def close(self) -> None:
        """An engine that does not answer keeps nothing alive; what is left of it then, the next
        server sweeps."""
        hung_up = self.hang_up()
        engine, container_id = self._engine, self._id
        if engine is not None and container_id:
            try:
                await engine.remove(container_id)
            except Environmental as error:
                if error.code != "sandbox_isolation_unavailable" or not hung_up:
                    raise
        self._engine, self._id = None, ""

    async def _begin(self) -> None:
        engine = self._engine = await self._wiring.choose()
        try:
            name, made_of = await self._wiring.configured(engine, self._folder)
            # What a server that was killed left in this one's place.
            await engine.remove(name)
            self._id = await engine.create(name, made_of)
            with self._listening() as server:
                await self._run(engine, server)
        except BaseException:
            with contextlib.suppress(Environmental):
                await self.close()
            raise

    async def _run(self, engine: Engine, server: socket.socket) -> None:
        await _started(engine, self._id)
        ended = asyncio.Event()
        looking = asyncio.ensure_future(self._look(engine, ended))
        try:
            channel = await self._connected(server, ended)
            try:
                listener = await first_word(channel, ended)
            except BaseException:
                channel.close()
                raise
        except TimeoutError:
            raise unavailable("it did not start in time", "Look at the machine's load.") from None
        except ConnectionError:
            raise _ended(await engine.words(self._id)) from None
        finally:
            looking.cancel()
        self._dead = asyncio.Event()
        self._channel = channel
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(channel.fileno(), self._heard, channel)
        if listener is not None:
            assert self._wiring.outlets is not None
            self._end_outlet = self._wiring.outlets.serve(self._folder.spec, listener)

    async def _look(self, engine: Engine, ended: asyncio.Event) -> None:
        """Until it does not run, or nobody can say whether it does."""
        with contextlib.suppress(Environmental):
            runs = True
            while runs:
                await asyncio.sleep(LOOK_S)
                runs = await engine.runs(self._id)
        ended.set()

    async def _connected(self, server: socket.socket, ended: asyncio.Event) -> socket.socket:
        """ConnectionError: it ended instead."""
        loop = asyncio.get_running_loop()
        accepting = loop.create_task(loop.sock_accept(server))
        dying = loop.create_task(ended.wait())
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                await asyncio.wait({accepting, dying}, return_when=asyncio.FIRST_COMPLETED)
            if not accepting.done():
                raise ConnectionError("it ended")
            channel, _ = accepting.result()
        finally:
            accepting.cancel()
            dying.cancel()
        peer = channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
        if _PEER.unpack(peer)[1] != self._folder.user.uid:
            channel.close()
            raise unavailable(
                "programs of the container have another user than the order's files",
                "Use an engine whose containers know this machine's users (no `userns-remap`).",
            )
        return channel

    def _heard(self, channel: socket.socket) -> None:
        """Its end: inner.py says nothing here after its first word."""
        try:
            if channel.recv(4096):
                return
        except OSError:
            pass
        asyncio.get_running_loop().remove_reader(channel.fileno())
        self._dead.set()

    @contextmanager
    def _listening(self) -> Iterator[socket.socket]:
        """By descriptor, because the path may be longer than a socket's can be."""
        with descriptor_files.opened(self._folder.path) as folder:
            place = f"/proc/self/fd/{folder}/{SOCKET_FILE}"
            with contextlib.suppress(FileNotFoundError):
                os.unlink(SOCKET_FILE, dir_fd=folder)
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC) as server:
                try:
                    server.bind(place)
                    # The order's user alone may pass through the folder.
                    os.chmod(place, 0o666)
                    server.listen(1)
                    server.setblocking(False)
                    yield server
                finally:
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(SOCKET_FILE, dir_fd=folder)


async def _started(engine: Engine, container_id: str) -> None:
    try:
        await engine.start(container_id)
    except Environmental as error:
        if "python3" in str(error) and ("not found" in str(error) or "no such file" in str(error)):
            raise _without_python() from error
        raise


def _without_python() -> Environmental:
    return unavailable(
        "the image has no python3, with which programs are started in it",
        "Add python3 (3.9 or newer; Debian: python3-minimal) and git to the image.",
    )


def _ended(said: str) -> Environmental:
    words = end_of_stderr(said.encode()) or "it said nothing"
    return Environmental(
        "sandbox_setup_failed",
        f"The container ended at its start: {words}",
        hint="The words of its first program above say what it missed.",
    )

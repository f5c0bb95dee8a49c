"""The server's end of supervisor.py: starts it, hands it descriptors, notices when it died."""

from __future__ import annotations

import array
import asyncio
import errno
import json
import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from agent_work_orders.errors import Environmental
from agent_work_orders.sandbox_manager.local import processes
from agent_work_orders.sandbox_manager.local.agent_user import (
    AgentUser,
    AgentUsers,
    first_closed_folder,
    homes_to_guard,
)

START_TIMEOUT_S = 30.0
# Isolated and without site-packages, which starts in a third of the time; the product's own
# folder comes last on the path, so that nothing in it can stand before the standard library.
_PROGRAM = """import sys
sys.path.append(sys.argv.pop(1))
from agent_work_orders.sandbox_manager.local.supervisor import main
main()
"""
_PACKAGES = Path(__file__).resolve().parents[3]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """`below`: names from `cwd` on, none of them a link. `shown`: paths below the data directory
    that the program sees, and whether writable. `guarded`: others that it may read and not
    write. `temporary`: one of the shown, which takes the place of /tmp; empty: /tmp is not seen by
    what the program shows to others."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    below: Sequence[str] = ()
    user: AgentUser
    shown: Sequence[tuple[str, bool]]
    guarded: Sequence[str] = ()
    temporary: str


class SupervisorClient:
    """One supervisor for all executions of a server; started at the first use, again if lost."""

    def __init__(
        self, home: Path, users: AgentUsers, tag: str, mode: Literal["auto", "off"] = "auto"
    ) -> None:
        """`mode` off: no namespaces even where they work."""
        self._mode = mode
        self._home = home
        self._users = users
        self._tag = tag
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._lock = threading.Lock()
        self.namespaces: bool | None = None
        self.guards = False
        self.private = False
        self.scoped = False

    async def start(self) -> bool:
        """Whether executions get their own namespaces. Starting again is harmless."""
        return await asyncio.to_thread(self._started)

    async def spawn(self, request: Request, stdin: int, stdout: int, stderr: int) -> socket.socket:
        """Ask for an execution; the answer is its control socket. The descriptors stay ours."""
        if self._channel is None:
            await self.start()
        try:
            return self._send(request, stdin, stdout, stderr)
        except OSError:
            self.close()
            await self.start()
            return self._send(request, stdin, stdout, stderr)

    def close(self) -> None:
        """End the supervisor and with it every execution. Waits for one that is starting."""
        with self._lock:
            channel, self._channel = self._channel, None
            process, self._process = self._process, None
        if channel is not None:
            channel.close()
        if process is not None:
            try:
                process.wait(START_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    async def spawn_watched(
        self, request: Request, fds: Sequence[int], began: Callable[[int], None]
    ) -> socket.socket:
        """The same, with descriptors 0, 1, 2 and more. `began` is told, before anything of it runs,
        of the process that all of it will be below."""
        if self._channel is None:
            await self.start()
        control = self._hand_over(*fds)
        try:
            loop = asyncio.get_running_loop()
            control.setblocking(False)
            async with asyncio.timeout(START_TIMEOUT_S):
                words = await loop.sock_recv(control, 4096)
            told = json.loads(words.splitlines()[0]) if words else {}
            if "guard" not in told:
                raise OSError(told.get("error", errno.EPIPE), "no guard")
            began(int(told["guard"]))
            self._tell(control, request)
        except BaseException:
            control.close()
            raise
        return control

    def _send(self, request: Request, stdin: int, stdout: int, stderr: int) -> socket.socket:
        control = self._hand_over(stdin, stdout, stderr)
        try:
            self._tell(control, request)
        except BaseException:
            control.close()
            raise
        return control

    def _hand_over(self, *given: int) -> socket.socket:
        assert self._channel is not None
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            fds = array.array("i", [theirs.fileno(), *given])
            try:
                self._channel.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
            except BaseException:
                ours.close()
                raise
        return ours

    def _tell(self, control: socket.socket, request: Request) -> None:
        body = json.dumps(msgspec.to_builtins(request)).encode()
        control.setblocking(True)
        control.sendall(struct.pack("!I", len(body)) + body)
        control.setblocking(False)

    def _started(self) -> bool:
        with self._lock:
            if self._channel is not None and self.namespaces is not None:
                return self.namespaces
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            closed = first_closed_folder(self._home, self._users)
            with theirs:
                self._process = subprocess.Popen(
                    [
                        sys.executable,
                        "-I",
                        "-S",
                        "-c",
                        _PROGRAM,
                        str(_PACKAGES),
                        str(theirs.fileno()),
                        str(closed or self._home.resolve()),
                        self._mode,
                        *homes_to_guard(),
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    cwd="/",
                    env={
                        processes.HOME_TAG: self._tag,
                        processes.SUPERVISOR_TAG: "1",
                        "PATH": os.defpath,
                    },
                )
            ours.settimeout(START_TIMEOUT_S)
            try:
                found = json.loads(ours.recv(4096) or b"{}")
            except OSError:
                found = {}
            if not found:
                ours.close()
                raise Environmental(
                    "sandbox_setup_failed",
                    "The supervisor of agent processes did not start",
                    hint="Check that the server's Python can run and /proc is mounted.",
                )
            if not found["namespaces"] and closed is not None:
                ours.close()
                raise Environmental(
                    "sandbox_setup_failed",
                    f"Agents run as another user, who may not pass through {closed}",
                    hint="Put the data directory (AWO_HOME) where others may pass, or chmod o+x.",
                )
            self._channel = ours
            self.namespaces = bool(found["namespaces"])
            self.guards, self.private = bool(found["guards"]), bool(found["private"])
            self.scoped = bool(found["scoped"])
            return self.namespaces

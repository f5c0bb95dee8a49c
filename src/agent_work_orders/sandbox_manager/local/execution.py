"""Running one program under the supervisor, from the event loop's side.

Rules: output is read as it comes (a slow reader slows the program, nothing is buffered beyond
the bound); the end is the supervisor's word that all processes are dead, not the end of a pipe;
cancelling waits for that word too.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import socket
from collections.abc import Sequence
from typing import Any

from agent_work_orders.clock import Clock
from agent_work_orders.errors import Environmental, Refused, TooLarge, Transient
from agent_work_orders.sandbox_manager.capture import Capture
from agent_work_orders.sandbox_manager.local.programs import Program, Programs
from agent_work_orders.sandbox_manager.sandbox import (
    OUTPUT_LIMIT_BYTES,
    Ended,
    Execution,
    Output,
)

CHUNK_BYTES = 65_536
# A pipe holds 64 KiB unless its writer enlarged it (to 1 MiB at most without privileges).
PIPE_READS = 64
# The supervisor kills after 2 s; past this it is stuck itself, and closing the socket is the rest.
END_WAIT_S = 10.0


async def execute(
    programs: Programs,
    program: Program,
    *,
    clock: Clock,
    stdin: bytes = b"",
    timeout_s: float,
    idle_s: float | None = None,
    on_output: Output | None = None,
    limit_bytes: int = OUTPUT_LIMIT_BYTES,
    terminal: int | None = None,
) -> Execution:
    """Run to the end, or with a terminal instead of pipes: then whoever has its other end has the
    output. Environmental `executable_missing` or `sandbox_setup_failed` when it could
    not be started; everything after the start is a value, but for Transient `supervisor_lost`:
    then nobody knows how it ended."""
    started = clock.monotonic_s()
    running = _Running(clock, on_output, limit_bytes)
    await running.start(programs, program, stdin, terminal)
    ended: Ended = "exited"
    try:
        ended = await running.watch(started + timeout_s, idle_s)
    finally:
        # Also on cancellation: whoever awaited us may go on only when nothing lives any more.
        await running.finish()
    running.raise_if_never_started(program.argv)
    status = running.status
    if ended == "exited" and "exit" not in status:
        raise Transient(
            "supervisor_lost",
            "What watches over the sandbox's programs was killed, and they with it",
            hint="It is started anew. If that goes on, the machine has too little memory.",
        )
    return Execution(
        ended=ended,
        exit_code=status.get("exit") if ended == "exited" else None,
        signal=status.get("signal"),
        stdout=running.captures["stdout"].content(),
        stderr=running.captures["stderr"].content(),
        stdout_bytes=running.captures["stdout"].total_bytes,
        stderr_bytes=running.captures["stderr"].total_bytes,
        truncated=any(capture.truncated for capture in running.captures.values()),
        duration_s=clock.monotonic_s() - started,
    )


class _Running:
    def __init__(self, clock: Clock, on_output: Output | None, limit_bytes: int) -> None:
        self._clock = clock
        self._on_output = on_output
        self._loop = asyncio.get_running_loop()
        self._control: socket.socket | None = None
        self._words = b""
        self._over = asyncio.Event()
        self._dead = asyncio.Event()
        self._heard_s = clock.monotonic_s()
        self._pipes: dict[int, str] = {}
        self._problem: Exception | None = None
        self.captures = {"stdout": Capture(limit_bytes), "stderr": Capture(limit_bytes)}
        self.status: dict[str, Any] = {}

    async def start(
        self, programs: Programs, program: Program, stdin: bytes, terminal: int | None
    ) -> None:
        given: list[int] = []
        try:
            if terminal is None:
                self._open_pipes(given, stdin)
            else:
                given += [os.dup(terminal) for _ in range(3)]
            self._control = await programs.spawn(program, *given)
        except BaseException:
            for fd in self._pipes:
                os.close(fd)
            self._pipes.clear()
            raise
        finally:
            for fd in given:
                os.close(fd)
        for fd in self._pipes:
            self._loop.add_reader(fd, self._hear, fd)
        self._loop.add_reader(self._control.fileno(), self._told)

    def _open_pipes(self, given: list[int], stdin: bytes) -> None:
        given.append(_readable(stdin))
        for name in ("stdout", "stderr"):
            reading, writing = os.pipe2(os.O_CLOEXEC)
            os.set_blocking(reading, False)
            self._pipes[reading] = name
            given.append(writing)

    def _hear(self, fd: int) -> None:
        if fd not in self._pipes:
            return
        try:
            chunk = os.read(fd, CHUNK_BYTES)
        except BlockingIOError:
            return
        if not chunk:
            self._close_pipe(fd)
            return
        name = self._pipes[fd]
        self._heard_s = self._clock.monotonic_s()
        self.captures[name].add(chunk)
        if self._on_output is not None:
            try:
                wanted = self._on_output("stdout" if name == "stdout" else "stderr", chunk)
                if wanted is not None and not wanted.done():
                    self._pause(fd, wanted)
            except Exception as problem:  # noqa: BLE001 - a loop callback: kept, raised by watch()
                self._on_output = None
                self._problem = problem
                self._over.set()

    def _pause(self, fd: int, until: asyncio.Future[None]) -> None:
        self._loop.remove_reader(fd)

        def go_on(_until: asyncio.Future[None]) -> None:
            if fd in self._pipes:
                self._loop.add_reader(fd, self._hear, fd)

        until.add_done_callback(go_on)

    def _told(self) -> None:
        assert self._control is not None
        try:
            data = self._control.recv(4096)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data = b""
        self._words += data
        if not data:
            self._loop.remove_reader(self._control.fileno())
            self._dead.set()
            self._over.set()

    async def watch(self, deadline_s: float, idle_s: float | None) -> Ended:
        while not self._over.is_set():
            now = self._clock.monotonic_s()
            until, why = deadline_s, "timed_out"
            if idle_s is not None and self._heard_s + idle_s < deadline_s:
                until, why = self._heard_s + idle_s, "idle"
            if now >= until:
                return "idle" if why == "idle" else "timed_out"
            # Not wait_for: before Python 3.12 it loses a cancellation that comes with the end.
            try:
                async with asyncio.timeout(until - now):
                    await self._over.wait()
            except TimeoutError:
                continue
        return "exited"

    async def finish(self) -> None:
        """Ask for the end, wait until all are dead, take the last words, close everything."""
        ending = asyncio.ensure_future(self._end())
        interrupted = False
        while not ending.done():
            try:
                await asyncio.shield(ending)
            except asyncio.CancelledError:
                interrupted = True
        self._close()
        if interrupted:
            raise asyncio.CancelledError
        if self._problem is not None:
            raise self._problem

    async def _end(self) -> None:
        assert self._control is not None
        if not self._dead.is_set():
            with contextlib.suppress(OSError):
                self._control.send(b"T")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(END_WAIT_S):
                    await self._dead.wait()
        for line in self._words.splitlines():
            self.status.update(json.loads(line))

    def _close(self) -> None:
        for fd in list(self._pipes):
            # What is still in the pipe was said before the end; a leaked writer cannot hold us.
            for _ in range(PIPE_READS):
                before = self._total_bytes()
                self._hear(fd)
                if self._total_bytes() == before:
                    break
            self._close_pipe(fd)
        if self._control is not None:
            self._loop.remove_reader(self._control.fileno())
            self._control.close()
            self._control = None

    def _total_bytes(self) -> int:
        return sum(capture.total_bytes for capture in self.captures.values())

    def _close_pipe(self, fd: int) -> None:
        if self._pipes.pop(fd, None) is not None:
            self._loop.remove_reader(fd)
            os.close(fd)

    def raise_if_never_started(self, argv: Sequence[str]) -> None:
        if "error" not in self.status:
            return
        number, what = int(self.status["error"]), self.status.get("what")
        if what == "program" and number in (
            errno.ENOENT,
            errno.EACCES,
            errno.ENOTDIR,
            errno.ENOEXEC,
        ):
            raise Environmental(
                "executable_missing",
                f"{argv[0][:200]!r} cannot be run in the sandbox: {os.strerror(number)}",
                hint="Install it where the agent's user can run it, and check PATH.",
            )
        if what == "program" and number == errno.E2BIG:
            raise TooLarge(
                "arguments_too_long",
                "The program's arguments exceed the kernel's limit",
                hint="Give long text by stdin or in a file.",
            )
        if what == "path" and number == errno.ENOTDIR:
            raise Refused(
                "path_outside_workspace",
                "The folder to start in is reached through a link, or is none",
                hint="Give a relative path of folders in the workspace.",
                field="cwd",
            )
        raise Environmental(
            "sandbox_lost" if what in ("folder", "path") else "sandbox_setup_failed",
            f"The program could not be started ({what}: {os.strerror(number)})",
            hint="The workspace may be gone; it is made anew at the next attempt.",
        )


def _readable(stdin: bytes) -> int:
    """A descriptor to read `stdin` from. A file in memory: no writer that could block or break."""
    if not stdin:
        return os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
    fd = os.memfd_create("stdin", os.MFD_CLOEXEC)
    try:
        view = memoryview(stdin)
        while view:
            view = view[os.write(fd, view) :]
        os.lseek(fd, 0, os.SEEK_SET)
    except BaseException:
        os.close(fd)
        raise
    return fd

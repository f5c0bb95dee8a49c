"""A sandbox without walls: plain subprocesses in a folder. For tests and rehearsals only.

It keeps the part of the contract that agents use: execute, files, private files. When `execute`
ends early the whole tree of processes is killed; a daemon that left the tree is not found.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Literal

from agent_work_orders.clock import Clock, SystemClock
from agent_work_orders.errors import Environmental, NotFound, Refused, TooLarge
from agent_work_orders.sandbox_manager.sandbox import (
    OUTPUT_LIMIT_BYTES,
    Ended,
    Execution,
    LeftOut,
    Output,
    State,
    WayOut,
)
from agent_work_orders.sandbox_manager.sandbox_types import SandboxType

_CHUNK_BYTES = 65536


class LocalSandbox:
    sandbox_identifier = "local"
    sandbox_type: SandboxType = "git_branch"
    way_out: WayOut | None = None

    def __init__(self, root: Path, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self.workspace = root / "workspace"
        self.home = root / "home"
        for folder in (self.workspace, self.home, self.home / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)

    async def setup(self) -> None:
        return None

    async def hold(self, work: str) -> None:
        return None

    async def holder(self) -> str:
        return ""

    async def head(self) -> str | None:
        return None

    async def checkout(self, sha: str, *, files: str | None = None) -> None:
        raise Environmental("sandbox_setup_failed", f"The local fake has no commit {sha}")

    async def empty_private(self) -> None:
        shutil.rmtree(self.home)
        (self.home / "tmp").mkdir(parents=True)

    async def commit(
        self,
        message: str,
        *,
        author: str,
        at_ms: int,
        left_out: Callable[[LeftOut], None] = lambda _found: None,
    ) -> str | None:
        return None

    async def state(self) -> State:
        return State(exists=True, workspace=str(self.workspace), head_sha=None, disk_bytes=None)

    async def snapshot(self, name: str) -> str:
        raise Environmental("sandbox_setup_failed", f"The local fake cannot keep {name}")

    async def interrupt(self) -> None:
        return None

    async def cleanup(self) -> None:
        return None

    async def put_private(self, name: str, content: bytes) -> str:
        if not name or "/" in name or name in (".", ".."):
            raise Refused("path_outside_workspace", f"{name!r} is not a file name")
        path = self.home / name
        path.write_bytes(content)
        path.chmod(0o600)
        return str(path)

    async def read_file(self, path: str, *, limit_bytes: int = 1_048_576) -> bytes:
        target = self._inside(path)
        if not target.is_file():
            raise NotFound("file_not_found", f"No file {path}")
        if target.stat().st_size > limit_bytes:
            raise TooLarge("file_too_large", f"{path} is larger than {limit_bytes} bytes")
        return target.read_bytes()

    async def write_file(self, path: str, content: bytes) -> None:
        target = self._inside(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)

    def _inside(self, path: str) -> Path:
        pure = PurePosixPath(path)
        target = self.workspace / pure
        outside = pure.is_absolute() or ".." in pure.parts or target.is_symlink()
        if outside or not target.parent.resolve().is_relative_to(self.workspace.resolve()):
            raise Refused("path_outside_workspace", f"{path} is outside the workspace")
        return target

    async def execute(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        timeout_s: float = 300.0,
        idle_s: float | None = None,
        on_output: Output | None = None,
        cwd: str = ".",
    ) -> Execution:
        began = self._clock.monotonic_s()
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=self.workspace / cwd,
                env=self._environment(env),
                start_new_session=True,
            )
        except (FileNotFoundError, PermissionError) as error:
            raise Environmental("executable_missing", f"{argv[0]} cannot be run") from error
        capture = _Capture(on_output)
        try:
            ended = await _attend(process, stdin, capture, timeout_s, idle_s)
        finally:
            _kill(process)
            await process.wait()
        code = process.returncode if ended == "exited" else None
        killed = code is not None and code < 0
        return Execution(
            ended=ended,
            exit_code=None if killed else code,
            signal=-code if killed and code is not None else None,
            stdout=capture.kept("stdout"),
            stderr=capture.kept("stderr"),
            stdout_bytes=capture.size["stdout"],
            stderr_bytes=capture.size["stderr"],
            truncated=capture.truncated,
            duration_s=self._clock.monotonic_s() - began,
        )

    def _environment(self, env: Mapping[str, str] | None) -> dict[str, str]:
        return {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TMPDIR": str(self.home / "tmp"),
            **(env or {}),
        }


class _Capture:
    """Head and tail of each stream, and the time since something was said."""

    def __init__(self, on_output: Output | None) -> None:
        self._on_output = on_output
        self._head = {"stdout": bytearray(), "stderr": bytearray()}
        self._tail = {"stdout": bytearray(), "stderr": bytearray()}
        self.size = {"stdout": 0, "stderr": 0}
        self.heard = asyncio.Event()

    @property
    def truncated(self) -> bool:
        return any(size > OUTPUT_LIMIT_BYTES for size in self.size.values())

    def add(self, stream: Literal["stdout", "stderr"], chunk: bytes) -> None:
        self.size[stream] += len(chunk)
        self.heard.set()
        half = OUTPUT_LIMIT_BYTES // 2
        room = half - len(self._head[stream])
        self._head[stream] += chunk[:room]
        tail = self._tail[stream]
        tail += chunk[room:]
        if len(tail) > 2 * half:
            del tail[:-half]
        if self._on_output is not None:
            self._on_output(stream, chunk)

    def kept(self, stream: Literal["stdout", "stderr"]) -> bytes:
        half = OUTPUT_LIMIT_BYTES // 2
        return bytes(self._head[stream]) + bytes(self._tail[stream][-half:])


async def _attend(
    process: asyncio.subprocess.Process,
    stdin: bytes,
    capture: _Capture,
    timeout_s: float,
    idle_s: float | None,
) -> Ended:
    pumps = [
        asyncio.create_task(_give(process, stdin)),
        asyncio.create_task(_drain(process.stdout, "stdout", capture)),
        asyncio.create_task(_drain(process.stderr, "stderr", capture)),
    ]
    watchers = [asyncio.create_task(process.wait())]
    if idle_s is not None:
        watchers.append(asyncio.create_task(_until_idle(capture, idle_s)))
    try:
        done, _ = await asyncio.wait(
            watchers, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED
        )
        if not done:
            return "timed_out"
        if watchers[0] not in done:
            return "idle"
        # What was printed before the exit is in the pipe; a daemon may hold it open for ever.
        await asyncio.wait(pumps[1:], timeout=0.5)
        return "exited"
    finally:
        for task in (*pumps, *watchers):
            task.cancel()
        await asyncio.gather(*pumps, *watchers, return_exceptions=True)


async def _until_idle(capture: _Capture, idle_s: float) -> int:
    while True:
        capture.heard.clear()
        try:
            async with asyncio.timeout(idle_s):
                await capture.heard.wait()
        except TimeoutError:
            return 0


async def _give(process: asyncio.subprocess.Process, stdin: bytes) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write(stdin)
        await process.stdin.drain()
    except (BrokenPipeError, ConnectionResetError):
        pass  # the program does not read its input: its right
    finally:
        process.stdin.close()


async def _drain(
    pipe: asyncio.StreamReader | None, stream: Literal["stdout", "stderr"], capture: _Capture
) -> None:
    assert pipe is not None
    while chunk := await pipe.read(_CHUNK_BYTES):
        capture.add(stream, chunk)


def _kill(process: asyncio.subprocess.Process) -> None:
    """The whole tree, while its root still shows who belongs to it."""
    if process.returncode is not None:
        return
    for pid in (*_descendants(process.pid), process.pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in listing.read_text().split():
            found += [*_descendants(int(child)), int(child)]
    return found

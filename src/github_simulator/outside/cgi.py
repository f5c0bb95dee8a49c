"""`git http-backend` as a CGI program: a request's body streams in, its answer streams out.

Memory is bounded by the pipes on both sides; the process group is dead when `run` returns, however
it ends. Nothing of the machine's git configuration is seen.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

CHUNK_BYTES = 65_536
HEAD_LIMIT_BYTES = 16_384

# The pushed objects are checked, and nothing is packed behind our back.
CONFIGURATION = (
    ("http.receivepack", "true"),
    ("http.uploadpack", "true"),
    ("gc.auto", "0"),
    ("receive.autogc", "false"),
    ("receive.fsckObjects", "true"),
    ("receive.advertisePushOptions", "false"),
    ("uploadpack.allowAnySHA1InWant", "true"),
    ("uploadpack.allowFilter", "true"),
    ("safe.directory", "*"),
)


def environment(folder: Path, hooks: Path, request: Mapping[str, str]) -> dict[str, str]:
    """`request` are the CGI variables of this one."""
    env = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_PROJECT_ROOT": str(folder),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_HTTP_MAX_REQUEST_BUFFER": "10M",
        **request,
    }
    settings = (*CONFIGURATION, ("core.hooksPath", str(hooks)))
    env["GIT_CONFIG_COUNT"] = str(len(settings))
    for index, (name, value) in enumerate(settings):
        env[f"GIT_CONFIG_KEY_{index}"], env[f"GIT_CONFIG_VALUE_{index}"] = name, value
    return env


class Backend:
    """`async with Backend(env) as backend`, then `feed` and `head`/`body` at the same time."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = dict(env)
        self._process: subprocess.Popen[bytes] | None = None

    async def __aenter__(self) -> Backend:
        loop = asyncio.get_running_loop()
        self._process = _started(self._env)
        self._reader = asyncio.StreamReader(limit=CHUNK_BYTES)
        self._out, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self._reader), self._process.stdout
        )
        into, protocol = await loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, self._process.stdin
        )
        self._writer = asyncio.StreamWriter(into, protocol, None, loop)
        return self

    async def __aexit__(self, *_: object) -> None:
        process = self._process
        assert process is not None
        into = self._writer.transport
        if not into.is_closing():
            into.abort()
        self._out.close()
        if process.poll() is None:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                process.kill()
        process.wait()

    async def feed(self, chunks: AsyncIterator[bytes]) -> None:
        """A program that reads no further is no failure: it has answered already."""
        try:
            async for chunk in chunks:
                self._writer.write(chunk)
                await self._writer.drain()
            self._writer.close()
        except (ConnectionError, BrokenPipeError):
            pass

    async def head(self) -> tuple[int, list[tuple[str, str]]]:
        """Status and headers. 500 when it said nothing that could be understood."""
        fields: list[tuple[str, str]] = []
        status = 200
        size = 0
        while True:
            try:
                line = (await self._reader.readline()).decode("latin-1")
            except ValueError:
                return 500, []
            size += len(line)
            if not line or size > HEAD_LIMIT_BYTES:
                return 500, []
            line = line.rstrip("\r\n")
            if not line:
                return status, fields
            name, _, value = line.partition(":")
            if name.lower() == "status":
                status = int(value.split()[0])
            else:
                fields.append((name.lower(), value.strip()))

    async def body(self) -> AsyncIterator[bytes]:
        while chunk := await self._reader.read(CHUNK_BYTES):
            yield chunk


def _started(env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Not asyncio's own: those can hang when they are cancelled while they start."""
    return subprocess.Popen(
        [shutil.which("git") or "git", "http-backend"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=dict(env),
        cwd="/",
        start_new_session=True,
    )

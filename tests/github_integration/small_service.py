"""A service on loopback that says what a test tells it, byte for byte; for what the simulator of
GitHub does not do: answers that are cut, late, too large, or somebody else's."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import struct
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

import msgspec


class Heard(msgspec.Struct, frozen=True):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def token(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """`cut`: bytes of the body that are sent before the connection ends. `hang`: after the head
    and that much. `reset`: no answer at all, and the connection is reset."""

    status: int = 200
    value: Any = None
    raw: bytes | None = None
    headers: dict[str, str] = {}
    cut: int | None = None
    hang: bool = False
    silent: bool = False
    reset: bool = False
    zipped: bool = False


Answering = Callable[[Heard], Reply | Awaitable[Reply]]


class SmallService:
    def __init__(self, answering: Answering) -> None:
        self.answering = answering
        self.heard: list[Heard] = []
        self.url = ""
        self._stop = asyncio.Event()

    async def __aenter__(self) -> SmallService:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=2**20)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        method, path, _ = first.split(" ")
        headers = {
            name.lower(): text.strip() for name, _, text in (ln.partition(":") for ln in lines)
        }
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        heard = Heard(method, path, headers, body)
        self.heard.append(heard)
        reply = self.answering(heard)
        if not isinstance(reply, Reply):
            reply = await reply
        if reply.silent:
            await self._stop.wait()
            return False
        if reply.reset:
            raw = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return False
        return await self._reply(writer, reply)

    async def _reply(self, writer: asyncio.StreamWriter, reply: Reply) -> bool:
        content = reply.raw if reply.raw is not None else json.dumps(reply.value).encode()
        if reply.status in (204, 304):
            content = b""
        headers = {"Content-Type": "application/json; charset=utf-8", **reply.headers}
        if reply.zipped:
            content = gzip.compress(content)
            headers["Content-Encoding"] = "gzip"
        if reply.status != 304:
            headers["Content-Length"] = str(len(content))
        lines = [
            f"HTTP/1.1 {reply.status} X",
            *(f"{name}: {text}" for name, text in headers.items()),
        ]
        writer.write("\r\n".join([*lines, "", ""]).encode() + content[: reply.cut])
        await writer.drain()
        if reply.hang:
            await self._stop.wait()
        return reply.cut is None and not reply.hang

"""HTTP as ASGI carries it: a request read within limits, an answer as bytes.

Rules:
- A path is kept as it was sent, cut at the slashes before it is decoded: `%2F` is part of a name.
- A body has a limit, and comes whole or not at all; only git's streams.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import parse_qsl

import msgspec

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Scope = MutableMapping[str, Any]

# The largest JSON that GitHub takes is a file of the contents API, in base64.
BODY_LIMIT_BYTES = 40 * 1024 * 1024
QUERY_LIMIT = 200
TRANSPORT = "agent_work_orders.transport"


class Gone(Exception):
    """The client went away before it had said everything."""


class TooLong(Exception):
    """The body is larger than the limit."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    method: str
    # Still encoded, without the query.
    path: str
    query: dict[str, str]
    query_string: str
    headers: dict[str, str]
    client: str
    # The same for all requests of one connection.
    connection: int = 0


class Exchange:
    """One request and the ways to answer it."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self.request = _request(scope)
        self.status = 0
        self.remaining: int | None = None
        self._whole: bytes | None = None

    async def body(self, limit_bytes: int = BODY_LIMIT_BYTES) -> bytes:
        """Can be asked for again. Raises `TooLong`, `Gone`."""
        if self._whole is not None:
            return self._whole
        kept = bytearray()
        async for chunk in self.chunks():
            kept += chunk
            if len(kept) > limit_bytes:
                raise TooLong
        self._whole = bytes(kept)
        return self._whole

    async def chunks(self) -> AsyncIterator[bytes]:
        """Raises `Gone`."""
        more = True
        while more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise Gone
            more = message.get("more_body", False)
            if message.get("body"):
                yield message["body"]

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        self.status = status
        left = headers.get("x-ratelimit-remaining")
        self.remaining = None if left is None else int(left)
        fields = [(n.encode("latin-1"), v.encode("latin-1")) for n, v in headers.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": fields})

    async def write(self, content: bytes, *, more: bool) -> None:
        await self._send({"type": "http.response.body", "body": content, "more_body": more})

    async def answer(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        """A HEAD is told the size and gets no body."""
        await self.start(status, {**headers, "content-length": str(len(content))})
        await self.write(b"" if self.request.method == "HEAD" else content, more=False)

    async def gone(self) -> None:
        """Until the client closes the connection."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    def hang_up(self, *, rudely: bool = False) -> None:
        """Close the connection without another byte; `rudely` with RST."""
        transport = self._scope["extensions"][TRANSPORT]["transport"]
        if rudely:
            reset(transport)
        transport.abort()


def reset(transport: asyncio.BaseTransport) -> None:
    """SO_LINGER of 0 seconds makes the kernel send RST instead of FIN."""
    connection = transport.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _request(scope: Scope) -> Request:
    query = scope.get("query_string", b"").decode("latin-1")
    client = scope.get("client") or ("", 0)
    return Request(
        method=scope["method"],
        path=scope["raw_path"].decode("latin-1"),
        query=dict(parse_qsl(query, keep_blank_values=True)[:QUERY_LIMIT]),
        query_string=query,
        headers={
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        },
        client=client[0],
        connection=client[1],
    )

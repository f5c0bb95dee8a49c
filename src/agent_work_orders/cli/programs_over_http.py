"""A program in a server's sandbox: its output as a stream of lines, its keys as requests."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from agent_work_orders.cli.client import Json, Output
    from agent_work_orders.cli.keyboard import Keyboard

KEYS_AT_ONCE_BYTES = 32_768


class Server(Protocol):
    """What `OverHttp` gives."""

    def lines(self, path: str, body: Json) -> AsyncIterator[Json]: ...

    async def tell(self, path: str, body: Json) -> Json: ...


async def run(server: Server, path: str, body: Json, output: Output) -> Json:
    async for said in server.lines(path, body):
        if "data" in said:
            output(said["stream"], base64.b64decode(said["data"]))
        elif "end" in said:
            return dict(said["end"])
    raise AssertionError("`lines` ends with the program, or raises")


async def attach(server: Server, path: str, body: Json, keyboard: Keyboard) -> Json:
    rows, columns = keyboard.size()
    whole = {**body, "rows": rows, "columns": columns, "kind": keyboard.kind}
    sending: asyncio.Task[None] | None = None
    try:
        async for said in server.lines(path, whole):
            if "terminal" in said:
                typing = Typing(server, f"/api/terminals/{said['terminal']}")
                keyboard.connect(typing.typed, typing.resized)
                sending = asyncio.ensure_future(typing.send())
            elif "data" in said:
                keyboard.show(base64.b64decode(said["data"]))
            elif "end" in said:
                return dict(said["end"])
    finally:
        keyboard.release()
        if sending is not None:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
    raise AssertionError("`lines` ends with the program, or raises")


class Typing:
    """Keys in their order: while one request is under way, what is typed waits for the next."""

    def __init__(self, server: Server, path: str) -> None:
        self._server = server
        self._path = path
        self._keys = bytearray()
        self._size: tuple[int, int] | None = None
        self._woken = asyncio.Event()

    def typed(self, keys: bytes) -> None:
        self._keys += keys
        self._woken.set()

    def resized(self, rows: int, columns: int) -> None:
        self._size = (rows, columns)
        self._woken.set()

    async def send(self) -> None:
        while True:
            await self._woken.wait()
            self._woken.clear()
            while self._keys or self._size:
                keys, self._keys = self._keys[:KEYS_AT_ONCE_BYTES], self._keys[KEYS_AT_ONCE_BYTES:]
                body: dict[str, Any] = {"keys": base64.b64encode(keys).decode()}
                if self._size is not None:
                    body["rows"], body["columns"] = self._size
                    self._size = None
                await self._server.tell(self._path, body)

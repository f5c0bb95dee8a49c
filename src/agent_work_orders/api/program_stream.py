"""What a program in a sandbox prints, as lines of JSON while it runs.

`{"stream": "stdout", "data": "<base64>"}` for each piece, then one
`{"end": {"ended", "exit_code", "signal", "left_out_bytes", …}}`, or `{"error": {…}}` when it can no
longer be told with a status. A program waits for a reader that takes too little; what a type of
sandbox cannot hold back is left out and counted. One that leaves ends the program.
"""

from __future__ import annotations

import asyncio
import base64
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Literal

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from agent_work_orders.api import problems
from agent_work_orders.api.views import Json
from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.sandbox_manager.sandbox import OUTPUT_LIMIT_BYTES

MEDIA_TYPE = "application/x-ndjson"
HEARTBEAT_S = 15.0
"""In silence an empty line comes, so that nobody between takes the connection for dead."""

ENOUGH_BYTES = 1_048_576
"""So much waits for a slow reader; then the program waits too."""


class Waiting:
    """Pieces that were printed and not sent yet."""

    def __init__(self) -> None:
        self._pieces: deque[tuple[str, bytes]] = deque()
        self._size_bytes = 0
        self.left_out_bytes = 0
        self._fewer: asyncio.Future[None] | None = None
        self.woken = asyncio.Event()

    def put(self, stream: Literal["stdout", "stderr"], piece: bytes) -> asyncio.Future[None] | None:
        if self._size_bytes + len(piece) > OUTPUT_LIMIT_BYTES:
            self.left_out_bytes += len(piece)
        else:
            self._pieces.append((stream, piece))
            self._size_bytes += len(piece)
        self.woken.set()
        if self._size_bytes < ENOUGH_BYTES:
            return None
        if self._fewer is None or self._fewer.done():
            self._fewer = asyncio.get_running_loop().create_future()
        return self._fewer

    def say(self, value: Json) -> None:
        """A line of ours between them."""
        self._pieces.append(("", line(value)))
        self.woken.set()

    def lines(self) -> bytes:
        found = []
        while self._pieces:
            stream, piece = self._pieces.popleft()
            if stream:
                self._size_bytes -= len(piece)
                piece = line({"stream": stream, "data": base64.b64encode(piece).decode()})
            found.append(piece)
        if self._fewer is not None and not self._fewer.done():
            self._fewer.set_result(None)
        return b"".join(found)


Run = Callable[[Waiting], Awaitable[Json]]
"""Runs the program, and says how it ended."""


class ProgramStream(Response):
    """Nothing is sent before the program is known to run, so that a refusal has its status."""

    media_type = MEDIA_TYPE

    def __init__(self, run: Run) -> None:
        super().__init__(None, headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._run_it = run
        self._waiting = Waiting()
        self._began = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        running = asyncio.ensure_future(self._run())
        sending = asyncio.ensure_future(self._send_all(running, send))
        leaving = asyncio.ensure_future(_disconnected(receive))
        try:
            await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, leaving, running):
                task.cancel()
            await asyncio.gather(sending, leaving, running, return_exceptions=True)
        if not sending.cancelled() and (error := sending.exception()) is not None:
            raise error

    async def _run(self) -> Json:
        try:
            end = await self._run_it(self._waiting)
            return {**end, "left_out_bytes": self._waiting.left_out_bytes}
        finally:
            self._waiting.woken.set()

    async def _send_all(self, running: asyncio.Future[Json], send: Send) -> None:
        waiting = self._waiting
        while not running.done():
            try:
                async with asyncio.timeout(HEARTBEAT_S):
                    await waiting.woken.wait()
            except TimeoutError:
                await self._put(send, b"\n")
                continue
            waiting.woken.clear()
            if lines := waiting.lines():
                await self._put(send, lines)
        try:
            last = {"end": running.result()}
        except AgentWorkOrdersError as error:
            if not self._began:
                raise
            problem = problems.of_error(error)
            last = {"error": msgspec.to_builtins(problem)}
        await self._put(send, waiting.lines() + line(last))
        await send({"type": "http.response.body", "body": b""})

    async def _put(self, send: Send, content: bytes) -> None:
        if not self._began:
            self._began = True
            start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
            await send(start)
        await send({"type": "http.response.body", "body": content, "more_body": True})


def line(value: Json) -> bytes:
    return msgspec.json.encode(value) + b"\n"


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

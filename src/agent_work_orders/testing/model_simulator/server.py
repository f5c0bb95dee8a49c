"""The loopback server: plain asyncio, so that a fault can be exact to the byte.

One connection serves one request (`Connection: close`). Every request to `/v1/messages` is kept
in `requests` for assertions. Leaving the context closes the port and every open connection.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from types import TracebackType
from typing import Any, Self

import msgspec

from agent_work_orders.testing.model_simulator import wire
from agent_work_orders.testing.model_simulator.script import Fault, Outage, Reply, Script

# The CLI sends its whole conversation each time; the API itself refuses more than 32 MB.
BODY_LIMIT_BYTES = 32 * 1024 * 1024
HEAD_LIMIT_BYTES = 65_536
HEAD_WITHIN_S = 5.0
BODY_WITHIN_S = 60.0

ARRIVAL_S = 0.1

_STREAM = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request as the model got it."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        """Every text of the user's messages, tool results included, oldest first."""
        found: list[str] = []
        for message in self.body.get("messages", []):
            if message.get("role") == "user":
                _collect(message.get("content"), found)
        return found

    @property
    def system(self) -> str:
        found: list[str] = []
        _collect(self.body.get("system"), found)
        return "\n".join(found)


class Served(msgspec.Struct, kw_only=True):
    """An answer that was begun, and what its tokens are: this is what an API would bill."""

    model: str
    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0


class ModelSimulator:
    """`async with ModelSimulator(Script(...)) as model:` then point the agent at `model.url`."""

    def __init__(self, script: Script | None = None, *, port: int = 0) -> None:
        self._script = script or Script()
        self._port = port
        self._at = 0
        self._used = 0
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self.requests: list[ModelRequest] = []
        self.served: list[Served] = []
        self._began_s: float | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def play(self, script: Script) -> None:
        """Go on with another script from its first turn."""
        self._script, self._at, self._used, self._began_s = script, 0, 0, None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._connected, "127.0.0.1", self._port, limit=HEAD_LIMIT_BYTES
        )
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            await self._serve(reader, writer)
        except (
            ConnectionError,
            TimeoutError,
            ValueError,
            asyncio.IncompleteReadError,
            asyncio.LimitOverrunError,
        ):
            pass  # the client went away or talks nonsense: the next connection is a new start
        except asyncio.CancelledError:
            writer.transport.abort()  # only closing the simulator cancels; a hang ends here
        finally:
            self._open.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await _read(reader)
        path = request.path.split("?", 1)[0]
        if request.method != "POST" or not path.endswith("/v1/messages"):
            if path.endswith("/count_tokens"):
                writer.write(_response(200, b'{"input_tokens":1000}'))
            else:
                writer.write(_response(404, wire.error_body(404, "not simulated", "req_0")))
            await writer.drain()
            return
        self.requests.append(request)
        match self._next():
            case Reply() as reply:
                await asyncio.sleep(reply.delay_s)
                await self._answer(reply, request, writer)
            case Fault() as fault:
                await self._fail(fault, request, writer)

    def _next(self) -> Reply | Fault:
        turns = self._script.turns
        if self._at >= len(turns):
            return self._script.after
        turn = turns[self._at]
        if isinstance(turn, Outage):
            return self._out(turn)
        self._used += 1
        if isinstance(turn, Reply) or (turn.times is not None and self._used >= turn.times):
            self._at, self._used = self._at + 1, 0
        return turn

    def _out(self, outage: Outage) -> Reply | Fault:
        now_s = asyncio.get_running_loop().time()
        self._began_s = now_s if self._began_s is None else self._began_s
        if now_s - self._began_s >= outage.seconds:
            self._at, self._used, self._began_s = self._at + 1, 0, None
            return self._next()
        self._used += 1
        return outage.faults[(self._used - 1) % len(outage.faults)]

    def _serve_tokens(self, reply: Reply, model: str, output_tokens: int) -> Served:
        served = Served(
            model=model,
            input_tokens=reply.input_tokens,
            cache_read_tokens=reply.cache_read_tokens,
            cache_write_tokens=reply.cache_write_tokens,
            output_tokens=output_tokens,
        )
        self.served.append(served)
        return served

    async def _answer(
        self, reply: Reply, request: ModelRequest, writer: asyncio.StreamWriter
    ) -> None:
        model, serial = str(request.body.get("model", "simulated")), len(self.requests)
        if request.body.get("stream"):
            writer.write(_head(200, _STREAM, serial))
            served = self._serve_tokens(reply, model, 1)
            for event in wire.stream(reply, model, serial):
                writer.write(_chunk(event))
                await writer.drain()
            served.output_tokens = reply.output_tokens
            writer.write(_chunk(b""))
            await writer.drain()
        else:
            self._serve_tokens(reply, model, reply.output_tokens)
            writer.write(_response(200, wire.message_body(reply, model, serial), serial=serial))
            await writer.drain()

    async def _fail(
        self, fault: Fault, request: ModelRequest, writer: asyncio.StreamWriter
    ) -> None:
        serial = len(self.requests)
        if fault.kind == "status":
            body = wire.error_body(fault.status, fault.message, f"req_simulated_{serial:06d}")
            writer.write(_response(fault.status, body, fault.headers, serial))
            await writer.drain()
            return
        if fault.kind in ("truncated", "slow"):
            cut, model = Reply(blocks=()), str(request.body.get("model", ""))
            start = next(wire.stream(cut, model, serial))
            if request.body.get("stream"):
                self._serve_tokens(cut, model, 1)
            writer.write(_head(200, _STREAM, serial) + _chunk(start))
            await writer.drain()
        if fault.kind in ("hang", "slow"):
            await asyncio.Event().wait()
        if fault.kind == "truncated":
            # A reset takes back what the other side has not read yet: what is counted as served
            # must have arrived.
            await asyncio.sleep(ARRIVAL_S)
        writer.transport.abort()


@contextmanager
def refused_address() -> Iterator[str]:
    """An address that refuses connections: bound, so that nobody else gets it, not listening."""
    with closing(socket.socket()) as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


async def _read(reader: asyncio.StreamReader) -> ModelRequest:
    async with asyncio.timeout(HEAD_WITHIN_S):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ", 2)
    pairs = (line.split(":", 1) for line in head[1:] if ":" in line)
    headers = {name.strip().lower(): value.strip() for name, value in pairs}
    size = int(headers.get("content-length", "0"))
    if not 0 <= size <= BODY_LIMIT_BYTES:
        raise ConnectionError("body over the limit")
    async with asyncio.timeout(BODY_WITHIN_S):
        body = await reader.readexactly(size)
    try:
        value = msgspec.json.decode(body) if body else {}
    except msgspec.DecodeError:
        value = {}
    return ModelRequest(
        method=method, path=path, headers=headers, body=value if isinstance(value, dict) else {}
    )


def _head(status: int, headers: dict[str, str], serial: int) -> bytes:
    lines = [f"HTTP/1.1 {status} Simulated", "connection: close"]
    lines += [f"request-id: req_simulated_{serial:06d}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _chunk(content: bytes) -> bytes:
    """Chunked, so that a client can tell an end from a cut."""
    return b"%x\r\n%s\r\n" % (len(content), content)


def _response(
    status: int, body: bytes, headers: dict[str, str] | None = None, serial: int = 0
) -> bytes:
    fields = {"content-type": "application/json", "content-length": str(len(body))}
    return _head(status, fields | (headers or {}), serial) + body


def _collect(content: Any, found: list[str]) -> None:
    if isinstance(content, str):
        found.append(content)
    elif isinstance(content, list):
        for block in content:
            _collect(block, found)
    elif isinstance(content, dict):
        _collect(content.get("text", content.get("content")), found)

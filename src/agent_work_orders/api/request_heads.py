"""A request's head is read within bounds: bytes, headers and time.

httptools keeps a header until it is whole and uvicorn keeps every header, both without a limit,
and before anybody is asked for a key. So the bytes are counted before they are parsed.

Rules:
- Data that fits is handed on as it came: nothing is searched or copied. Only what reaches beyond
  the limit is cut, so that the parser never holds more than about twice the limit.
- Headers after a chunked body are never kept. Bytes of a body that bring no content (they, or
  notes beside the chunks) have the same limit as a head.
- Whoever has sent something and is owed no answer is waited for `HEAD_WITHIN_S`, from the moment
  of connecting or of the first byte. A body is waited for by whoever reads it (body.py).
- A refusal is a problem document, unless another answer is under way on that connection.
"""

from __future__ import annotations

import asyncio
import http
from asyncio.events import TimerHandle
from collections import Counter
from typing import Any

import httptools
import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from agent_work_orders.api import problems
from agent_work_orders.errors import BadRequest, Refused, TooMany

# Servers and proxies take 8 to 64 KiB; a cookie and a key are far below.
HEAD_LIMIT_BYTES = 32 * 1024
MAX_HEADERS = 100
HEAD_WITHIN_S = 5.0
# Clients send a head in one piece; at 32 KiB each this many hold a few megabytes.
MAX_HALF_HEADS = 64
"""Per address."""
# httptools parses what one read brought (256 KiB), which may be thousands of small requests.
MAX_PIPELINED = 32
# So that the refusal is read: closing with unread bytes resets the connection.
LINGER_S = 1.0
# After a pause of the whole process timers come before what arrived meanwhile: it is read first.
UNREAD_S = 0.1


class HeadTooLarge(Refused):
    """A head beyond the limits."""

    status = 431


class HeadTooSlow(Refused):
    """A head that does not come."""

    status = 408


class BoundedHeads(HttpToolsProtocol):
    """uvicorn's protocol with bounds. `half_heads` counts connections by address; a server makes
    a subclass with `counting()`, so that two servers of one process do not share it."""

    half_heads: Counter[str] = Counter()

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._in_head = True
        self._begun = False
        self._last_chance = False
        self._head_bytes = 0
        self._idle_bytes = 0
        self._refusal: Refused | None = None
        self._over = False
        self._half = ""
        self._deadline: TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._deadline = self.loop.call_later(HEAD_WITHIN_S, self._too_slow)

    def connection_lost(self, exc: Exception | None) -> None:
        self._over = True
        self._forget_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        while data and not self._over:
            allowed = len(data)
            if self._in_head:
                allowed = HEAD_LIMIT_BYTES - self._head_bytes
                if allowed <= 0:
                    self.refuse(_too_large(f"more than {HEAD_LIMIT_BYTES} bytes"))
                    return
            piece = data if len(data) <= allowed else data[:allowed]
            data = data[len(piece) :]
            self._feed(piece)
        if not self._over:
            self._watch()

    def _feed(self, piece: bytes) -> None:
        before = self._idle_bytes
        self._head_bytes += len(piece)
        self._idle_bytes += len(piece)
        super().data_received(piece)
        if self._idle_bytes > max(before, HEAD_LIMIT_BYTES) and not self._in_head:
            self.refuse(_too_large(f"more than {HEAD_LIMIT_BYTES} bytes beside its content"))

    def _watch(self) -> None:
        """Whoever is owed an answer may take time; from everyone else a request is due."""
        if self._busy:
            self._forget_deadline()
            return
        if self._deadline is None:
            self._last_chance = False
            self._deadline = self.loop.call_later(HEAD_WITHIN_S, self._too_slow)
        if self._begun and not self._half:
            address = self.client[0] if self.client else "-"
            if self.half_heads[address] >= MAX_HALF_HEADS:
                self.refuse(
                    TooMany(
                        "heads_pending",
                        "Too many requests of this address have begun and not gone on",
                        hint="Send each request's head in one piece.",
                        retry_after_s=HEAD_WITHIN_S,
                    )
                )
                return
            self._half = address
            self.half_heads[self._half] += 1

    @property
    def _busy(self) -> bool:
        return bool(self.cycle) and not self.cycle.response_complete

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if self._half:
            self.half_heads[self._half] -= 1
            if self.half_heads[self._half] <= 0:
                del self.half_heads[self._half]
            self._half = ""

    def _too_slow(self) -> None:
        self._deadline = None
        if self._busy or self._over:
            return
        if not self._last_chance:
            self._last_chance = True
            self._deadline = self.loop.call_later(UNREAD_S, self._too_slow)
            return
        if not self._begun:
            self._over = True
            self.transport.close()
            return
        self.refuse(
            HeadTooSlow(
                "head_too_slow",
                f"The request's head was not whole after {HEAD_WITHIN_S:g} seconds",
                hint="Send it in one piece.",
            )
        )

    def refuse(self, error: Refused) -> None:
        """Answer if the answer cannot be taken for another one, and close."""
        if self._over:
            return
        self._over = True
        self._forget_deadline()
        self._unset_keepalive_if_required()
        if self._busy or self.transport.is_closing():
            self.transport.close()
            return
        self.transport.write(_answer(error))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER_S, self.transport.close)

    def send_400_response(self, msg: str) -> None:
        """What the parser, or a callback of ours below, did not take."""
        self.refuse(
            self._refusal
            or BadRequest(
                "http_invalid", "This is not a request of HTTP/1.1", hint="Check the client."
            )
        )

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = self._begun = True
        self._head_bytes = self._idle_bytes = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._in_head:
            return
        if len(self.headers) >= MAX_HEADERS:
            self._refusal = _too_large(f"more than {MAX_HEADERS} headers")
            raise self._refusal
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = self._begun = False
        self._idle_bytes = 0
        # A head that came whole in one read with others was not counted on its way.
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > HEAD_LIMIT_BYTES:
            self._refusal = _too_large(f"more than {HEAD_LIMIT_BYTES} bytes")
            raise self._refusal
        if len(self.pipeline) >= MAX_PIPELINED:
            self._refusal = TooMany(
                "requests_pipelined",
                f"More than {MAX_PIPELINED} requests wait on one connection",
                hint="Wait for answers, or use more connections.",
            )
            raise self._refusal
        if not self.url.startswith(b"/"):
            self._check_target()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._idle_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._in_head = True
        self._head_bytes = 0

    def _check_target(self) -> None:
        """A whole address as target outranks the Host header: they must agree."""
        hosts = [value for name, value in self.headers if name == b"host"]
        # The parser found it well-formed: it is the same one.
        target = httptools.parse_url(self.url)
        if target.host and len(hosts) == 1 and not target.userinfo:
            port = b":%d" % target.port if target.port else b""
            bracketed = b"[%s]" % target.host if b":" in target.host else target.host
            if hosts[0].lower() == (bracketed + port).lower():
                return
        self._refusal = BadRequest(
            "target_refused",
            "The request's target names another server than its Host header",
            hint="Send the path alone.",
        )
        raise self._refusal


def counting(kind: type[BoundedHeads] = BoundedHeads) -> type[BoundedHeads]:
    """The protocol for one server."""
    return type(kind.__name__, (kind,), {"half_heads": Counter()})


def _too_large(why: str) -> HeadTooLarge:
    return HeadTooLarge(
        "head_too_large", f"The request's head has {why}", hint="Send fewer and shorter headers."
    )


def _answer(error: Refused) -> bytes:
    content = msgspec.json.encode(problems.of_error(error))
    status = http.HTTPStatus(error.status)
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\n"
        f"content-type: {problems.MEDIA_TYPE}\r\ncontent-length: {len(content)}\r\n"
        "connection: close\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\n\r\n"
    )
    return head.encode("ascii") + content

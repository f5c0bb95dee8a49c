"""Reading a request's body: whole, within size and time, and only if it is what it says it is.

JSON must be such that every parser reads it alike and not nested without end. Nothing below this
layer ever streams, and of a caller who is not let in yet (who signs in) little is read.
"""

from __future__ import annotations

import re

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent_work_orders.api.pace import Pace
from agent_work_orders.errors import BadRequest, Refused, TooLarge

BODY_TIMEOUT_S = 15.0
# Who is not let in yet sends a token or a key, and nothing else.
STRANGERS_LIMIT_BYTES = 4_096
# The deepest legal workflow input is far below; the recursion limit is far above.
MAX_DEPTH = 64
JSON = "application/json"
# Like JSON, no form or image of another site can send these without asking first.
YAML = ("application/yaml", "application/x-yaml", "text/yaml")
FRUGAL_BYTES = 1024 * 1024
"""From here on memory counts more than time: splitting at quotes costs 8 bytes for each."""
_STRINGS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_NOT_BRACKETS = bytes(code for code in range(256) if code not in b"[]{}")


class UnsupportedMedia(Refused):
    """A body of a type that is not read here."""

    status = 415


class Body:
    def __init__(
        self, app: ASGIApp, *, limit_bytes: int, timeout_s: float = BODY_TIMEOUT_S
    ) -> None:
        self._app = app
        self._limit = limit_bytes
        self._timeout_s = timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = await self._body(scope, receive)
        await self._app(scope, _Replay(body, receive), send)

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        length, kind = b"", b""
        for name, value in scope["headers"]:
            if name == b"content-length":
                length = value
            elif name == b"content-type":
                kind = value
            elif name == b"content-encoding" and value.lower() != b"identity":
                raise UnsupportedMedia(
                    "body_encoded", "Compressed bodies are not read", hint="Send it plain."
                )
        limit = self._limit
        if "caller" not in scope.get("state", {}):
            limit = min(limit, STRANGERS_LIMIT_BYTES)
        if length.isdigit() and int(length) > limit:
            raise _too_large(limit)
        async with Pace(self._timeout_s) as pace:
            body = await self._read(receive, limit, pace)
        if body:
            check_body(body, kind.decode("latin-1"))
        return body

    async def _read(self, receive: Receive, limit: int, pace: Pace) -> bytes:
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise BadRequest(
                    "body_incomplete",
                    "The client left before its body was whole",
                    hint="Send it again.",
                )
            part = message.get("body", b"")
            size += len(part)
            pace.came(len(part))
            if size > limit:
                raise _too_large(limit)
            parts.append(part)
            if not message.get("more_body", False):
                return parts[0] if len(parts) == 1 else b"".join(parts)


def _too_large(limit: int) -> TooLarge:
    return TooLarge(
        "body_too_large",
        f"The body has more than {limit} bytes",
        hint="Send less, or raise AWO_BODY_LIMIT_BYTES.",
    )


def check_body(body: bytes, content_type: str) -> None:
    """Whether a body is JSON that means the same to everybody (or text where YAML may come)."""
    kind = content_type.split(";", 1)[0].strip().lower()
    if kind in YAML:
        return
    if kind != JSON:
        raise UnsupportedMedia(
            "media_type_unsupported",
            f"A body of type {kind[:60]!r} is not read here",
            hint=f"Send {JSON}.",
        )
    if too_deep(body):
        raise BadRequest(
            "json_too_deep",
            f"The JSON is nested deeper than {MAX_DEPTH}, or its brackets do not match",
            hint="Flatten it.",
        )
    try:
        msgspec.json.decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise BadRequest(
            "json_invalid", f"The body is not JSON: {error}", hint="Check it with a JSON parser."
        ) from None


def too_deep(body: bytes) -> bool:
    """Whether brackets nest past the limit, without parsing: innermost pairs are removed level by
    level, each a linear pass."""
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return False
    brackets = outside_strings(body).translate(None, _NOT_BRACKETS)
    for _ in range(MAX_DEPTH):
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if not brackets:
            return False
    return True


def outside_strings(body: bytes) -> bytes:
    """JSON without its strings, for counting. Where it is no JSON any more (a backslash outside of
    strings) it may be anything from there on: a parser goes no further either."""
    if len(body) > FRUGAL_BYTES:
        return _STRINGS.sub(b"", body)
    if b"\\" in body:
        # In this order: of a row of backslashes the pairs are escaped ones.
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(body.split(b'"')[::2])


class _Replay:
    """The body as one message, then whatever the server says (a disconnect)."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        return await self._receive()

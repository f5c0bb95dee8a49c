"""`POST /webhook/github`: a delivery is checked, stored, and only then answered.

A plain ASGI layer, because it is the one address that must keep up with bursts. It stands inside
the guard (so the server's public name must be in AWO_ALLOWED_HOSTS) and outside of the
authentication: the signature is the key. Nothing is decided here; work_orders/intake.py takes up
what was stored.

The order of the checks: what costs nothing first; then the signature over the raw bytes; what is
said of the content (events, GUIDs, JSON) only to who signed it. Of a body whose signature is
missing or has not GitHub's form nothing is read.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from agent_work_orders.api import json_bounds, problems
from agent_work_orders.api.body import BODY_TIMEOUT_S, JSON, TooSlow, UnsupportedMedia
from agent_work_orders.clock import Clock
from agent_work_orders.engines.perform import Log
from agent_work_orders.errors import BadRequest, Refused, TooLarge, Unauthenticated, Unavailable
from agent_work_orders.security import signature
from agent_work_orders.state_manager.deliveries import Deliveries
from agent_work_orders.work_orders.github_event import EVENTS

PATH = "/webhook/github"
LIMIT_BYTES = 25 * 1024 * 1024
"""GitHub sends no more than 25 MB."""
MAX_HELD_BYTES = 128 * 1024 * 1024
"""Of bodies that are being read or checked at once; past that callers are sent away."""
LARGE_BYTES = 256 * 1024
"""From here on a body is checked in a thread: 256 kB of JSON take about 3 ms."""
TELL_EVERY_S = 60.0
_EVENT = re.compile(rb"[a-z][a-z0-9_]{0,63}")
_GUID = re.compile(rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_WANTED = (
    b"x-hub-signature-256", b"x-github-event", b"x-github-delivery", b"content-type",
    b"content-length", b"content-encoding",
)  # fmt: skip


DESCRIPTION: dict[str, Any] = {
    "post": {
        "tags": ["github"],
        "summary": "Take a delivery of GitHub",
        "description": "Signed by one of GITHUB_WEBHOOK_SECRET in X-Hub-Signature-256; stored "
        "before it is answered, handled afterwards. A ping is answered with 200.",
        "operationId": "take_delivery",
        "parameters": [
            {"name": name, "in": "header", "required": True, "schema": {"type": "string"}}
            for name in (signature.HEADER, "X-GitHub-Event", "X-GitHub-Delivery")
        ],
        "requestBody": {"required": True, "content": {JSON: {"schema": {"type": "object"}}}},
        "responses": {
            "200": {
                "description": "A ping",
                "content": {
                    JSON: {
                        "schema": {
                            "type": "object",
                            "required": ["status"],
                            "properties": {"status": {"const": "pong"}},
                        }
                    }
                },
            },
            "202": {
                "description": "Taken, known, or of no interest",
                "content": {
                    JSON: {
                        "schema": {
                            "type": "object",
                            "required": ["delivery_id", "status"],
                            "properties": {
                                "delivery_id": {"type": "string"},
                                "status": {"enum": ["accepted", "duplicate", "ignored"]},
                            },
                        }
                    }
                },
            },
        },
        "security": [],
    }
}
"""Of the one route that FastAPI does not know."""


class _MethodNotAllowed(Refused):
    """A delivery is posted."""

    status = 405


class Webhook:
    def __init__(
        self,
        app: ASGIApp,
        *,
        deliveries: Deliveries,
        secrets: Sequence[str],
        clock: Clock,
        log: Log,
        arrived: Callable[[], None] = lambda: None,
        timeout_s: float = BODY_TIMEOUT_S,
        limit_bytes: int = LIMIT_BYTES,
    ) -> None:
        """`arrived` is called after each one that was stored."""
        self._app = app
        self._deliveries = deliveries
        self._secrets = tuple(secret for secret in secrets if secret)
        self._clock = clock
        self._log = log
        self._arrived = arrived
        self._timeout_s = timeout_s
        self._limit = limit_bytes
        self._held_bytes = 0
        self._failures = 0
        self._told_s: float | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != PATH:
            await self._app(scope, receive, send)
            return
        try:
            answer = await self._answer(scope, receive)
        except Unauthenticated as error:
            self._count_failure()
            answer = problems.of(error, scope)
        await answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive) -> Response:
        if scope["method"] != "POST":
            raise _MethodNotAllowed(
                "method_not_allowed", "Deliveries are sent by POST", hint="See docs/github.md."
            )
        if not self._secrets:
            raise Unavailable(
                "webhook_not_configured",
                "This server takes no deliveries: it has no secret to check them by",
                hint="Set GITHUB_WEBHOOK_SECRET to the secret of the App or the webhook.",
            )
        headers = _headers(scope)
        signed = _one(headers, b"x-hub-signature-256")
        if signed is None or not signature.well_formed(signed):
            raise _unsigned()
        _check_kind(headers)
        body = await self._read(_one(headers, b"content-length"), receive, signed)
        event, guid = _name(headers, b"x-github-event", _EVENT), _guid(headers)
        if event == "ping":
            await self._checked(body, guid, event)
            return _json({"status": "pong"}, 200)
        if event not in EVENTS:
            return _json({"delivery_id": guid, "status": "ignored"}, 202)
        await self._checked(body, guid, event)
        fresh = await self._deliveries.take(guid, event, body, self._clock.now_ms())
        if fresh:
            self._arrived()
        status = "accepted" if fresh else "duplicate"
        return _json({"delivery_id": guid, "status": status}, 202)

    async def _read(self, length: bytes | None, receive: Receive, signed: bytes) -> bytes:
        """The body, once its signature fits."""
        if length is not None and length.isdigit() and int(length) > self._limit:
            raise _too_large(self._limit)
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._timeout_s):
                more = True
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _incomplete()
                    part = message.get("body", b"")
                    more = message.get("more_body", False)
                    size += len(part)
                    self._held_bytes += len(part)
                    if size > self._limit:
                        raise _too_large(self._limit)
                    if self._held_bytes > MAX_HELD_BYTES:
                        raise _busy()
                    parts.append(part)
            body = parts[0] if len(parts) == 1 else b"".join(parts)
            if size > LARGE_BYTES:
                good = await asyncio.to_thread(signature.fits, signed, body, self._secrets)
            else:
                good = signature.fits(signed, body, self._secrets)
        except TimeoutError:
            raise TooSlow(
                "body_too_slow", "The body did not arrive in time", hint="Send it again."
            ) from None
        finally:
            self._held_bytes -= size
        if not good:
            raise _unsigned()
        return body

    async def _checked(self, body: bytes, guid: str, event: str) -> None:
        """Refuse what is signed and yet not to be read, and keep that it came."""
        try:
            if len(body) > LARGE_BYTES:
                await asyncio.to_thread(json_bounds.check, body)
            else:
                json_bounds.check(body)
        except BadRequest as error:
            await self._deliveries.note(guid, event, str(error), self._clock.now_ms())
            raise

    def _count_failure(self) -> None:
        """Strangers may send as many as they like: one line a minute says how many came."""
        self._failures += 1
        now_s = self._clock.monotonic_s()
        if self._told_s is None or now_s - self._told_s >= TELL_EVERY_S:
            self._told_s = now_s
            self._log("", "webhook_refused", "warning", {"unsigned": self._failures})
            self._failures = 0


def _headers(scope: Scope) -> dict[bytes, list[bytes]]:
    found: dict[bytes, list[bytes]] = {}
    for name, value in scope["headers"]:
        if name in _WANTED:
            found.setdefault(name, []).append(value)
    return found


def _one(headers: dict[bytes, list[bytes]], name: bytes) -> bytes | None:
    """The header, if it was sent exactly once."""
    values = headers.get(name, [])
    return values[0] if len(values) == 1 else None


def _check_kind(headers: dict[bytes, list[bytes]]) -> None:
    if any(value.lower() != b"identity" for value in headers.get(b"content-encoding", [])):
        raise UnsupportedMedia(
            "body_encoded", "Compressed bodies are not read", hint="Send it plain."
        )
    kind = (_one(headers, b"content-type") or b"").decode("latin-1")
    if kind.split(";", 1)[0].strip().lower() != JSON:
        raise UnsupportedMedia(
            "media_type_unsupported",
            f"A delivery of type {kind[:60]!r} is not read here",
            hint=f"Choose the content type {JSON} in the webhook's settings.",
        )


def _name(headers: dict[bytes, list[bytes]], header: bytes, form: re.Pattern[bytes]) -> str:
    value = _one(headers, header)
    if value is None or form.fullmatch(value) is None:
        name = header.decode()
        raise BadRequest(
            "delivery_header_invalid",
            f"{name} is missing, there twice, or not as GitHub sends it",
            hint="Send what GitHub sends.",
            field=name,
        )
    return value.decode()


def _guid(headers: dict[bytes, list[bytes]]) -> str:
    return _name(headers, b"x-github-delivery", _GUID).lower()


def _json(value: dict[str, Any], status: int) -> Response:
    return Response(msgspec.json.encode(value), status_code=status, media_type=JSON)


def _unsigned() -> Unauthenticated:
    """One answer to all of them: who forges is not told what is wrong."""
    return Unauthenticated(
        "signature_invalid",
        f"{signature.HEADER} is missing or does not fit",
        hint="Give the webhook the same secret as GITHUB_WEBHOOK_SECRET.",
    )


def _too_large(limit: int) -> TooLarge:
    return TooLarge(
        "delivery_too_large",
        f"The delivery has more than {limit} bytes",
        hint="GitHub sends no more than 25 MB.",
    )


def _incomplete() -> BadRequest:
    return BadRequest(
        "body_incomplete",
        "The client left before its body was whole",
        hint="Send it again.",
    )


def _busy() -> Unavailable:
    return Unavailable(
        "webhook_busy", "Too many large deliveries come at once", hint="Redeliver it later."
    )

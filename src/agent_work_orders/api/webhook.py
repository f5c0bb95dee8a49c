"""`POST /webhook/github`: a delivery is checked, stored, and only then answered.

A plain ASGI layer, because it is the one address that must keep up with bursts. It stands inside
the guard (so the server's public name must be in AWO_ALLOWED_HOSTS) and outside of the
authentication: the signature is the key. Nothing is decided here; work_orders/incoming/intake.py
takes up what was stored.

The order of the checks: what costs nothing first; then the signature over the raw bytes; what is
said of the content (its type, events, GUIDs, JSON) only to who signed it. Of a body whose signature
is missing or has not GitHub's form nothing is read; others wait for theirs in
api/waiting_room.py. What was signed and is refused is noted, so that people see it.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from agent_work_orders.api import form, json_bounds, problems
from agent_work_orders.api.body import JSON, UnsupportedMedia
from agent_work_orders.api.pace import Pace, TooSlow
from agent_work_orders.api.waiting_room import SMALL_BYTES, Guest, WaitingRoom, busy
from agent_work_orders.clock import Clock
from agent_work_orders.engines.perform import Log
from agent_work_orders.errors import BadRequest, Refused, TooLarge, Unauthenticated, Unavailable
from agent_work_orders.security import signature
from agent_work_orders.state_manager.deliveries import Deliveries
from agent_work_orders.work_orders.incoming.event_types import EVENT_TYPES

PATH = "/webhook/github"
LIMIT_BYTES = 25 * 1024 * 1024
"""GitHub sends no more than 25 MB."""
WITHIN_S = 10.0
"""GitHub waits no longer for an answer."""
LARGE_BYTES = SMALL_BYTES
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
        "before it is answered, handled afterwards. A ping is answered with 200. GitHub's other "
        "content type, a form with the JSON in its field payload, is read too.",
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
        timeout_s: float = WITHIN_S,
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
        self.room = WaitingRoom()
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
        body = await self._read(scope, _one(headers, b"content-length"), receive, signed)
        try:
            return await self._taken(headers, body)
        except Refused as error:
            await self._note(headers, body, error)
            raise

    async def _taken(self, headers: dict[bytes, list[bytes]], body: bytes) -> Response:
        """What was signed."""
        kind = _kind(headers)
        event, guid = _name(headers, b"x-github-event", _EVENT), _guid(headers)
        if event != "ping" and event not in EVENT_TYPES:
            return _json({"delivery_id": guid, "status": "ignored"}, 202)
        if len(body) > LARGE_BYTES:
            content = await asyncio.to_thread(_content, kind, body)
        else:
            content = _content(kind, body)
        if event == "ping":
            return _json({"status": "pong"}, 200)
        fresh = await self._deliveries.take(guid, event, content, self._clock.now_ms())
        if fresh:
            self._arrived()
        status = "accepted" if fresh else "duplicate"
        return _json({"delivery_id": guid, "status": status}, 202)

    async def _read(
        self, scope: Scope, length: bytes | None, receive: Receive, signed: bytes
    ) -> bytes:
        """The body, once its signature fits."""
        if length is not None and length.isdigit() and int(length) > self._limit:
            raise _too_large(self._limit)
        guest = Guest((scope.get("client") or ("",))[0], Pace(self._timeout_s))
        self.room.enter(guest)
        try:
            async with guest.pace:
                parts = await self._parts(receive, guest)
            body = parts[0] if len(parts) == 1 else b"".join(parts)
            if len(body) > LARGE_BYTES:
                good = await asyncio.to_thread(signature.fits, signed, body, self._secrets)
            else:
                good = signature.fits(signed, body, self._secrets)
        except TooSlow:
            if guest.sent_away:
                raise busy() from None
            raise
        finally:
            self.room.leave(guest)
        if not good:
            raise _unsigned()
        return body

    async def _parts(self, receive: Receive, guest: Guest) -> list[bytes]:
        parts: list[bytes] = []
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _incomplete()
            part = message.get("body", b"")
            more = message.get("more_body", False)
            if guest.size + len(part) > self._limit:
                raise _too_large(self._limit)
            guest.pace.came(len(part))
            self.room.add(guest, len(part))
            parts.append(part)
        return parts

    async def _note(self, headers: dict[bytes, list[bytes]], body: bytes, error: Refused) -> None:
        """Keep that it came, under its GUID; one without is known by its content."""
        event = _one(headers, b"x-github-event") or b""
        guid = _one(headers, b"x-github-delivery") or b""
        known = _GUID.fullmatch(guid) is not None
        await self._deliveries.note(
            guid.decode().lower() if known else f"unnamed-{hashlib.sha256(body).hexdigest()[:24]}",
            event.decode() if _EVENT.fullmatch(event) else "unknown",
            str(error),
            self._clock.now_ms(),
        )

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


def _kind(headers: dict[bytes, list[bytes]]) -> str:
    if any(value.lower() != b"identity" for value in headers.get(b"content-encoding", [])):
        raise UnsupportedMedia(
            "body_encoded", "Compressed bodies are not read", hint="Send it plain."
        )
    said = (_one(headers, b"content-type") or b"").decode("latin-1")
    kind = said.split(";", 1)[0].strip().lower()
    if kind not in (JSON, form.FORM):
        raise UnsupportedMedia(
            "media_type_unsupported",
            f"A delivery of type {said[:60]!r} is not read here",
            hint=f"Choose the content type {JSON} in the webhook's settings.",
        )
    return kind


def _content(kind: str, body: bytes) -> bytes:
    """The JSON of a delivery, once it is known to be fit to be read."""
    content = form.payload(body) if kind == form.FORM else body
    json_bounds.check(content)
    return content


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

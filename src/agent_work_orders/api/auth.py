"""Who asks. Every address but the few public ones needs a key; loopback is no identity.

The middleware refuses by default, so that a new route cannot be forgotten. A further way to
identify people (a session cookie, say) is one more function in `WAYS`.
"""

from __future__ import annotations

import hmac
from collections import OrderedDict
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from agent_work_orders.bootstrap import House
from agent_work_orders.clock import Clock
from agent_work_orders.errors import TooMany, Unauthenticated
from agent_work_orders.security.roles import LOCAL_OPERATOR, Caller

PUBLIC = frozenset({"/healthz", "/readyz", "/openapi.json", "/docs"})
FAILURES_ALLOWED = 20
WINDOW_S = 60.0
MAX_ADDRESSES = 10_000

Headers = dict[bytes, bytes]


class Failures:
    """Counts failed attempts by address. A right key is never held up by them: behind one
    address (loopback, a proxy) others must not be able to lock people out."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def note(self, address: str) -> float | None:
        """One more failure; seconds to wait once there were too many."""
        now_s = self._clock.monotonic_s()
        began_s, count = self._since.pop(address, (now_s, 0))
        if now_s - began_s >= WINDOW_S:
            began_s, count = now_s, 0
        self._since[address] = (began_s, count + 1)
        if len(self._since) > MAX_ADDRESSES:
            self._since.popitem(last=False)
        return None if count < FAILURES_ALLOWED else began_s + WINDOW_S - now_s


class Authentication:
    def __init__(self, app: ASGIApp, *, house: House) -> None:
        self._app = app
        self._house = house
        self._failures = Failures(house.rooms.clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in PUBLIC:
            await self._app(scope, receive, send)
            return
        headers: Headers = dict(scope["headers"])
        caller = identify(self._house, headers)
        if caller is not None:
            scope["state"]["caller"] = caller
            await self._app(scope, receive, send)
            return
        address = str((scope.get("client") or ("unknown", 0))[0])
        raise self._refusal(address, headers)

    def _refusal(self, address: str, headers: Headers) -> Unauthenticated | TooMany:
        if token_of(headers) is None:
            return Unauthenticated(
                "key_missing",
                "This needs an API key",
                hint="Send `Authorization: Bearer <key>`; the local key is in the data directory.",
            )
        wait_s = self._failures.note(address)
        if wait_s is not None:
            return TooMany(
                "too_many_failures",
                "Too many wrong keys came from this address",
                hint="Wait, then use a key that is valid.",
                retry_after_s=wait_s,
            )
        return Unauthenticated(
            "key_unknown",
            "This API key is not valid",
            hint="Check it; it may have been revoked.",
        )


def by_key(house: House, headers: Headers) -> Caller | None:
    token = token_of(headers)
    if token is None:
        return None
    if hmac.compare_digest(token.encode(), house.local_key.encode()):
        return LOCAL_OPERATOR
    key = house.rooms.keys.authenticate(token)
    if key is None:
        return None
    # With the id, so that no key can take the name of another or of the local operator.
    return Caller(name=f"{key.name}/{key.key_id}", role=key.role, repositories=key.repositories)


def token_of(headers: Headers) -> str | None:
    """From `Authorization: Bearer` or `X-API-Key`."""
    given = headers.get(b"authorization", b"").decode("latin-1")
    scheme, _, token = given.partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return headers.get(b"x-api-key", b"").decode("latin-1").strip() or (given or None)


WAYS: tuple[Callable[[House, Headers], Caller | None], ...] = (by_key,)


def identify(house: House, headers: Headers) -> Caller | None:
    """Who sent these headers, or None."""
    for way in WAYS:
        caller = way(house, headers)
        if caller is not None:
            return caller
    return None

"""Who asks. Every address but the few public ones needs a key or a session; loopback is nobody.

The middleware refuses by default, so that a new route cannot be forgotten. A further way to
identify people is one more function in `WAYS`.

A key is sent on purpose; a cookie is sent by the browser, whoever asked it to, and to other servers
of this host name too. So a cookie counts only beside the secret that our own page keeps
(`page_secret`), and never when the browser says that another page asked: changes need an `Origin`
(the guard has refused foreign ones) or `Sec-Fetch-Site: same-origin`.
"""

from __future__ import annotations

import hmac
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable

import msgspec
from starlette.types import ASGIApp, Receive, Scope, Send

from agent_work_orders.api import cookies, page_secret
from agent_work_orders.bootstrap import House
from agent_work_orders.clock import Clock
from agent_work_orders.errors import Forbidden, TooMany, Unauthenticated
from agent_work_orders.security.roles import LOCAL_OPERATOR, Caller
from agent_work_orders.state_manager.keys import ApiKey
from agent_work_orders.state_manager.sessions import Session, local_holder

PUBLIC = frozenset({"/healthz", "/readyz", "/openapi.json", "/docs"})
# They carry their own proof: signing in has it in the body, a delivery (which the webhook's layer
# answers before this one) in its signature.
OPEN = frozenset({("POST", "/api/session"), ("POST", "/webhook/github")})
FAILURES_ALLOWED = 20
WINDOW_S = 60.0
MAX_ADDRESSES = 10_000
_READING = frozenset({"GET", "HEAD", "OPTIONS"})

Headers = dict[bytes, bytes]


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks, and as whose holder they may sign in elsewhere."""

    caller: Caller
    holder: str
    session: Session | None = None
    """Set when a cookie said so."""


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
        self._failures = Failures(house.context.clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in PUBLIC:
            await self._app(scope, receive, send)
            return
        headers: Headers = dict(scope["headers"])
        address = str((scope.get("client") or ("unknown", 0))[0])
        scope["state"]["count_failure"] = lambda: self._count_failure(address)
        identity = await identify(self._house, headers)
        if identity is not None:
            if identity.session is not None:
                check_own_page(scope["method"], headers)
            scope["state"]["identity"] = identity
            scope["state"]["caller"] = identity.caller
        elif (scope["method"], scope["path"]) not in OPEN:
            raise await self._refusal(address, headers)
        await self._app(scope, receive, send)

    def _count_failure(self, address: str) -> None:
        wait_s = self._failures.note(address)
        if wait_s is not None:
            raise TooMany(
                "too_many_failures",
                "Too many wrong keys or links came from this address",
                hint="Wait, then use a key or a link that is valid.",
                retry_after_s=wait_s,
            )

    async def _refusal(self, address: str, headers: Headers) -> Unauthenticated:
        if token_of(headers) is not None:
            self._count_failure(address)
            return key_unknown()
        if await anext(cookie_sessions(self._house, headers), None) is not None:
            return page_unproven()
        if any(secrets_of(headers)):
            # An old cookie is no attack: a page that stayed open for weeks sends one.
            return Unauthenticated(
                "session_ended",
                "You are signed out: the session has ended",
                hint="Run `awo open` for a new link.",
            )
        return Unauthenticated(
            "key_missing",
            "This needs an API key or a session",
            hint="Send `Authorization: Bearer <key>` (the local key is in the data directory), "
            "or run `awo open` to sign in with a browser.",
        )


def key_unknown() -> Unauthenticated:
    return Unauthenticated(
        "key_unknown", "This API key is not valid", hint="Check it; it may have been revoked."
    )


def page_unproven() -> Unauthenticated:
    return Unauthenticated(
        "page_unproven",
        "The session's cookie came without the secret of the page that signed in",
        hint="Run `awo open` for a new link; a program sends an API key instead.",
    )


def check_own_page(method: str, headers: Headers) -> None:
    """Forbidden `site_refused`, `origin_missing`: a cookie alone proves nothing."""
    site = headers.get(b"sec-fetch-site", b"").lower()
    if site not in (b"", b"none", b"same-origin"):
        raise Forbidden(
            "site_refused",
            "A page of another site asked for this",
            hint="Open the dashboard itself.",
        )
    if method not in _READING and b"origin" not in headers and site != b"same-origin":
        raise Forbidden(
            "origin_missing",
            "A change that is signed in by a cookie must say which page it comes from",
            hint="Use the dashboard, or send an API key instead of the cookie.",
        )


async def by_key(house: House, headers: Headers) -> Identity | None:
    token = token_of(headers)
    return None if token is None else await holder_of_key(house, token)


async def holder_of_key(house: House, token: str) -> Identity | None:
    """Whose key this is: the local operator's, or one that was given out."""
    if hmac.compare_digest(token.encode("utf-8", "replace"), house.local_key.encode()):
        return Identity(caller=LOCAL_OPERATOR, holder=local_holder(house.local_key))
    key = await house.context.store.keys.authenticate(token)
    return None if key is None else Identity(caller=_caller(key), holder=key.key_id)


async def of_holder(house: House, holder: str) -> Identity | None:
    """Who a holder is now; None when it is gone."""
    if holder == local_holder(house.local_key):
        return Identity(caller=LOCAL_OPERATOR, holder=holder)
    for key in await house.context.store.keys.all():
        if key.key_id == holder and key.revoked_at_ms is None:
            return Identity(caller=_caller(key), holder=holder)
    return None


async def by_session(house: House, headers: Headers) -> Identity | None:
    """By the cookie whose page asks: one that another page planted does not lock people out."""
    if token_of(headers) is not None:
        return None  # who sends a key means the key, right or wrong
    async for identity in cookie_sessions(house, headers):
        session = identity.session
        if session and page_secret.proves(headers, house.local_key, session.session_id):
            return identity
    return None


async def cookie_sessions(house: House, headers: Headers) -> AsyncIterator[Identity]:
    """Whom cookies name, without proof that our page sent them."""
    for secret in secrets_of(headers):
        session = await house.store.sessions.authenticate(secret)
        found = None if session is None else of_session(house, session)
        if found is not None:
            yield found


def of_session(house: House, session: Session) -> Identity | None:
    if session.key is not None:
        return Identity(caller=_caller(session.key), holder=session.holder, session=session)
    if session.holder == local_holder(house.local_key):
        return Identity(caller=LOCAL_OPERATOR, holder=session.holder, session=session)
    return None


def _caller(key: ApiKey) -> Caller:
    # With the id, so that no key can take the name of another or of the local operator.
    return Caller(name=f"{key.name}/{key.key_id}", role=key.role, repositories=key.repositories)


def secrets_of(headers: Headers) -> list[str]:
    """From the cookie, if there is one of ours."""
    cookie = headers.get(b"cookie", b"").decode("latin-1")
    return list(cookies.values(cookie, host_of(headers))) if cookie else []


def host_of(headers: Headers) -> str:
    return headers.get(b"host", b"").decode("latin-1").lower()


def token_of(headers: Headers) -> str | None:
    """From `Authorization: Bearer` or `X-API-Key`."""
    given = headers.get(b"authorization", b"").decode("latin-1")
    scheme, _, token = given.partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return headers.get(b"x-api-key", b"").decode("latin-1").strip() or (given or None)


Way = Callable[[House, Headers], Awaitable[Identity | None]]
WAYS: tuple[Way, ...] = (by_key, by_session)


async def identify(house: House, headers: Headers) -> Identity | None:
    """Who sent these headers, or None."""
    for way in WAYS:
        found = await way(house, headers)
        if found is not None:
            return found
    return None

"""Signing in with a browser: by a one-time link or an API key, for a cookie."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from agent_work_orders.api import administration_models as models
from agent_work_orders.api import auth, cookies, page_secret, requests, views
from agent_work_orders.api.live_updates import LiveUpdates
from agent_work_orders.api.request_parts import context_of, house_of, identity_of
from agent_work_orders.bootstrap import House
from agent_work_orders.clock import iso
from agent_work_orders.errors import Unauthenticated
from agent_work_orders.security.links import LIFE_S
from agent_work_orders.state_manager.sessions import ABSOLUTE_MS

router = APIRouter(prefix="/api/session", tags=["session"])
SIGN_IN_PATH = "/sign-in"


@router.post("", status_code=201, response_model=models.SignedIn)
async def sign_in(request: Request, body: requests.SignInRequest) -> Response:
    """Sign in: the answer sets a cookie, and has the page's secret, which no other answer has. A
    token of a link works once."""
    body.check()
    house = house_of(request)
    proven = await _proven(house, body)
    if proven is None:
        request.scope["state"]["count_failure"]()
        raise auth.key_unknown() if body.token is None else _link_invalid()
    await _end_before(request)
    session, secret = await house.store.sessions.create(proven.holder)
    await _note(request, proven, "session.create", session.session_id, by=_way(body))
    identity = auth.Identity(caller=proven.caller, holder=proven.holder, session=session)
    cookie = _cookie(request, secret, ABSOLUTE_MS // 1000)
    answer = {
        "session": views.session(identity),
        "page_secret": page_secret.of_session(house.local_key, session.session_id),
    }
    return views.answer(answer, 201, {"Set-Cookie": cookie})


@router.get("", response_model=models.SessionAnswer)
async def who_am_i(request: Request) -> Response:
    """Who asks, by a session or a key."""
    return views.answer({"session": views.session(identity_of(request))})


@router.delete("", response_model=models.SignedOut)
async def sign_out(request: Request) -> Response:
    """End the session and its live connections. The cookie goes."""
    ended = await _end_before(request)
    return views.answer({"signed_out": ended}, 200, {"Set-Cookie": _cookie(request, "", 0)})


@router.post("/links", status_code=201, response_model=models.SignInLink)
async def make_link(request: Request) -> Response:
    """A link that signs a browser in as the caller, once, within ten minutes."""
    house, identity = house_of(request), identity_of(request)
    await _note(request, identity, "session.link", "")
    token = house.links.mint(identity.holder)
    until_ms = house.context.clock.now_ms() + int(LIFE_S * 1000)
    return views.answer({"path": f"{SIGN_IN_PATH}#{token}", "expires_at": iso(until_ms)}, 201)


async def _proven(house: House, body: requests.SignInRequest) -> auth.Identity | None:
    if body.key is not None:
        return await auth.holder_of_key(house, body.key)
    holder = house.links.take(body.token or "")
    return None if holder is None else await auth.of_holder(house, holder)


def _way(body: requests.SignInRequest) -> str:
    return "key" if body.token is None else "link"


async def _end_before(request: Request) -> bool:
    """End the session of the browser that asks, if it has one."""
    identity: auth.Identity | None = request.scope["state"].get("identity")
    if identity is None or identity.session is None:
        return False
    session_id = identity.session.session_id
    ended = await house_of(request).store.sessions.end(session_id)
    updates: LiveUpdates = request.app.state.live_updates
    updates.release_session(session_id)
    await _note(request, identity, "session.end", session_id)
    return ended


async def _note(
    request: Request, identity: auth.Identity, what: str, target: str, **details: str
) -> None:
    context = context_of(request)
    await context.store.audit.append(
        at_ms=context.clock.now_ms(),
        who=identity.caller.name,
        what=what,
        target=target,
        details=dict(details),
    )


def _cookie(request: Request, secret: str, max_age_s: int) -> str:
    """The server itself speaks http; that a proxy made it https is seen by the page's origin."""
    https = request.headers.get("origin", "").lower().startswith("https://")
    host = request.headers.get("host", "").lower()
    return cookies.setting(secret, host, https=https, max_age_s=max_age_s)


def _link_invalid() -> Unauthenticated:
    return Unauthenticated(
        "link_invalid",
        "This sign-in link does not work: it was used, it is older than ten minutes, or the "
        "server was started again",
        hint="Run `awo open` for a new link.",
        field="token",
    )

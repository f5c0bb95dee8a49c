"""The cookie alone opens nothing: browsers also send it to other servers of this host name."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from agent_work_orders.api import page_secret
from agent_work_orders.api.app import create_app
from agent_work_orders.bootstrap import House, open_house
from agent_work_orders.state_manager.sessions import local_holder

ORDERS = "/api/agent-work-orders"
FORGED = {"Origin": "http://127.0.0.1", "Sec-Fetch-Site": "same-origin"}
ASKED = [
    ("GET", ORDERS), ("POST", ORDERS), ("GET", "/api/session"), ("DELETE", "/api/session"),
    ("POST", "/api/session/links"), ("GET", "/api/events"), ("GET", "/status"),
    ("GET", "/api/keys"), ("POST", "/api/keys"), ("GET", f"{ORDERS}/x/artifacts/{'a' * 64}"),
]  # fmt: skip


class Page:
    """What a browser has of one sign-in, in two places."""

    def __init__(self, signed_in: httpx.Response) -> None:
        assert signed_in.status_code == 201, signed_in.text
        [(name, value)] = signed_in.cookies.items()
        self.cookie = f"{name}={value}"
        self.secret: str = signed_in.json()["page_secret"]

    def headers(self, *, secret: str | None = None, before: str = "") -> dict[str, str]:
        """What the page sends; `before` is a cookie that somebody planted."""
        cookie = f"{before}; {self.cookie}" if before else self.cookie
        return {**FORGED, "Cookie": cookie, page_secret.HEADER: secret or self.secret}


def code_of(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


async def sign_in(app: Any, made_client: Any, house: House, key: str | None = None) -> Page:
    holder = local_holder(house.local_key)
    body = {"token": house.links.mint(holder)} if key is None else {"key": key}
    async with made_client(app, None) as browser:
        return Page(await browser.post("/api/session", json=body, headers=FORGED))


@pytest.fixture
async def page(app: Any, house: House, made_client: Any) -> Page:
    return await sign_in(app, made_client, house)


@pytest.fixture
async def anyone(app: Any, made_client: Any) -> AsyncIterator[httpx.AsyncClient]:
    async with made_client(app, None) as client:
        yield client


@pytest.mark.fault("K4")
@pytest.mark.parametrize(("method", "path"), ASKED)
async def test_a_replayed_cookie_neither_reads_nor_acts(
    anyone: httpx.AsyncClient, page: Page, method: str, path: str
) -> None:
    """With every header that a browser would not let a page forge, but a server can."""
    replayed = {**FORGED, "Cookie": page.cookie}
    answer = await anyone.request(method, path, headers=replayed)
    assert code_of(answer) == (401, "page_unproven")
    assert "awo open" in answer.json()["hint"]
    assert "set-cookie" not in answer.headers
    assert (await anyone.get("/api/session", headers=page.headers())).status_code == 200


@pytest.mark.fault("K4")
@pytest.mark.parametrize("secret", ["x", "0" * 64, "\u00e9".encode().decode("latin-1"), " "])
async def test_a_wrong_secret(anyone: httpx.AsyncClient, page: Page, secret: str) -> None:
    headers = [
        *((name.encode(), value.encode()) for name, value in FORGED.items()),
        (b"cookie", page.cookie.encode()),
        (page_secret.HEADER.encode(), secret.encode("latin-1")),
    ]
    assert code_of(await anyone.get(ORDERS, headers=headers)) == (401, "page_unproven")


@pytest.mark.fault("K4")
async def test_the_secret_is_one_sessions_own(
    app: Any, house: House, made_client: Any, anyone: httpx.AsyncClient, page: Page
) -> None:
    """Also for whom the same person signed in twice; what the cookie has does not help either."""
    other = await sign_in(app, made_client, house)
    assert other.secret != page.secret
    for secret in (other.secret, page.cookie.partition("=")[2]):
        answer = await anyone.get(ORDERS, headers=page.headers(secret=secret))
        assert code_of(answer) == (401, "page_unproven")


@pytest.mark.fault("K4")
async def test_the_secret_without_its_cookie_is_nothing(
    anyone: httpx.AsyncClient, page: Page
) -> None:
    headers = {**FORGED, page_secret.HEADER: page.secret}
    assert code_of(await anyone.get(ORDERS, headers=headers)) == (401, "key_missing")


@pytest.mark.fault("K4")
async def test_a_planted_cookie_does_not_lock_people_out(
    app: Any, house: House, made_client: Any, anyone: httpx.AsyncClient, page: Page
) -> None:
    """Nor does it make them somebody else: the page is who it was."""
    _, token = await house.context.store.keys.create("mallory", "viewer")
    planted = await sign_in(app, made_client, house, key=token)
    for before in (planted.cookie, "awo_session=nonsense", "awo_session="):
        answer = await anyone.get("/api/session", headers=page.headers(before=before))
        assert answer.json()["session"]["name"] == "local", before


async def test_signing_in_is_the_only_answer_that_has_it(
    app: Any, house: House, made_client: Any, anyone: httpx.AsyncClient, client: Any
) -> None:
    page = await sign_in(app, made_client, house)
    for path in ("/api/session", "/status", "/api/audit", "/api/keys", "/openapi.json"):
        answer = await anyone.get(path, headers=page.headers())
        assert answer.status_code == 200
        assert page.secret not in answer.text + str(answer.headers)
    made = await anyone.post("/api/session/links", headers=page.headers())
    assert made.status_code == 201 and page.secret not in made.text
    assert "page_secret" not in (await client.get("/api/session")).json()


async def test_after_signing_out_it_is_worth_nothing(anyone: httpx.AsyncClient, page: Page) -> None:
    out = await anyone.delete("/api/session", headers=page.headers())
    assert out.json() == {"signed_out": True}
    for headers in (page.headers(), {**FORGED, "Cookie": page.cookie}):
        assert code_of(await anyone.get(ORDERS, headers=headers)) == (401, "session_ended")


async def test_a_revoked_key_takes_its_pages_with_it(
    app: Any, house: House, made_client: Any, anyone: httpx.AsyncClient
) -> None:
    key, token = await house.context.store.keys.create("ann", "operator")
    page = await sign_in(app, made_client, house, key=token)
    assert (await anyone.get(ORDERS, headers=page.headers())).status_code == 200
    await house.context.store.keys.revoke(key.key_id)
    answer = await anyone.get(ORDERS, headers=page.headers())
    assert code_of(answer) == (401, "session_ended")


async def test_it_outlives_the_server_but_not_the_local_key(
    settings: Any, made_client: Any
) -> None:
    """A new local key signs out everybody's pages, those of other keys too."""
    pages = {}
    async with open_house(settings) as house:
        _, token = await house.context.store.keys.create("ann", "viewer")
        for name, key in (("local", None), ("ann", token)):
            pages[name] = await sign_in(create_app(house), made_client, house, key)
    async with open_house(settings) as house, made_client(create_app(house), None) as client:
        for page in pages.values():
            assert (await client.get(ORDERS, headers=page.headers())).status_code == 200
    (settings.home / "local.key").unlink()
    async with open_house(settings) as house, made_client(create_app(house), None) as client:
        codes = [code_of(await client.get(ORDERS, headers=one.headers())) for one in pages.values()]
        assert codes == [(401, "session_ended"), (401, "page_unproven")]


async def test_a_page_without_it_signs_in_anew(
    app: Any, house: House, made_client: Any, page: Page
) -> None:
    """A browser that lost what the page kept still has the cookie."""
    async with made_client(app, None) as browser:
        token = house.links.mint(local_holder(house.local_key))
        headers = {**FORGED, "Cookie": page.cookie}
        again = Page(await browser.post("/api/session", json={"token": token}, headers=headers))
        assert (await browser.get(ORDERS, headers=again.headers())).status_code == 200

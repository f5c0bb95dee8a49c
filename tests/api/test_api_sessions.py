"""Signing in with a browser, and what a cookie may not do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http.cookies import SimpleCookie
from typing import Any

import httpx
import pytest

from agent_work_orders.api import cookies, page_secret
from agent_work_orders.api.app import create_app
from agent_work_orders.api.auth import FAILURES_ALLOWED
from agent_work_orders.api.body import STRANGERS_LIMIT_BYTES
from agent_work_orders.bootstrap import House, open_house
from agent_work_orders.state_manager.sessions import local_holder

ORDERS = "/api/agent-work-orders"
OURS = {"Origin": "http://127.0.0.1"}


def code_of(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def link(house: House) -> str:
    return house.links.mint(local_holder(house.local_key))


async def signed_in(client: httpx.AsyncClient, **body: str) -> dict[str, Any]:
    """As the page does it: from now on it sends the secret with everything."""
    answer = await client.post("/api/session", json=body, headers=OURS)
    assert answer.status_code == 201, answer.text
    client.headers[page_secret.HEADER] = answer.json()["page_secret"]
    session: dict[str, Any] = answer.json()["session"]
    return session


@pytest.fixture
async def browser(app: Any, house: House, made_client: Any) -> AsyncIterator[httpx.AsyncClient]:
    """The local operator, signed in by a link."""
    async with made_client(app, None) as client:
        await signed_in(client, token=link(house))
        yield client


async def test_a_link_signs_in_once(app: Any, house: House, made_client: Any) -> None:
    token = link(house)
    async with made_client(app, None) as client:
        assert code_of(await client.get("/api/session")) == (401, "key_missing")
        answer = await client.post("/api/session", json={"token": token}, headers=OURS)
        assert answer.status_code == 201
        session = answer.json()["session"]
        assert (session["name"], session["role"], session["repositories"]) == (
            "local", "admin", None,
        )  # fmt: skip
        [cookie] = SimpleCookie(answer.headers["set-cookie"]).values()
        assert cookie.key == "awo_session"
        assert cookie["httponly"] and cookie["samesite"] == "Strict" and cookie["path"] == "/"
        assert not cookie["secure"] and not cookie["domain"]
        client.headers[page_secret.HEADER] = answer.json()["page_secret"]
        assert (await client.get("/api/session")).json()["session"]["name"] == "local"
        assert (await client.get(ORDERS)).status_code == 200
    async with made_client(app, None) as thief:
        again = await thief.post("/api/session", json={"token": token})
        assert code_of(again) == (401, "link_invalid")
        assert "awo open" in again.json()["hint"]


async def test_over_https_only_we_can_set_the_cookie(
    app: Any, house: House, made_client: Any
) -> None:
    headers = {"Origin": "https://127.0.0.1:8443", "Host": "127.0.0.1:8443"}
    async with made_client(app, None) as client:
        answer = await client.post("/api/session", json={"token": link(house)}, headers=headers)
    [cookie] = SimpleCookie(answer.headers["set-cookie"]).values()
    assert cookie.key == "__Host-awo_session_8443"
    assert cookie["secure"] and cookie["path"] == "/" and not cookie["domain"]


async def test_a_key_signs_in_with_what_it_has(
    app: Any, house: House, made_client: Any, repository: Any
) -> None:
    key, token = await house.context.store.keys.create("ann", "viewer", repositories=["r-1"])
    async with made_client(app, None) as client:
        session = await signed_in(client, key=token)
        assert (session["role"], session["repositories"]) == ("viewer", ["r-1"])
        refused = await client.post(ORDERS, headers=OURS, json={})
        assert refused.status_code in (403, 422)
        assert code_of(await client.get("/api/keys")) == (403, "role_insufficient")
        made = await client.post("/api/session/links", headers=OURS)
        assert made.status_code == 201
        path, _, offered = made.json()["path"].partition("#")
        assert path == "/sign-in"
        async with made_client(app, None) as second:
            assert (await signed_in(second, token=offered))["role"] == "viewer"
        late = (await client.post("/api/session/links", headers=OURS)).json()["path"]
        await house.context.store.keys.revoke(key.key_id)
        assert code_of(await client.get("/api/session")) == (401, "session_ended")
        gone = await client.post("/api/session", json={"token": late.partition("#")[2]})
        assert code_of(gone) == (401, "link_invalid")


async def test_the_local_key_signs_in_and_says_who_it_is(
    app: Any, house: House, made_client: Any, client: Any
) -> None:
    async with made_client(app, None) as browser:
        assert (await signed_in(browser, key=house.local_key))["name"] == "local"
    me = (await client.get("/api/session")).json()["session"]
    assert (me["name"], me["expires_at"]) == ("local", None)
    out = await client.delete("/api/session")
    assert out.json() == {"signed_out": False}


async def test_signing_out_ends_it(browser: httpx.AsyncClient, client: Any) -> None:
    kept = dict(browser.cookies)
    out = await browser.delete("/api/session", headers=OURS)
    assert out.json() == {"signed_out": True}
    assert "Max-Age=0" in out.headers["set-cookie"]
    browser.cookies.update(kept)
    assert code_of(await browser.get("/api/session")) == (401, "session_ended")
    rows = (await client.get("/api/audit")).json()["entries"]
    assert [(row["who"], row["what"]) for row in rows] == [
        ("local", "session.create"),
        ("local", "session.end"),
    ]
    assert rows[0]["target"] == rows[1]["target"]
    assert rows[0]["details"] == {"by": "link"}
    assert not any(secret in str(rows) for secret in kept.values())


async def test_signing_in_again_ends_the_session_before(
    browser: httpx.AsyncClient, house: House, app: Any, made_client: Any
) -> None:
    before, secret = dict(browser.cookies), browser.headers[page_secret.HEADER]
    await signed_in(browser, token=link(house))
    assert (await browser.get("/api/session")).status_code == 200
    async with made_client(app, None) as old:
        old.cookies.update(before)
        old.headers[page_secret.HEADER] = secret
        assert code_of(await old.get("/api/session")) == (401, "session_ended")


async def test_a_session_outlives_the_server_but_not_the_local_key(
    settings: Any, made_client: Any
) -> None:
    async with open_house(settings) as house, made_client(create_app(house), None) as client:
        await signed_in(client, token=link(house))
        kept, secret = dict(client.cookies), {page_secret.HEADER: client.headers["X-AWO-Page"]}
    async with open_house(settings) as house, made_client(create_app(house), None) as client:
        client.cookies.update(kept)
        assert (await client.get(ORDERS, headers=secret)).status_code == 200
    (settings.home / "local.key").unlink()
    async with open_house(settings) as house, made_client(create_app(house), None) as client:
        client.cookies.update(kept)
        assert code_of(await client.get(ORDERS, headers=secret)) == (401, "session_ended")


async def test_wrong_ways_in_are_counted_and_right_ones_are_not_held_up(
    app: Any, house: House, made_client: Any
) -> None:
    async with made_client(app, None) as client:
        sent: list[dict[str, str]] = [{"token": "wrong"}, {"key": "wrong"}]
        answers = [
            await client.post("/api/session", json=sent[number % 2])
            for number in range(FAILURES_ALLOWED + 2)
        ]
        assert [one.status_code for one in answers] == [401] * FAILURES_ALLOWED + [429] * 2
        assert answers[-1].headers["retry-after"]
        await signed_in(client, token=link(house))


@pytest.mark.parametrize(
    ("body", "status"),
    [({}, 422), ({"token": "a", "key": "b"}, 422), ({"token": "x" * 256}, 422),
     ({"token": 1}, 422), ({"token": "a", "name": "b"}, 422), ([], 422)],
)  # fmt: skip
async def test_what_is_no_way_in(app: Any, made_client: Any, body: Any, status: int) -> None:
    async with made_client(app, None) as client:
        assert (await client.post("/api/session", json=body)).status_code == status


@pytest.mark.fault("K7")
async def test_of_a_stranger_little_is_read(app: Any, made_client: Any) -> None:
    async with made_client(app, None) as client:
        long = {"token": "x" * STRANGERS_LIMIT_BYTES}
        assert code_of(await client.post("/api/session", json=long)) == (413, "body_too_large")


@pytest.mark.fault("K4")
@pytest.mark.parametrize("origin", ["null", "http://evil.example", "http://127.0.0.1:3000"])
async def test_a_foreign_page_can_neither_read_nor_act(
    browser: httpx.AsyncClient, origin: str
) -> None:
    """Another port is another page, although browsers send it the same cookies."""
    for method, path in (
        ("GET", ORDERS), ("POST", ORDERS), ("GET", "/api/events"), ("DELETE", "/api/session"),
        ("POST", "/api/session"), ("POST", "/api/session/links"),
    ):  # fmt: skip
        answer = await browser.request(method, path, headers={"Origin": origin})
        assert code_of(answer) == (403, "origin_refused"), (method, path)
        assert "access-control-allow-origin" not in answer.headers
    assert (await browser.get("/api/session")).status_code == 200


@pytest.mark.fault("K4")
@pytest.mark.parametrize("host", ["evil.example", "rebound.example:8420"])
async def test_a_rebound_name_gets_nothing(browser: httpx.AsyncClient, host: str) -> None:
    headers = {"Host": host, "Origin": f"http://{host}"}
    for path in (ORDERS, "/api/events", "/", "/sign-in"):
        assert code_of(await browser.get(path, headers=headers)) == (403, "host_refused")


@pytest.mark.fault("K4")
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_the_cookie_counts_only_for_our_own_page(
    browser: httpx.AsyncClient, client: Any, site: str
) -> None:
    headers = {"Sec-Fetch-Site": site}
    for path in (ORDERS, "/api/events", "/api/session", "/status"):
        assert code_of(await browser.get(path, headers=headers)) == (403, "site_refused")
    # Keys are sent on purpose, whatever the browser says about the page.
    assert (await client.get(ORDERS, headers=headers)).status_code == 200
    for fine in ("same-origin", "none"):
        assert (await browser.get(ORDERS, headers={"Sec-Fetch-Site": fine})).status_code == 200


@pytest.mark.fault("K4")
async def test_a_change_by_cookie_must_say_where_it_comes_from(
    browser: httpx.AsyncClient, client: Any, order_body: Any
) -> None:
    body = order_body()
    assert code_of(await browser.post(ORDERS, json=body)) == (403, "origin_missing")
    assert (await client.get(ORDERS)).json()["total_count"] == 0
    told = {"Sec-Fetch-Site": "same-origin"}
    assert (await browser.post(ORDERS, json=body, headers=told)).status_code == 201
    assert (await browser.post(ORDERS, json=body, headers=OURS)).status_code == 201


@pytest.mark.fault("K4")
@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
async def test_a_form_cannot_act(browser: httpx.AsyncClient, kind: str) -> None:
    """What a page can send without asking first."""
    answer = await browser.post(
        ORDERS, content=b'{"repository_url": "x"}', headers={**OURS, "Content-Type": kind}
    )
    assert code_of(answer) == (415, "media_type_unsupported")


async def test_a_key_beside_the_cookie_is_what_counts(browser: httpx.AsyncClient) -> None:
    answer = await browser.get(ORDERS, headers={"Authorization": "Bearer wrong"})
    assert code_of(answer) == (401, "key_unknown")


@pytest.mark.parametrize(
    ("cookie", "host", "expected"),
    [
        ("awo_session_1=a; x=y", "h:1", ["a"]),
        ("awo_session_2=a", "h:1", []),
        ("awo_session=a", "h", ["a"]),
        ("awo_session=a", "[::1]", ["a"]),
        ("awo_session_1=a; __Host-awo_session_1=b", "h:1", ["b", "a"]),
        (";;=; awo_session_1; awo_session_1=", "h:1", ["", ""]),
        ("; ".join(["awo_session_1=a"] * 9), "h:1", ["a"] * 4),
    ],
)
def test_reading_cookies(cookie: str, host: str, expected: list[str]) -> None:
    assert list(cookies.values(cookie, host)) == expected


@asynccontextmanager
async def live(app: Any, cookie: str, secret: str) -> AsyncIterator[Callable[[], Any]]:
    """The application called as a server calls it, so that the end of the answer can be seen."""
    got: asyncio.Queue[Any] = asyncio.Queue()
    scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "path": "/api/events",
        "raw_path": b"/api/events", "query_string": b"", "scheme": "http",
        "headers": [(b"host", b"127.0.0.1"), (b"cookie", cookie.encode()),
                    (b"sec-fetch-site", b"same-origin"), (b"x-awo-page", secret.encode())],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "root_path": "",
    }  # fmt: skip
    sent_body = False

    async def receive() -> Any:
        nonlocal sent_body
        if not sent_body:
            sent_body = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await asyncio.Event().wait()

    task = asyncio.create_task(app(scope, receive, got.put))
    yield got.get
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_live_events_by_cookie_end_with_the_session(
    app: Any, browser: httpx.AsyncClient
) -> None:
    [(name, value)] = browser.cookies.items()
    secret = browser.headers[page_secret.HEADER]
    async with live(app, f"{name}={value}", secret) as take, asyncio.timeout(20):
        assert (await take())["status"] == 200
        assert b"connected" in (await take())["body"]
        await asyncio.sleep(0.2)
        await browser.delete("/api/session", headers=OURS)
        assert (await take()).get("more_body", False) is False

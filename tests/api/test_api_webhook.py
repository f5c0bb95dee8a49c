"""The door for deliveries: the signature is the key, and what is let in is kept first."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote_plus

import httpx
import pytest

from agent_work_orders.api.app import create_app
from agent_work_orders.api.waiting_room import LARGE_ROOM_BYTES
from agent_work_orders.api.webhook import Webhook
from agent_work_orders.bootstrap import House, open_house
from agent_work_orders.security import signature
from agent_work_orders.settings import Settings, changed

OLD, NEW = "the-old-secret", "the-new-secret"
GUID = "72d3162e-cc78-11e3-81ab-4c9367dc0958"
BODY = b'{"action": "opened", "issue": {"number": 1}}'


@pytest.fixture
def settings(tmp_path: Any) -> Settings:
    return changed(
        Settings(home=tmp_path / "home"),
        {
            "server.drain_s": 0.5,
            "storage.synchronous": "NORMAL",
            "github.webhook_secret": (OLD, NEW),
            "server.allowed_hosts": ("awo.example.com",),
        },
    )


@pytest.fixture
async def door(house: House) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=create_app(house), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://awo.example.com") as client:
        yield client


def headers(body: bytes, secret: str = NEW, **more: str) -> dict[str, str]:
    return {
        "X-Hub-Signature-256": signature.sign(secret, body), "X-GitHub-Event": "issues",
        "X-GitHub-Delivery": GUID, "Content-Type": "application/json", **more,
    }  # fmt: skip


async def post(door: httpx.AsyncClient, body: bytes, **given: Any) -> httpx.Response:
    return await door.post("/webhook/github", content=body, **given)


async def kept(house: House) -> list[Any]:
    return await house.context.store.deliveries.page()


async def test_a_delivery_is_kept_before_it_is_answered(
    door: httpx.AsyncClient, house: House
) -> None:
    answer = await post(door, BODY, headers=headers(BODY))
    assert (answer.status_code, answer.json()) == (
        202, {"delivery_id": GUID, "status": "accepted"},
    )  # fmt: skip
    [one] = await house.context.store.deliveries.waiting()
    assert (one.event, one.body) == ("issues", BODY), "the raw bytes"
    again = await post(door, BODY, headers=headers(BODY))
    assert again.json()["status"] == "duplicate"


@pytest.mark.fault("C3")
async def test_one_id_a_hundred_times_at_once(door: httpx.AsyncClient, house: House) -> None:
    sent = [post(door, BODY, headers=headers(BODY)) for _ in range(100)]
    answers = await asyncio.gather(*sent)
    assert {one.status_code for one in answers} == {202}
    assert sorted(one.json()["status"] for one in answers) == ["accepted"] + ["duplicate"] * 99
    assert len(await kept(house)) == 1


@pytest.mark.fault("C1")
@pytest.mark.parametrize(
    "signed",
    [
        [], [""], ["sha256="], ["sha1=" + "0" * 40], ["md5=" + "0" * 64],
        [signature.sign(NEW, BODY).upper()], ["SHA256=" + signature.sign(NEW, BODY)[7:]],
        [signature.sign(NEW, BODY)[7:]], [signature.sign(NEW, BODY) + " "],
        [signature.sign(NEW, BODY)] * 2, [signature.sign(NEW, BODY), "sha256=" + "0" * 64],
        [signature.sign("", BODY)], [signature.sign("another-secret", BODY)],
        ["sha256=" + "0" * 64], [signature.sign(NEW, BODY)[:-1] + "g"],
    ],
)  # fmt: skip
async def test_what_is_not_signed_is_refused_and_leaves_nothing(
    door: httpx.AsyncClient, house: House, signed: list[str]
) -> None:
    rest = [(k, v) for k, v in headers(BODY).items() if not k.startswith("X-Hub")]
    sent = [*rest, ("X-Hub-Signature", "sha1=" + "0" * 40)]
    answer = await post(
        door, BODY, headers=[*sent, *(("X-Hub-Signature-256", one) for one in signed)]
    )
    assert (answer.status_code, answer.json()["code"]) == (401, "signature_invalid")
    assert await kept(house) == []


@pytest.mark.fault("C2")
@pytest.mark.parametrize(
    "body",
    [
        BODY.replace(b"1", b"2"), json.dumps(json.loads(BODY), separators=(",", ":")).encode(),
        BODY + b"\n", b"", b"\xff" + BODY,
    ],
)  # fmt: skip
async def test_the_raw_bytes_are_what_is_signed(
    door: httpx.AsyncClient, house: House, body: bytes
) -> None:
    answer = await post(door, body, headers=headers(BODY))
    assert answer.status_code == 401
    assert await kept(house) == []


@pytest.mark.fault("C2")
@pytest.mark.fault("C9")
@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"Content-Type": "application/x-www-form-urlencoded"}, 400),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": ""}, 415),
        ({"Content-Encoding": "gzip"}, 415),
        ({"Content-Encoding": "br"}, 415),
        ({"X-GitHub-Event": "Issues"}, 400),
        ({"X-GitHub-Event": "../issues"}, 400),
        ({"X-GitHub-Event": "x" * 65}, 400),
        ({"X-GitHub-Delivery": "1"}, 400),
        ({"X-GitHub-Delivery": GUID + "0"}, 400),
        ({"X-GitHub-Delivery": GUID.replace("-", "")}, 400),
    ],
)
async def test_headers_have_the_form_that_github_gives_them(
    door: httpx.AsyncClient, house: House, more: dict[str, str], status: int
) -> None:
    answer = await post(door, BODY, headers=headers(BODY, **more))
    assert answer.status_code == status
    [noted] = await kept(house)
    assert (noted.state, noted.has_body) == ("failed", False), "it was signed, so it is shown"
    assert answer.json()["code"] in noted.why
    if "X-GitHub-Delivery" in more:
        assert noted.delivery_id.startswith("unnamed-")
    again = await post(door, BODY, headers=headers(BODY))
    assert again.json()["status"] == "accepted", "and taken once it is as it should be"


def as_form(content: bytes) -> bytes:
    return b"payload=" + quote_plus(content).encode()


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize(
    "content",
    [
        BODY, b'{"a": "100 %, a+b & \xc3\xa9; =?"}', b'{"a": "' + b"% +&" * 200_000 + b'"}',
        b'{"a":1}',
    ],
    ids=lambda value: str(value)[:24],
)  # fmt: skip
async def test_a_form_is_read_like_json(
    door: httpx.AsyncClient, house: House, content: bytes
) -> None:
    body = as_form(content)
    answer = await post(door, body, headers=headers(body, **FORM))
    assert (answer.status_code, answer.json()["status"]) == (202, "accepted")
    [one] = await house.context.store.deliveries.waiting()
    assert one.body == content
    unsigned = await post(door, body, headers=headers(content, **FORM))
    assert unsigned.status_code == 401, "the raw bytes are what is signed"
    ping = await post(door, body, headers=headers(body, **FORM, **{"X-GitHub-Event": "ping"}))
    assert ping.json() == {"status": "pong"}


@pytest.mark.fault("C10")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"payload=", "json_invalid"), (b"", "form_invalid"), (b"other=%7B%7D", "form_invalid"),
        (b"payload=%7B%7D&payload=%7B%7D", "form_invalid"), (b"payload=%7B%ZZ", "json_invalid"),
        (as_form(b'{"a":' + b"[" * 1_000 + b"]" * 1_000 + b"}"), "json_too_deep"),
        (as_form(b'{"a": 1, "a": 2}'), "json_invalid"), (as_form(b"[]"), "json_not_object"),
    ],
    ids=lambda value: str(value)[:24],
)  # fmt: skip
async def test_a_form_has_the_same_bounds(
    door: httpx.AsyncClient, house: House, body: bytes, code: str
) -> None:
    answer = await post(door, body, headers=headers(body, **FORM))
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    [noted] = await kept(house)
    assert (noted.state, code in noted.why) == ("failed", True)


@pytest.mark.fault("C9")
@pytest.mark.fault("C10")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"not json", "json_invalid"), (b"[]", "json_not_object"), (b"7", "json_not_object"),
        (b'{"a": 1, "a": 2}', "json_invalid"), (b'{"a": {"b": 1, "b": 1}}', "json_invalid"),
        (b'{"a": NaN}', "json_invalid"), (b'{"a": "\xff"}', "json_invalid"),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "json_too_deep"),
        (b"{" + b",".join(b'"k%d":1' % n for n in range(1_000_000)) + b"}", "json_too_many_keys"),
        (b"", "json_invalid"),
    ],
    ids=lambda value: str(value)[:16],
)  # fmt: skip
async def test_signed_nonsense_is_refused_and_noted_without_its_body(
    door: httpx.AsyncClient, house: House, body: bytes, code: str
) -> None:
    answer = await post(door, body, headers=headers(body))
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    [noted] = await kept(house)
    assert (noted.state, noted.has_body) == ("failed", False)
    assert code in noted.why


@pytest.mark.fault("C9")
async def test_it_is_too_large_by_header_and_by_counting(
    door: httpx.AsyncClient, house: House
) -> None:
    body = b'{"a": "' + b"x" * (26 * 1024 * 1024) + b'"}'

    async def unannounced() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 1 << 16):
            yield body[start : start + (1 << 16)]

    said = await post(door, body, headers=headers(body))
    counted = await post(door, unannounced(), headers=headers(body))  # type: ignore[arg-type]
    for answer in (said, counted):
        assert (answer.status_code, answer.json()["code"]) == (413, "delivery_too_large")
    assert await kept(house) == []


async def test_a_large_one_is_taken(door: httpx.AsyncClient, house: House) -> None:
    body = b'{"a": "' + b"x" * (2 * 1024 * 1024) + b'"}'
    assert (await post(door, body, headers=headers(body))).status_code == 202
    assert (await house.context.store.deliveries.waiting())[0].body == body


class Slow:
    """The layer itself, fed by hand."""

    def __init__(self, house: House, **given: Any) -> None:
        self.sent: list[Any] = []
        self.layer = Webhook(
            self.nobody, deliveries=house.context.store.deliveries, secrets=(NEW,),
            clock=house.context.clock, log=house.context.log, **given,
        )  # fmt: skip

    async def nobody(self, *_: Any) -> None:
        raise AssertionError("not for others")

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    def scope(self, body: bytes) -> dict[str, Any]:
        raw = [(k.lower().encode(), v.encode()) for k, v in headers(body).items()]
        return {"type": "http", "method": "POST", "path": "/webhook/github", "headers": raw}


@pytest.mark.fault("C9")
async def test_a_body_that_trickles_is_cut_off(house: House) -> None:
    slow = Slow(house, timeout_s=0.05)

    async def trickle() -> Any:
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b"x", "more_body": True}

    with pytest.raises(Exception, match="body_too_slow"):
        await slow.layer(slow.scope(BODY), trickle, slow.send)
    assert slow.layer.room.held_bytes == 0


@pytest.mark.fault("C9")
async def test_many_large_bodies_at_once_are_sent_away(house: House) -> None:
    slow = Slow(house, timeout_s=60, limit_bytes=LARGE_ROOM_BYTES * 2)
    part = b"x" * (16 * 1024 * 1024)

    async def pour() -> Any:
        return {"type": "http.request", "body": part, "more_body": True}

    with pytest.raises(Exception, match="webhook_busy"):
        await slow.layer(slow.scope(BODY), pour, slow.send)
    assert slow.layer.room.held_bytes == 0, "and the room is free again"


async def test_nothing_is_read_of_what_is_not_signed(house: House) -> None:
    slow = Slow(house)
    scope = slow.scope(BODY)
    scope["headers"] = [pair for pair in scope["headers"] if pair[0] != b"x-hub-signature-256"]

    async def never() -> Any:
        raise AssertionError("it was read")

    await slow.layer(scope, never, slow.send)
    assert slow.sent[0]["status"] == 401


@pytest.mark.fault("C8")
async def test_a_burst_is_taken_whole(house: House) -> None:
    """5,000 at once: all are answered with 202, each is there once."""
    slow = Slow(house)
    statuses: list[int] = []

    async def one(number: int) -> None:
        scope = slow.scope(BODY)
        guid = f"00000000-0000-0000-0000-{number:012d}".encode()
        scope["headers"] = [
            (name, guid if name == b"x-github-delivery" else value)
            for name, value in scope["headers"]
        ]

        async def whole() -> Any:
            return {"type": "http.request", "body": BODY, "more_body": False}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        await slow.layer(scope, whole, send)

    await asyncio.gather(*map(one, range(5_000)))
    assert statuses == [202] * 5_000
    [counted] = house.store.readers.rows("SELECT count(*), count(DISTINCT body) FROM deliveries")
    assert counted == (5_000, 1)


@pytest.mark.fault("C10")
async def test_ping_and_unknown_events(door: httpx.AsyncClient, house: House) -> None:
    ping = await post(door, b"{}", headers=headers(b"{}", **{"X-GitHub-Event": "ping"}))
    assert (ping.status_code, ping.json()) == (200, {"status": "pong"})
    star = await post(door, b"{}", headers=headers(b"{}", **{"X-GitHub-Event": "star"}))
    assert (star.status_code, star.json()["status"]) == (202, "ignored")
    assert await kept(house) == []


@pytest.mark.fault("C13")
async def test_both_secrets_are_good_while_they_overlap(
    door: httpx.AsyncClient, house: House, settings: Settings
) -> None:
    other = GUID.replace("7", "8", 1)
    for secret, guid in ((OLD, GUID), (NEW, other)):
        sent = headers(BODY, secret, **{"X-GitHub-Delivery": guid})
        assert (await post(door, BODY, headers=sent)).status_code == 202
    slow = Slow(house)  # knows the new one only
    scope = slow.scope(BODY)
    old = signature.sign(OLD, BODY).encode()
    scope["headers"] = [(k, old if k.startswith(b"x-hub") else v) for k, v in scope["headers"]]

    async def whole() -> Any:
        return {"type": "http.request", "body": BODY, "more_body": False}

    await slow.layer(scope, whole, slow.send)
    assert slow.sent[0]["status"] == 401


@pytest.mark.fault("C1")
async def test_without_a_secret_nothing_is_taken(tmp_path: Any) -> None:
    settings = changed(
        Settings(home=tmp_path / "other"), {"server.drain_s": 0.5, "storage.synchronous": "NORMAL"}
    )
    async with open_house(settings) as house:
        transport = httpx.ASGITransport(app=create_app(house), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            answer = await post(client, BODY, headers=headers(BODY, ""))
            assert (answer.status_code, answer.json()["code"]) == (503, "webhook_not_configured")
        assert await kept(house) == []


async def test_it_answers_to_its_public_name_only(door: httpx.AsyncClient) -> None:
    foreign = headers(BODY, Host="evil.example.com")
    assert (await post(door, BODY, headers=foreign)).status_code == 403
    assert (await door.get("/webhook/github")).status_code == 405


async def test_forgeries_cost_one_line_a_minute(house: House) -> None:
    lines: list[Any] = []
    slow = Slow(house)
    slow.layer._log = lambda *line: lines.append(line)
    scope = {**slow.scope(BODY), "headers": []}
    for _ in range(1_000):
        await slow.layer(scope, None, slow.send)  # type: ignore[arg-type]
    assert [line[1] for line in lines] == ["webhook_refused"]


def test_an_empty_secret_signs_nothing() -> None:
    made = signature.sign("", BODY).encode()
    assert not signature.fits(made, BODY, ("",))
    assert not signature.fits(made, BODY, ())
    assert signature.fits(signature.sign(NEW, BODY).encode(), BODY, ("", OLD, NEW))

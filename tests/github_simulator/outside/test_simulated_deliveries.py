"""Webhooks are signed, sent once, kept, and redelivered under the same GUID."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qsl

import pytest

from github_simulator.changes import founding
from github_simulator.outside.deliveries import Plan, new_guid

pytestmark = pytest.mark.slow


class Receiver:
    """Takes webhooks at a loopback port. `status` answers; None hangs up without a word."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.status: int | None = 200
        self.url = ""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        fields = {}
        for line in head.split("\r\n")[1:]:
            name, _, value = line.partition(":")
            fields[name.lower()] = value.strip()
        body = await reader.readexactly(int(fields.get("content-length", "0")))
        self.got.append((fields, body))
        if self.status is not None:
            writer.write(
                f"HTTP/1.1 {self.status} X\r\ncontent-length: 2\r\n"
                "connection: close\r\nlocation: /elsewhere\r\n\r\nok".encode()
            )
            await writer.drain()
        writer.close()

    @property
    def actions(self) -> list[str]:
        return [f"{json.loads(body)['issue']['number']}" for _, body in self.got]


@pytest.fixture
async def receiver(cast: Any) -> AsyncIterator[Receiver]:
    receiver = Receiver()
    server = await asyncio.start_server(receiver.handle, "127.0.0.1", 0, limit=2**20)
    async with server:
        port = server.sockets[0].getsockname()[1]
        receiver.url = cast.app.webhook_url = f"http://127.0.0.1:{port}/hook"
        yield receiver


async def open_issue(cast: Any, title: str = "A title") -> None:
    token = cast.github.credentials.of_person(cast.owner).value
    answer = await cast.ask("POST", f"{cast.path}/issues", token, json={"title": title})
    assert answer.status_code == 201, answer.text


async def sent(cast: Any, **query: str) -> Any:
    return (await cast.ask("GET", "/app/hook/deliveries", cast.jwt(), params=query)).json()


async def test_a_webhook_is_signed_over_its_exact_bytes(cast: Any, receiver: Receiver) -> None:
    await open_issue(cast, "Ünïcode")
    await cast.github.deliveries.settled()
    assert len(receiver.got) == 1
    headers, body = receiver.got[0]
    digest = hmac.new(cast.app.webhook_secret.encode(), body, hashlib.sha256).hexdigest()
    assert headers["x-hub-signature-256"] == f"sha256={digest}"
    assert headers["x-github-event"] == "issues"
    assert headers["user-agent"].startswith("GitHub-Hookshot/")
    assert headers["x-github-hook-installation-target-type"] == "integration"
    assert headers["content-type"] == "application/json"
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", headers["x-github-delivery"])
    payload = json.loads(body)
    assert payload["action"] == "opened"
    assert payload["installation"]["id"] == cast.installation.id


async def test_without_a_secret_there_is_no_signature(cast: Any, receiver: Receiver) -> None:
    cast.app.webhook_secret = None
    await open_issue(cast)
    await cast.github.deliveries.settled()
    assert not [name for name in receiver.got[0][0] if name.startswith("x-hub")]


async def test_what_fails_is_not_tried_again(cast: Any, receiver: Receiver) -> None:
    for status in (500, 302, None):
        receiver.status = status
        await open_issue(cast)
        await cast.github.deliveries.settled()
    assert len(receiver.got) == 3
    codes = [one["status_code"] for one in await sent(cast)]
    assert codes == [0, 302, 500]
    assert [one["status_code"] for one in await sent(cast, status="success")] == []
    assert len(await sent(cast, status="failure")) == 3


async def test_a_delivery_is_kept_and_redelivered_under_its_guid(
    cast: Any, receiver: Receiver
) -> None:
    receiver.status = 503
    await open_issue(cast)
    await cast.github.deliveries.settled()
    (listed,) = await sent(cast)
    path = f"/app/hook/deliveries/{listed['id']}"
    whole = (await cast.ask("GET", path, cast.jwt())).json()
    assert whole["request"]["payload"]["issue"]["title"] == "A title"
    assert whole["response"]["payload"] == "ok"
    receiver.status = 200
    again = await cast.ask("POST", f"{path}/attempts", cast.jwt())
    assert again.status_code == 202
    await cast.github.deliveries.settled()
    (first, body), (second, same) = receiver.got
    assert first["x-github-delivery"] == second["x-github-delivery"]
    assert body == same
    newest, oldest = await sent(cast)
    assert (newest["redelivery"], oldest["redelivery"]) == (True, False)
    assert (newest["guid"], newest["id"] > oldest["id"]) == (oldest["guid"], True)
    assert (newest["status_code"], oldest["status_code"]) == (200, 503)
    missing = await cast.ask("GET", "/app/hook/deliveries/5", cast.jwt())
    assert missing.status_code == 404


async def test_the_list_goes_on_at_the_cursor(cast: Any, receiver: Receiver) -> None:
    for _ in range(5):
        await open_issue(cast)
    await cast.github.deliveries.settled()
    seen: list[int] = []
    url = "/app/hook/deliveries?per_page=2"
    for _ in range(3):
        answer = await cast.ask("GET", url, cast.jwt())
        seen += [one["id"] for one in answer.json()]
        url = answer.links.get("next", {}).get("url", "")
    assert url == ""
    assert seen == sorted({d.id for d in cast.github.deliveries.kept}, reverse=True)


async def test_what_is_asked_of_the_list_is_checked_and_old_ones_are_gone(
    cast: Any, receiver: Receiver
) -> None:
    receiver.status = 500
    await open_issue(cast)
    await cast.github.deliveries.settled()
    bad = await cast.ask("GET", "/app/hook/deliveries?status=bad", cast.jwt())
    assert bad.status_code == 422
    assert len(await sent(cast, status="failure")) == 1
    cast.clock.advance(3 * 86_400 + 1)
    assert await sent(cast) == []


async def test_what_is_under_way_is_not_listed(cast: Any, receiver: Receiver) -> None:
    cast.github.deliveries.hold()
    await open_issue(cast)
    assert await sent(cast) == []
    cast.github.deliveries.release()
    await cast.github.deliveries.settled()
    assert len(await sent(cast)) == 1


async def test_an_address_beyond_this_machine_is_never_called(cast: Any) -> None:
    cast.app.webhook_url = "http://192.0.2.1/hook"
    await open_issue(cast)
    await cast.github.deliveries.settled()
    (listed,) = await sent(cast)
    assert (listed["status"], listed["status_code"]) == ("not a loopback address", 0)


async def test_they_come_in_order(cast: Any, receiver: Receiver) -> None:
    for _ in range(5):
        await open_issue(cast)
    await cast.github.deliveries.settled()
    assert receiver.actions == ["1", "2", "3", "4", "5"]


@pytest.mark.fault("C6")
async def test_they_can_be_held_reordered_and_lost(cast: Any, receiver: Receiver) -> None:
    cast.github.deliveries.hold()
    for _ in range(3):
        await open_issue(cast)
    await cast.github.deliveries.settled()
    assert receiver.got == []
    assert cast.github.deliveries.release([2, 0]) == 2
    await cast.github.deliveries.settled()
    assert receiver.actions == ["3", "1"]
    assert [d.status for d in cast.github.deliveries.kept] == ["OK", "lost", "OK"]
    await open_issue(cast)
    await cast.github.deliveries.settled()
    assert receiver.actions == ["3", "1", "4"]


async def test_they_can_be_doubled_and_dropped(cast: Any, receiver: Receiver) -> None:
    cast.github.deliveries.script(Plan(copies=3), Plan(events=2, copies=0))
    for _ in range(4):
        await open_issue(cast)
    await cast.github.deliveries.settled()
    assert receiver.actions == ["1", "1", "1", "4"]
    guids = {headers["x-github-delivery"] for headers, _ in receiver.got}
    assert len(guids) == 2


def test_guids_are_of_version_four() -> None:
    made = {new_guid() for _ in range(50)}
    assert len(made) == 50
    assert all(guid[14] == "4" and guid[19] in "89ab" for guid in made)


async def test_the_app_can_move_its_hook(cast: Any, receiver: Receiver) -> None:
    shown = await cast.ask("GET", "/app/hook/config", cast.jwt())
    assert shown.json()["url"] == receiver.url
    assert cast.app.webhook_secret not in shown.text
    moved = await cast.ask(
        "PATCH", "/app/hook/config", cast.jwt(), json={"url": receiver.url + "/2", "secret": "new"}
    )
    assert moved.json()["url"].endswith("/2")
    founding.suspend(cast.github.world, cast.installation, cast.owner)
    await cast.github.deliveries.settled()
    headers, body = receiver.got[-1]
    digest = hmac.new(b"new", body, hashlib.sha256).hexdigest()
    assert headers["x-hub-signature-256"] == f"sha256={digest}"


async def test_a_hook_may_ask_for_a_form(cast: Any, receiver: Receiver) -> None:
    asked = {"content_type": "form"}
    moved = await cast.ask("PATCH", "/app/hook/config", cast.jwt(), json=asked)
    assert moved.json()["content_type"] == "form"
    await open_issue(cast)
    await cast.github.deliveries.settled()
    headers, body = receiver.got[-1]
    assert headers["content-type"] == "application/x-www-form-urlencoded"
    digest = hmac.new(cast.app.webhook_secret.encode(), body, hashlib.sha256).hexdigest()
    assert headers["x-hub-signature-256"] == f"sha256={digest}", "over the form, not the JSON"
    [(name, content)] = parse_qsl(body.decode(), strict_parsing=True)
    assert name == "payload" and json.loads(content)["action"] == "opened"


@pytest.mark.fault("C4")
async def test_a_repositorys_hook_gets_the_same_under_another_guid(
    cast: Any, receiver: Receiver
) -> None:
    hook = cast.github.deliveries.hooks.add(
        cast.repository, receiver.url, secret="another", events=("issues",)
    )
    await open_issue(cast)
    await cast.github.deliveries.settled()
    (first, body), (second, other) = receiver.got
    assert first["x-github-delivery"] != second["x-github-delivery"]
    assert second["x-github-hook-id"] == str(hook.id)
    assert second["x-github-hook-installation-target-type"] == "repository"
    payload = json.loads(body)
    del payload["installation"]
    assert json.loads(other) == payload
    digest = hmac.new(b"another", other, hashlib.sha256).hexdigest()
    assert second["x-hub-signature-256"] == f"sha256={digest}"
    assert len(await sent(cast)) == 1


async def test_several_can_be_sent_at_once(cast: Any) -> None:
    arrived, go = asyncio.Semaphore(0), asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        arrived.release()
        await go.wait()
        writer.write(b"HTTP/1.1 204 X\r\nconnection: close\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, limit=2**20)
    async with server:
        cast.app.webhook_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        cast.github.deliveries.widen(3)
        for _ in range(3):
            await open_issue(cast)
        async with asyncio.timeout(8):
            for _ in range(3):
                await arrived.acquire()
        go.set()
        await cast.github.deliveries.settled()
    assert {one["status_code"] for one in await sent(cast)} == {204}

"""Deliveries that GitHub sent in vain: the product finds them at its next start, by killing it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from webhook_play import WebhookPlay, happened

from github_simulator.outside.faults import Fault
from github_simulator.server import GithubSimulator


@pytest.fixture
async def play(room: Path) -> AsyncIterator[WebhookPlay]:
    async with GithubSimulator(room / "github") as github:
        made = WebhookPlay(room, github)
        try:
            yield made
        finally:
            made.kill()


def last_failed(play: WebhookPlay) -> bool:
    kept = play.github.deliveries.kept
    return bool(kept) and all(one.status != "pending" for one in kept)


@pytest.mark.slow
@pytest.mark.fault("C7")
async def test_what_was_asked_while_it_was_down_is_done_once(play: WebhookPlay) -> None:
    await play.start()
    play.end()
    await play.ask()
    await play.github.deliveries.settled()
    assert all(one.status_code == 0 for one in play.github.deliveries.kept)
    # An hour passes; what GitHub keeps is still there.
    for one in play.github.deliveries.kept:
        one.delivered_ms -= 3_600_000
    await play.start()
    await play.until_orders(1)
    assert play.redeliveries() == 1, "only what could ask for something"
    play.kill()
    await play.start()
    await happened(lambda: len(play.github.requests.of("apps/list-webhook-deliveries")) >= 2)
    await play.until_orders(1)
    assert play.redeliveries() == 1, "it is still listed as failed, and known here"


@pytest.mark.slow
@pytest.mark.fault("C7")
@pytest.mark.parametrize(
    "fault",
    [
        Fault(kind="hang", operation="apps/list-webhook-deliveries"),
        Fault(kind="hang", operation="apps/redeliver-webhook-delivery"),
        Fault(kind="hang", applied=True, operation="apps/redeliver-webhook-delivery"),
    ],
    ids=lambda fault: f"{fault.operation} {'applied' if fault.applied else 'before'}",
)
async def test_killed_while_it_asks_for_them(play: WebhookPlay, fault: Fault) -> None:
    await play.ask()
    await play.github.deliveries.settled()
    play.github.faults.add(fault)
    await play.start()
    await happened(lambda: play.github.faults.hits)
    play.kill()
    await play.github.deliveries.settled()
    await play.start()
    await play.until_orders(1)


@pytest.mark.slow
@pytest.mark.fault("A1")
async def test_killed_before_it_was_stored(play: WebhookPlay) -> None:
    await play.start()
    await play.stop_the_clock()
    asking = asyncio.create_task(play.ask())
    await happened(lambda: len(play.github.deliveries.kept) == 2)
    play.kill()
    await asking
    await happened(lambda: last_failed(play))
    assert {one.status_code for one in play.github.deliveries.kept} == {0}, "no answer was given"
    await play.start()
    await play.until_orders(1)


@pytest.mark.slow
@pytest.mark.fault("A2")
async def test_killed_after_it_was_stored_and_before_it_was_answered(play: WebhookPlay) -> None:
    """Between the two stands somebody who swallows the answer."""
    killed: list[bytes] = []

    async def between(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, out = await asyncio.open_connection("127.0.0.1", play.port)
        head = await reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        out.write(head + await reader.readexactly(size))
        answer = await there.readuntil(b"}")
        if b'"accepted"' in answer and b"x-github-event: issues" in head.lower():
            killed.append(answer)
            play.kill()
        writer.close()

    server = await asyncio.start_server(between, "127.0.0.1", 0, limit=2**20)
    async with server:
        [app] = play.github.world.apps.values()
        direct, port = app.webhook_url, server.sockets[0].getsockname()[1]
        app.webhook_url = f"http://127.0.0.1:{port}/webhook/github"
        await play.start()
        play.github.deliveries.hold()
        await play.ask()
        labeled = [one.event.action for one in play.github.deliveries.kept].index("labeled")
        play.github.deliveries.release([labeled])
        await happened(lambda: killed)
        await play.github.deliveries.settled()
    app.webhook_url = direct
    [failed] = [one for one in play.github.deliveries.kept if not one.lost]
    assert failed.status_code == 0
    await play.start()
    await play.until_orders(1)
    assert play.redeliveries() == 0, "it is known here, and not asked for"
    play.github.deliveries.again(failed)
    await play.until_orders(1)
    # Others come meanwhile, about our own comment.
    [_, again] = [one for one in play.github.deliveries.kept if one.guid == failed.guid]
    assert '"duplicate"' in again.answer

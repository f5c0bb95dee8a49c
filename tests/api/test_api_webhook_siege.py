"""Strangers with large, slow bodies and false signatures, over real sockets: what is genuine and
small comes through all the while."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from tests.api.test_api_server import child, said

from agent_work_orders.api.pace import Pace, TooSlow
from agent_work_orders.api.waiting_room import SMALL_BYTES, Guest, WaitingRoom
from agent_work_orders.errors import Unavailable
from agent_work_orders.security import signature

pytestmark = pytest.mark.slow

SECRET = "the-secret-of-deliveries"
FALSE = "sha256=" + "0" * 64
BODY = json.dumps({"action": "opened", "filler": "x" * 20_000}).encode()
MIB = 1024 * 1024


def head(length: int) -> bytes:
    lines = (
        "POST /webhook/github HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {length}",
        "Content-Type: application/json", f"X-Hub-Signature-256: {FALSE}",
        "X-GitHub-Event: issues", "X-GitHub-Delivery: 72d3162e-cc78-11e3-81ab-4c9367dc0958",
    )  # fmt: skip
    return "\r\n".join((*lines, "", "")).encode()


async def besieger(address: str, at_once: int, length: int) -> None:
    """Most of a body, then a trickle; again when it is sent away."""
    parts = urlsplit(address)
    while True:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        with contextlib.suppress(ConnectionError):
            writer.write(head(length))
            for sent in range(0, at_once, 64 * 1024):
                writer.write(b"x" * min(at_once - sent, 64 * 1024))
                await writer.drain()
            while not reader.at_eof() and not reader._buffer:  # type: ignore[attr-defined]
                writer.write(b"x" * 64)
                await writer.drain()
                await asyncio.sleep(0.05)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        await asyncio.sleep(0.05)


@asynccontextmanager
async def besieged(address: str, many: int, at_once: int, length: int) -> AsyncIterator[Any]:
    tasks = [asyncio.create_task(besieger(address, at_once, length)) for _ in range(many)]
    await asyncio.sleep(1.5)
    yield tasks
    assert not any(task.done() for task in tasks), "they went on all the while"
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.fault("C9")
@pytest.mark.parametrize(
    ("many", "at_once", "length"),
    # Together just below 128 MiB, 64 MiB and (small ones) 32 MiB, and a little more all the time.
    [
        (6, 128 * MIB // 6 - 1_500, 25 * MIB),
        (3, 64 * MIB // 3 - 1_500, 25 * MIB),
        (160, 250 * 1024, 255 * 1024),
    ],
    ids=["six", "three", "many small"],
)
async def test_small_genuine_ones_always_come_through(
    tmp_path: Path, many: int, at_once: int, length: int
) -> None:
    async with child(tmp_path / "home", "127.0.0.1", 0, SECRET) as process:
        address, _key = await said(process)
        async with (
            besieged(address, many, at_once, length),
            httpx.AsyncClient(base_url=address, timeout=60) as client,
        ):
            for number in range(60):
                answer = await client.post(
                    "/webhook/github",
                    content=BODY,
                    headers={
                        "X-Hub-Signature-256": signature.sign(SECRET, BODY),
                        "X-GitHub-Event": "issues",
                        "X-GitHub-Delivery": f"00000000-0000-0000-0000-{number:012d}",
                        "Content-Type": "application/json",
                    },
                )
                assert (answer.status_code, answer.json().get("status")) == (202, "accepted")
                await asyncio.sleep(0.02)


@pytest.fixture
async def guest() -> AsyncIterator[Callable[..., Any]]:
    """Makes guests of a room, their time running."""
    async with contextlib.AsyncExitStack() as stack:

        async def make(room: WaitingRoom, address: str, size: int, *, begun_s: float = 0) -> Guest:
            pace = Pace(60)
            # Who is sent away leaves by the time's end: not here, where nobody waits for it.
            await pace.__aenter__()
            stack.callback(pace._limit.reschedule, None)
            pace.started_s -= begun_s
            one = Guest(address, pace)
            room.enter(one)
            pace.came(size)
            pace._limit.reschedule(None)
            pace.end = lambda: None  # type: ignore[method-assign]
            room.add(one, size)
            return one

        yield make


async def test_the_oldest_small_one_makes_room(guest: Any) -> None:
    room = WaitingRoom(small_bytes=300)
    first, second = await guest(room, "a", 150), await guest(room, "a", 100)
    third = await guest(room, "b", 200)
    assert (first.sent_away, second.sent_away, third.sent_away) == (True, False, False)
    await guest(room, "c", 100)
    assert not second.sent_away and third.sent_away, "the address that holds the most gives first"
    assert room.held_bytes == 200


async def test_a_large_one_that_creeps_makes_room_and_one_that_hurries_does_not(
    guest: Any,
) -> None:
    size = SMALL_BYTES + 1
    room = WaitingRoom(large_bytes=2 * size)
    creeping = await guest(room, "a", size, begun_s=5)
    await guest(room, "b", size)
    await guest(room, "c", size)
    assert creeping.sent_away
    with pytest.raises(Unavailable, match="webhook_busy"):
        await guest(room, "d", size)
    await guest(room, "e", 1_000)


@pytest.mark.fault("C9")
async def test_a_body_must_keep_its_pace() -> None:
    async with Pace(60, grace_s=0.02, least_per_s=1e9) as quick:
        for _ in range(5):
            quick.came(10**8)
            await asyncio.sleep(0.01)
    with pytest.raises(TooSlow, match="in time"):
        async with Pace(60, grace_s=0.02, least_per_s=1e9) as slow:
            while True:
                slow.came(1)
                await asyncio.sleep(0.005)

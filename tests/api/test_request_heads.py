"""Heads that are too large, too many or never whole, against a real server process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from tests.api.test_api_server import child, said

from agent_work_orders.api.request_heads import HEAD_LIMIT_BYTES, HEAD_WITHIN_S, MAX_HALF_HEADS
from agent_work_orders.testing.model_simulator.server import ModelSimulator
from github_simulator.server import GithubSimulator

MEGABYTE = 1024 * 1024
BEGIN = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"


class Served:
    def __init__(self, pid: int, address: str, key: str) -> None:
        self.pid, self.key, self.url = pid, key, address
        host, port = address.removeprefix("http://").split(":")
        self.place = (host, int(port))

    def resident_bytes(self) -> int:
        status = Path(f"/proc/{self.pid}/status").read_text()
        [line] = [line for line in status.splitlines() if line.startswith("VmRSS")]
        return int(line.split()[1]) * 1024


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with child(tmp_path / "home") as process:
        address, key = await said(process)
        yield Served(process.pid, address, key)


async def sent(place: tuple[str, int], parts: Iterator[bytes]) -> bytes:
    """What came back; a connection that was closed on the way brings what came until then."""
    reader, writer = await asyncio.open_connection(*place)
    with contextlib.suppress(ConnectionError):
        for part in parts:
            writer.write(part)
            await writer.drain()
    answer = b""
    with contextlib.suppress(ConnectionError):
        async with asyncio.timeout(30):
            while chunk := await reader.read(65_536):
                answer += chunk
    writer.close()
    return answer


def status_of(answer: bytes) -> str:
    return answer.split(b" ")[1].decode() if answer else ""


def problem_of(answer: bytes) -> Any:
    head, _, content = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head, answer
    return msgspec.json.decode(content)


def one_large_header() -> Iterator[bytes]:
    yield BEGIN + b"X-Large: "
    for _ in range(300):
        yield b"x" * MEGABYTE


def many_headers() -> Iterator[bytes]:
    yield BEGIN
    for _ in range(3_000):
        yield b"A: b\r\n" * 1_000


def large_target() -> Iterator[bytes]:
    yield b"GET /"
    for _ in range(300):
        yield b"x" * MEGABYTE


def large_trailer() -> Iterator[bytes]:
    yield b"POST /api/session HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    yield b"0\r\nX-Large: "
    for _ in range(300):
        yield b"x" * MEGABYTE


@pytest.mark.fault("N9")
@pytest.mark.parametrize("attack", [one_large_header, many_headers, large_target, large_trailer])
async def test_a_head_takes_little_memory(served: Served, attack: Any) -> None:
    await sent(served.place, iter([BEGIN + b"Connection: close\r\n\r\n"]))
    before = served.resident_bytes()
    answer = await sent(served.place, attack())
    assert served.resident_bytes() - before < 24 * MEGABYTE
    if attack is not large_trailer:
        assert status_of(answer) == "431", answer[:300]
        assert problem_of(answer)["code"] == "head_too_large"
    again = await sent(served.place, iter([BEGIN + b"Connection: close\r\n\r\n"]))
    assert status_of(again) == "200"


@pytest.mark.fault("N9")
@pytest.mark.slow
async def test_half_sent_heads_are_closed(served: Served) -> None:
    async def drip() -> bytes:
        """One more byte each second never ends the wait."""
        reader, writer = await asyncio.open_connection(*served.place)
        writer.write(BEGIN + b"X-Slow: ")
        reading = asyncio.ensure_future(reader.read())
        with contextlib.suppress(ConnectionError):
            while not reading.done():
                writer.write(b"x")
                await writer.drain()
                await asyncio.wait([reading], timeout=1)
        writer.close()
        return await reading

    async def silent() -> bytes:
        reader, writer = await asyncio.open_connection(*served.place)
        answer = await reader.read()
        writer.close()
        return answer

    async with asyncio.timeout(HEAD_WITHIN_S + 8):
        answers = await asyncio.gather(silent(), *(drip() for _ in range(50)))
    assert answers[0] == b""
    assert {status_of(one) for one in answers[1:]} == {"408"}
    assert problem_of(answers[1])["code"] == "head_too_slow"


@pytest.mark.slow
async def test_a_body_that_drips_after_its_answer_is_closed(served: Served) -> None:
    reader, writer = await asyncio.open_connection(*served.place)
    writer.write(b"POST /api/tools HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9000\r\n\r\n")
    assert b" 401 " in await reader.readline()
    reading = asyncio.ensure_future(reader.read())
    with contextlib.suppress(ConnectionError):
        async with asyncio.timeout(HEAD_WITHIN_S + 8):
            while not reading.done():
                writer.write(b"x")
                await writer.drain()
                await asyncio.wait([reading], timeout=1)
    writer.close()
    assert reading.done()


async def test_one_address_begins_few_heads_at_a_time(served: Served) -> None:
    held = [await asyncio.open_connection(*served.place) for _ in range(MAX_HALF_HEADS)]
    for _, writer in held:
        writer.write(BEGIN)
        await writer.drain()
    # The last of them has been read when a whole request that came after it was answered.
    whole = await sent(served.place, iter([BEGIN + b"Connection: close\r\n\r\n"]))
    assert status_of(whole) == "200"
    answer = await sent(served.place, iter([BEGIN]))
    assert problem_of(answer)["code"] == "heads_pending"
    assert status_of(answer) == "429"
    for reader, writer in held:
        writer.write(b"Connection: close\r\n\r\n")
        assert b" 200 " in await reader.readline()
        writer.close()


async def test_heads_within_the_bounds_are_read(served: Served) -> None:
    large = BEGIN + b"X-Large: " + b"x" * (HEAD_LIMIT_BYTES - 1_000) + b"\r\n"
    whole = large + b"\r\n"
    pieces = [whole[at : at + 1_000] for at in range(0, len(whole), 1_000)]
    answer = await sent(served.place, iter([*pieces, large + b"Connection: close\r\n\r\n"]))
    assert answer.count(b"HTTP/1.1 200 ") == 2
    over = BEGIN + b"X-Large: " + b"x" * HEAD_LIMIT_BYTES + b"\r\n\r\n"
    assert status_of(await sent(served.place, iter([over]))) == "431"
    body = b'{"key":"' + b"k" * 200_000 + b'"}'
    headers = {"Content-Type": "application/json"}
    async with httpx.AsyncClient(base_url=served.url, headers=headers) as client:
        assert (await client.post("/api/session", content=body)).status_code == 413
        assert (await client.get("/healthz")).status_code == 200


async def test_pipelined_requests_are_few(served: Served) -> None:
    few = await sent(
        served.place, iter([(BEGIN + b"\r\n") * 9 + BEGIN + b"Connection: close\r\n\r\n"])
    )
    assert few.count(b"HTTP/1.1 200 ") == 10
    many = await sent(served.place, iter([(BEGIN + b"\r\n") * 3_000]))
    assert many.count(b"HTTP/1.1 200 ") < 100


@pytest.mark.parametrize(
    "host",
    [
        b"127.0.0.1:27440@evil.com", b"evil.com@127.0.0.1", b"127.0.0.1:80\\evil.com",
        b"127.0.0.1:80/evil.com", b"127.0.0.1:80#evil.com", b"127.0.0.1:80?evil.com",
        b"127.0.0.1\tevil.com", b"127.0.0.1:80 evil.com", b"127.0.0.1,evil.com",
        b"127.0.0.1:", b"127.0.0.1:123456", b"127.0.0.1:8x", b"[::1]evil.com", b"[::1", b"",
        b"127.0.0.1\r\nHost: 127.0.0.1",
    ],
)  # fmt: skip
async def test_a_host_that_could_be_read_otherwise_is_refused(served: Served, host: bytes) -> None:
    request = b"GET /healthz HTTP/1.1\r\nHost: " + host + b"\r\nConnection: close\r\n\r\n"
    assert status_of(await sent(served.place, iter([request]))) in ("400", "403")


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (b"http://127.0.0.1/healthz", "200"),
        (b"http://evil.com/healthz", "400"),
        (b"http://127.0.0.1@evil.com/healthz", "400"),
        (b"http://me@127.0.0.1/healthz", "400"),
        (b"http://127.0.0.1:99/healthz", "400"),
        (b"*", "400"),
    ],
)
async def test_a_target_agrees_with_the_host(served: Served, target: bytes, expected: str) -> None:
    request = b" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    assert status_of(await sent(served.place, iter([b"GET " + target + request]))) == expected


@pytest.mark.fault("N9")
@pytest.mark.slow
async def test_the_simulators_have_the_same_bounds(tmp_path: Path) -> None:
    async with GithubSimulator(tmp_path / "github") as github, ModelSimulator() as model:
        for url in (github.url, model.url):
            host, port = url.removeprefix("http://").split(":")
            place = (host, int(port))

            def large() -> Iterator[bytes]:
                yield BEGIN + b"X-Large: "
                yield b"x" * MEGABYTE

            async with asyncio.timeout(HEAD_WITHIN_S + 8):
                assert status_of(await sent(place, large())) in ("431", "")
                assert status_of(await sent(place, iter([BEGIN]))) in ("408", "")

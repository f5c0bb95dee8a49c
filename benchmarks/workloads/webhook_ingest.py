"""Signed deliveries of 7.8 kB to a real `awo up`, over 32 connections as fast as it answers.

Every delivery has a GUID of its own and is on the disk before it is answered. They ask for
nothing, as most of GitHub's do, and are taken up and settled while more come.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
import uuid

from benchmarks import product, scratch
from benchmarks.result import Failure, Measurement, Result
from benchmarks.rounds import Unable

FULL, QUICK = 15_000, 1_000
CONNECTIONS = 32
SIZE_BYTES = 7_800
SECRET = "secret-of-the-benchmark"


def run(quick: bool) -> Result:
    count = QUICK if quick else FULL
    with scratch.place("webhook_ingest") as place:
        home = place / "home"
        home.mkdir()
        try:
            with product.server(home, {"GITHUB_WEBHOOK_SECRET": SECRET}) as server:
                asyncio.run(_load(server.url, QUICK // 5, start=10**9))
                begin = time.perf_counter()
                took_ms = asyncio.run(_load(server.url, count))
                lasted_s = time.perf_counter() - begin
        except Unable as reason:
            return Result(failures=[Failure(subject="awo", role="ours", error=str(reason))])
    took_ms.sort()
    values = {
        "ingest_rate": len(took_ms) / lasted_s,
        "ingest_p50_ms": took_ms[len(took_ms) // 2],
        "ingest_p99_ms": took_ms[round(0.99 * (len(took_ms) - 1))],
    }
    return Result(
        measurements=[
            Measurement(subject="awo", role="ours", metric=metric, value=value, size=len(took_ms))
            for metric, value in values.items()
        ]
    )


async def _load(url: str, count: int, start: int = 0) -> list[float]:
    host, _, port = url.removeprefix("http://").partition(":")
    body = _body()
    numbers = iter(range(start + 1, start + count + 1))
    took_ms: list[float] = []

    async def connection() -> None:
        reader, writer = await asyncio.open_connection(host, int(port))
        for number in numbers:
            begin = time.perf_counter()
            writer.write(_request(url, body, number))
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.lower().split(b"\r\n")
            length = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
            answer = await reader.readexactly(length)
            if b" 202 " not in lines[0] or b"accepted" not in answer:
                raise Unable(f"{lines[0].decode()}: {answer[:200].decode(errors='replace')}")
            took_ms.append((time.perf_counter() - begin) * 1000)
        writer.close()

    async with asyncio.TaskGroup() as group:
        for _ in range(CONNECTIONS):
            group.create_task(connection())
    return took_ms


def _body() -> bytes:
    """An opened issue, with as many small fields as GitHub's have."""
    sender = {"login": "ann", "id": 7, "type": "User"}
    payload = {
        "action": "opened",
        "sender": sender,
        "repository": {"id": 1, "full_name": "acme/site", "default_branch": "main"},
        "issue": {"number": 7, "title": "Broken", "state": "open", "user": sender, "body": ""},
    }
    payload["urls"] = {f"url_{n}": f"https://example.invalid/{n}" for n in range(150)}
    missing = SIZE_BYTES - len(json.dumps(payload))
    payload["issue"]["body"] = "x" * missing  # type: ignore[index]
    return json.dumps(payload).encode()


def _request(url: str, body: bytes, number: int) -> bytes:
    head = (
        "POST /webhook/github HTTP/1.1\r\n"
        f"Host: {url.removeprefix('http://')}\r\n"
        "Content-Type: application/json\r\n"
        "X-GitHub-Event: issues\r\n"
        f"X-GitHub-Delivery: {uuid.UUID(int=number)}\r\n"
        f"X-Hub-Signature-256: sha256={_signed(body)}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


_SIGNATURES: dict[int, str] = {}


def _signed(body: bytes) -> str:
    """The same body is signed once: the sender's work is not what is measured."""
    if id(body) not in _SIGNATURES:
        _SIGNATURES[id(body)] = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    return _SIGNATURES[id(body)]

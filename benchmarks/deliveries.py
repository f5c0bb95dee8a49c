"""Signed webhook deliveries to a real server, sent by the clock: for workloads and campaigns.

Requests start when they are due, whether or not earlier ones were answered, and each is timed
from its planned start: a server that stalls cannot hide it.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from benchmarks.rounds import Unable

CONNECTIONS = 64
EXAMPLES = (
    Path(__file__).resolve().parents[1]
    / "tests/github_descriptions/node_modules/@octokit/webhooks-examples/api.github.com/index.json"
)


class Example(msgspec.Struct, frozen=True, kw_only=True):
    event: str
    body: bytes


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    status: int
    body: bytes
    took_ms: float


def published() -> list[Example]:
    """Every payload that GitHub publishes as an example."""
    if not EXAMPLES.is_file():
        raise Unable("GitHub's examples are missing: run scripts/github_descriptions")
    found = json.loads(EXAMPLES.read_text("utf-8"))
    return [
        Example(event=one["name"], body=json.dumps(payload).encode())
        for one in found
        for payload in one["examples"]
    ]


def guids(seed: int) -> Iterator[str]:
    """Each once; another seed gives others."""
    number = seed << 64
    while True:
        number += 1
        yield str(uuid.UUID(int=number))


def head(
    host: str, event: str, guid: str, length: int | None, signature: str = "", **more: str
) -> bytes:
    """A request's beginning. Without a length it is chunked; `more` replaces and adds headers."""
    lines = {
        "host": host,
        "content-type": "application/json",
        "x-github-event": event,
        "x-github-delivery": guid,
        "transfer-encoding" if length is None else "content-length": (
            "chunked" if length is None else str(length)
        ),
    }
    if signature:
        lines["x-hub-signature-256"] = signature
    lines |= {name.replace("_", "-"): value for name, value in more.items()}
    text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST /webhook/github HTTP/1.1\r\n{text}\r\n".encode("latin-1")


def signed(secret: str, body: bytes) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def requests(
    url: str, secret: str, examples: Sequence[Example], count: int, seed: int
) -> list[bytes]:
    """So many, over and over, each under a GUID of its own. A body is signed once: the sender's
    work is not what is measured."""
    host = url.removeprefix("http://")
    signatures = [signed(secret, one.body) for one in examples]
    made, fresh = [], guids(seed)
    for number in range(count):
        at = number % len(examples)
        one = examples[at]
        begin = head(host, one.event, next(fresh), len(one.body), signatures[at])
        made.append(begin + one.body)
    return made


async def send(url: str, what: Sequence[bytes], rate_per_s: float) -> list[Answered]:
    """In the order of `what`."""
    host, _, port = url.removeprefix("http://").partition(":")
    idle: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    for _ in range(CONNECTIONS):
        idle.put_nowait(await asyncio.open_connection(host, int(port)))

    async def one(request: bytes, at: float) -> Answered:
        reader, writer = await idle.get()
        writer.write(request)
        status, body = await answer(reader)
        idle.put_nowait((reader, writer))
        return Answered(status=status, body=body, took_ms=(time.perf_counter() - at) * 1000)

    begin = time.perf_counter()
    tasks: list[asyncio.Task[Answered]] = []
    for number, request in enumerate(what):
        at = begin + number / rate_per_s
        await asyncio.sleep(max(0.0, at - time.perf_counter()))
        tasks.append(asyncio.create_task(one(request, at)))
    answers = await asyncio.gather(*tasks)
    while not idle.empty():
        idle.get_nowait()[1].close()
    return answers


async def answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    lines = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
    length = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
    return int(lines[0].split()[1]), await reader.readexactly(length)


def quantile(took_ms: Sequence[float], share: float) -> float:
    ordered = sorted(took_ms)
    return ordered[round(share * (len(ordered) - 1))]

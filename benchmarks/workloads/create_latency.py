"""POST /api/agent-work-orders at 200 a second over HTTP, from this process to a real `awo up`.

Requests start by the clock, whether or not earlier ones were answered, and each is timed from
its planned start: a server that stalls cannot hide it. One agent that sleeps holds the queue, so
that creating is measured and not working. The repository is a local path.
"""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

from benchmarks import product, sample_repository, scratch
from benchmarks.result import Failure, Measurement, Result
from benchmarks.rounds import Unable

RATE_PER_S = 200
FULL_S, QUICK_S = 10, 2
CONNECTIONS = 32
WARM_UP = 20
SETTLE_S = 2.0
"""Until the order that holds the queue has its workspace and sleeps."""
HELD = {
    "AWO_RUNNING_TASKS": "1",
    "AWO_STARTS_PER_MINUTE": "0",
    "AWO_STARTS_PER_REPOSITORY_PER_HOUR": "0",
}


def run(quick: bool) -> Result:
    with scratch.place("create_latency") as place:
        place.chmod(0o711)
        origin = sample_repository.make(place)
        home = place / "home"
        home.mkdir()
        try:
            with product.server(home, HELD) as server:
                took_ms = asyncio.run(_load(server.url, home, origin, QUICK_S if quick else FULL_S))
                rss_mb = server.program.rss_bytes() / 1e6
        except Unable as reason:
            return Result(failures=[Failure(subject="awo", role="ours", error=str(reason))])
    took_ms.sort()
    values = {
        "create_p50_ms": took_ms[len(took_ms) // 2],
        "create_p99_ms": took_ms[round(0.99 * (len(took_ms) - 1))],
        "create_max_ms": took_ms[-1],
        "rss_after_mb": rss_mb,
    }
    return Result(
        measurements=[
            Measurement(subject="awo", role="ours", metric=metric, value=value, size=len(took_ms))
            for metric, value in values.items()
        ]
    )


class Client:
    """A few kept-alive connections, each for one request at a time."""

    def __init__(self, url: str, request: bytes) -> None:
        self._host, _, port = url.removeprefix("http://").partition(":")
        self._port = int(port)
        self._request = request
        self._idle: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
        self._idle = asyncio.Queue()

    async def open(self) -> None:
        for _ in range(CONNECTIONS):
            self._idle.put_nowait(await asyncio.open_connection(self._host, self._port))

    async def post(self) -> None:
        reader, writer = await self._idle.get()
        writer.write(self._request)
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        length = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
        body = await reader.readexactly(length)
        if b" 201 " not in lines[0]:
            raise Unable(f"{lines[0].decode()}: {body[:200].decode(errors='replace')}")
        self._idle.put_nowait((reader, writer))


async def _load(url: str, home: Path, origin: Path, seconds: int) -> list[float]:
    client = Client(url, _request(url, (home / "local.key").read_text().strip(), origin))
    await client.open()
    for _ in range(WARM_UP):
        await client.post()
    await asyncio.sleep(SETTLE_S)
    took_ms: list[float] = []

    async def one(at: float) -> None:
        await client.post()
        took_ms.append((time.perf_counter() - at) * 1000)

    begin = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(seconds * RATE_PER_S):
            at = begin + number / RATE_PER_S
            await asyncio.sleep(max(0.0, at - time.perf_counter()))
            group.create_task(one(at))
    return took_ms


def _request(url: str, key: str, origin: Path) -> bytes:
    body = json.dumps(
        {
            "repository_url": str(origin),
            "workflow_type": "agent_workflow_plan_build_test",
            "initial_prompt": "Wait",
            "agent": {"name": "command", "argv": ["sleep", "600"]},
        }
    ).encode()
    head = (
        "POST /api/agent-work-orders HTTP/1.1\r\n"
        f"Host: {url.removeprefix('http://')}\r\n"
        f"Authorization: Bearer {key}\r\n"
        "Content-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body

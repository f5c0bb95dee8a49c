"""The longest pause of a real `awo up`'s event loop, by its own watch, under what once froze it.

Each scenario has a server of its own, three times; the number is the longest pause of all three.
Beside it stands what of it was ours: the processor's time that the process used meanwhile. On a
busy machine the rest is waiting for a turn.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from benchmarks import product, sample_repository, scratch
from benchmarks.result import Failure, Measurement, Result
from benchmarks.rounds import Unable

HELD = {
    "AWO_RUNNING_TASKS": "4",
    "AWO_STARTS_PER_MINUTE": "0",
    "AWO_STARTS_PER_REPOSITORY_PER_HOUR": "0",
}
AGENT = {"name": "command", "argv": ["sleep", "600"]}
TASKS, ORDERS, LISTENERS, HEADER_BYTES, HEADERS = 10_000, 1_000, 200, 300_000_000, 3_000_000
QUICK = 20
"""A quick run has so many times less, and one round."""
ROUNDS = 3
SETTLE_S = 1.0
END_LIMIT_S = 120.0
CHUNK = b"x" * 65_536


class Site:
    """One running server and a repository."""

    def __init__(self, server: product.Server, home: Path, origin: Path, scale: int) -> None:
        self.scale = scale
        self.authority = server.url.removeprefix("http://")
        self._key = (home / "local.key").read_text().strip()
        self._origin = origin

    def body(self, source: str | None) -> dict[str, Any]:
        kind = (
            {"workflow_type": "agent_workflow_plan_build_test"}
            if source is None
            else {"workflow_source": source}
        )
        return {
            "repository_url": str(self._origin),
            "initial_prompt": "Wait",
            "agent": AGENT,
            **kind,
        }

    def head(self, method: str, path: str) -> str:
        return (
            f"{method} {path} HTTP/1.1\r\nHost: {self.authority}\r\n"
            f"Authorization: Bearer {self._key}\r\n"
        )

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host, _, port = self.authority.partition(":")
        return await asyncio.open_connection(host, int(port))

    async def ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        reader, writer = await self.connect()
        sent = b"" if body is None else json.dumps(body).encode()
        head = self.head(method, path) + (
            f"Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n"
            "Connection: close\r\n\r\n"
        )
        writer.write(head.encode() + sent)
        status, _, answer = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
        if status.split(b" ")[1][:1] != b"2":
            raise Unable(f"{method} {path}: {answer[:200].decode(errors='replace')}")
        found: dict[str, Any] = json.loads(answer)
        return found

    async def submit(self, source: str | None = None) -> str:
        made = await self.ask("POST", "/api/agent-work-orders", self.body(source))
        return str(made["agent_work_order"]["agent_work_order_id"])


Scenario = Callable[[Site], Awaitable[None]]


async def flat_cancel(site: Site) -> None:
    rows = "".join(
        f"  t{number}: {{uses: agent.prompt, with: {{prompt: x}}}}\n"
        for number in range(TASKS // site.scale)
    )
    await _cancel(site, f"name: flat\ntasks:\n{rows}")


async def fan_cancel(site: Site) -> None:
    """100 fan-outs of 100 tasks each, one inside of the other."""
    wide = json.dumps(list(range(int((TASKS // site.scale) ** 0.5))))
    source = (
        "name: fan\ntasks:\n  outer:\n"
        f"    foreach: {wide}\n    max_parallel: 100\n    tasks:\n      inner:\n"
        f"        foreach: {wide}\n        max_parallel: 100\n"
        "        uses: sandbox.exec\n        with: {argv: [sleep, '600']}\n"
    )
    await _cancel(site, source)


async def _cancel(site: Site, source: str) -> None:
    order = await site.submit(source)
    await asyncio.sleep(SETTLE_S)
    asked = asyncio.ensure_future(site.ask("POST", f"/api/agent-work-orders/{order}/cancel", {}))
    begin = time.perf_counter()
    while True:
        # Others look meanwhile.
        await site.ask("GET", "/api/agent-work-orders")
        shown = await site.ask("GET", f"/api/agent-work-orders/{order}")
        if asked.done() and shown["agent_work_order"]["status"] == "cancelled":
            break
        if time.perf_counter() - begin > END_LIMIT_S:
            raise Unable("the order was not cancelled in time")
        await asyncio.sleep(0.1)
    await asked


async def submissions(site: Site) -> None:
    await asyncio.gather(*(site.submit() for _ in range(ORDERS // site.scale)))


async def listeners(site: Site) -> None:
    """Everybody hears of everything while orders come."""
    streams = []
    for _ in range(LISTENERS // site.scale):
        reader, writer = await site.connect()
        writer.write((site.head("GET", "/api/events") + "\r\n").encode())
        await reader.readuntil(b"connected")
        streams.append((reader, writer))

    async def listen(reader: asyncio.StreamReader) -> None:
        while await reader.read(65_536):
            pass

    listening = [asyncio.ensure_future(listen(reader)) for reader, _ in streams]
    for _ in range(10):
        await asyncio.gather(*(site.submit() for _ in range(LISTENERS // site.scale // 10 or 1)))
    await asyncio.sleep(SETTLE_S)
    for task, (_, writer) in zip(listening, streams, strict=True):
        task.cancel()
        writer.close()


async def long_header(site: Site) -> None:
    await _send_head(site, b"X-Long: ", CHUNK, HEADER_BYTES // site.scale)


async def many_headers(site: Site) -> None:
    header = b"X-Many: 1\r\n"
    await _send_head(site, b"", header * 6_000, HEADERS // site.scale * len(header))


async def _send_head(site: Site, begin: bytes, chunk: bytes, size: int) -> None:
    """As much of it as the server takes; being refused is the point."""
    _, writer = await site.connect()
    with contextlib.suppress(ConnectionError):
        writer.write(site.head("GET", "/api/agent-work-orders").encode() + begin)
        for _ in range(size // len(chunk)):
            writer.write(chunk)
            await writer.drain()
    writer.close()
    await site.ask("GET", "/api/agent-work-orders")


SCENARIOS: dict[str, Scenario] = {
    "flat_cancel": flat_cancel,
    "fan_cancel": fan_cancel,
    "submissions": submissions,
    "listeners": listeners,
    "long_header": long_header,
    "many_headers": many_headers,
}


def run(quick: bool) -> Result:
    found: list[Measurement] = []
    facts: dict[str, str] = {}
    for name, scenario in SCENARIOS.items():
        try:
            rounds = [_round(scenario, quick) for _ in range(1 if quick else ROUNDS)]
        except Unable as reason:
            failure = Failure(subject="awo", role="ours", error=f"{name}: {reason}")
            return Result(measurements=found, failures=[failure], facts=facts)
        rounds.sort(key=lambda loop: float(loop["longest_pause_ms"]))
        worst = rounds[-1]
        found += [
            Measurement(
                subject="awo",
                role="ours",
                metric=f"{name}_{short}",
                value=worst[field],
                samples=[float(loop[field]) for loop in rounds],
            )
            for short, field in (
                ("ms", "longest_pause_ms"),
                ("cpu_ms", "longest_pause_cpu_ms"),
            )
        ]
        facts[name] = worst["longest_pause_in"].split(" < ")[0] or "nothing was seen running"
    longest = max(one.value for one in found if not one.metric.endswith("_cpu_ms"))
    found.append(Measurement(subject="awo", role="ours", metric="longest_ms", value=longest))
    return Result(measurements=found, facts=facts)


def _round(scenario: Scenario, quick: bool) -> dict[str, Any]:
    with scratch.place("loop_pauses") as place:
        place.chmod(0o711)
        origin = sample_repository.make(place)
        home = place / "home"
        home.mkdir()
        return _measure(home, origin, scenario, QUICK if quick else 1)


def _measure(home: Path, origin: Path, scenario: Scenario, scale: int) -> dict[str, Any]:
    with product.server(home, HELD) as server:
        site = Site(server, home, origin, scale)
        asyncio.run(_within(scenario(site)))
        request = urllib.request.Request(
            f"{server.url}/status",
            headers={"Authorization": f"Bearer {(home / 'local.key').read_text().strip()}"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            shown: dict[str, Any] = json.load(answer)["event_loop"]
            return shown


async def _within(work: Awaitable[None]) -> None:
    async with asyncio.timeout(2 * END_LIMIT_S):
        await work

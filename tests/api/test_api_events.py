"""Live events over a real socket: nothing lost, nothing twice, nobody holds up the others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import httpx
import pytest
import uvicorn

from agent_work_orders.api import live_updates, server
from agent_work_orders.api.models import AgentWorkOrderSummary
from agent_work_orders.api.routes import events
from agent_work_orders.bootstrap import House
from agent_work_orders.errors import Unavailable
from agent_work_orders.repositories import url
from agent_work_orders.security.roles import LOCAL_OPERATOR

Event = tuple[int, str, Any]


@pytest.fixture
async def address(app: Any) -> AsyncIterator[str]:
    """The application behind a real uvicorn."""
    listening = server.bind("127.0.0.1", 0)
    running = uvicorn.Server(server.config(app))
    running.capture_signals = nullcontext  # type: ignore[method-assign]
    task = asyncio.create_task(running.serve(sockets=[listening]))
    while not running.started:
        await asyncio.sleep(0.01)
    host, port = listening.getsockname()
    yield f"http://{host}:{port}"
    app.state.live_updates.close()
    running.should_exit = True
    await task


class Reader:
    """What a client got, in order."""

    def __init__(self, response: httpx.Response) -> None:
        self._lines = response.aiter_lines()
        self.comments: list[str] = []

    async def next(self) -> Event:
        number, kind = 0, ""
        data: Any = None
        async with asyncio.timeout(20):
            async for line in self._lines:
                if line.startswith(":"):
                    self.comments.append(line)
                elif line.startswith("id:"):
                    number = int(line[3:])
                elif line.startswith("event:"):
                    kind = line[6:].strip()
                elif line.startswith("data:"):
                    data = json.loads(line[5:])
                elif line == "" and kind:
                    return number, kind, data
        raise EOFError

    async def take(self, count: int) -> list[Event]:
        return [await self.next() for _ in range(count)]


@pytest.fixture
def listen(address: str, house: House) -> Callable[..., Any]:
    @asynccontextmanager
    async def listening(token: str | None = None, **params: Any) -> AsyncIterator[Reader]:
        headers = {"Authorization": f"Bearer {token or house.local_key}"}
        last = params.pop("last_event_id", None)
        if last is not None:
            headers["Last-Event-ID"] = str(last)
        async with (
            httpx.AsyncClient(base_url=address, headers=headers, timeout=30) as client,
            client.stream("GET", "/api/events", params=params) as response,
        ):
            assert response.status_code == 200, await response.aread()
            assert response.headers["content-type"].startswith("text/event-stream")
            yield Reader(response)

    return listening


def publish(house: House, count: int, start: int = 0, order: str = "wo-aaaaaaaaaaaaaaaa") -> None:
    for number in range(start, start + count):
        body = json.dumps({"level": "info", "event": "tick", "number": number}).encode()
        house.context.store.feed.publish(order, "log", 1_000, body)


async def test_an_order_is_seen_live(listen: Any, client: Any, order_body: Any, reach: Any) -> None:
    async with listen() as reader:
        made = (await client.post("/api/agent-work-orders", json=order_body())).json()
        order_id = made["agent_work_order"]["agent_work_order_id"]
        status, kinds, lines = "", set(), []
        while status != "completed":
            _, kind, data = await reader.next()
            kinds.add(kind)
            if kind == "work_order":
                order = AgentWorkOrderSummary.model_validate(data["agent_work_order"])
                assert order.agent_work_order_id == order_id
                status = order.status
            else:
                assert data["agent_work_order_id"] == order_id
            if kind == "log":
                lines.append(data["n"])
        assert {"work_order", "log"} <= kinds
        assert lines == list(range(1, len(lines) + 1))


@pytest.mark.fault("K10")
async def test_no_gap_and_no_duplicate_across_reconnects(listen: Any, house: House) -> None:
    total, got = 3_000, []
    last = house.context.store.feed.latest()
    publish(house, 500)

    async def keep_publishing() -> None:
        for start in range(500, total, 100):
            publish(house, 100, start)
            await asyncio.sleep(0.01)

    publishing = asyncio.create_task(keep_publishing())
    while len(got) < total:
        async with listen(last_event_id=last) as reader:
            for _ in range(min(371, total - len(got))):
                number, _, data = await reader.next()
                assert number > last
                last = number
                got.append(data["number"])
    await publishing
    assert got == list(range(total))


@pytest.mark.fault("K10")
async def test_many_listen_at_once(listen: Any, house: House) -> None:
    start = house.context.store.feed.latest()

    async def one() -> list[int]:
        async with listen(after=start) as reader:
            return [event[2]["number"] for event in await reader.take(200)]

    listeners = [asyncio.create_task(one()) for _ in range(60)]
    for begin in range(0, 200, 20):
        publish(house, 20, begin)
        await asyncio.sleep(0.02)
    for listener in listeners:
        assert await listener == list(range(200))


async def test_without_a_past_it_begins_now(listen: Any, house: House) -> None:
    publish(house, 50)
    await asyncio.sleep(0.2)
    async with listen() as reader:
        await asyncio.sleep(0.2)
        publish(house, 1, 50)
        assert (await reader.next())[2]["number"] == 50


async def test_one_order_only(listen: Any, house: House, client: Any, order_body: Any) -> None:
    made = (await client.post("/api/agent-work-orders", json=order_body())).json()
    order_id = made["agent_work_order"]["agent_work_order_id"]
    publish(house, 5)
    async with listen(after=0, agent_work_order_id=order_id[:9]) as reader:
        for _ in range(5):
            _, kind, data = await reader.next()
            found = data["agent_work_order"] if kind == "work_order" else data
            assert found["agent_work_order_id"] == order_id


@pytest.mark.fault("K2")
async def test_events_of_other_repositories_are_not_sent(
    listen: Any, house: House, client: Any, order_body: Any, other_repository: Any, repository: Any
) -> None:
    mine = url.parse(str(other_repository)).key
    _, token = await house.context.store.keys.create("other", "viewer", repositories=[mine])
    async with listen(token, after=0) as caught_up, listen(token) as live:
        await client.post("/api/agent-work-orders", json=order_body())
        publish(house, 3)
        made = await client.post(
            "/api/agent-work-orders", json=order_body(repository_url=str(other_repository))
        )
        order_id = made.json()["agent_work_order"]["agent_work_order_id"]
        for reader in (caught_up, live):
            for _ in range(4):
                _, kind, data = await reader.next()
                found = data["agent_work_order"] if kind == "work_order" else data
                assert found["agent_work_order_id"] == order_id


async def test_a_lost_past_is_said(listen: Any, house: House) -> None:
    publish(house, 100)
    oldest = house.context.store.feed.latest() - 100
    await house.context.store.feed.trim(10)
    async with listen(after=oldest) as reader:
        assert (await reader.next())[1] == "reset"
        assert (await reader.next())[2]["number"] == 90
    async with listen(after=2**53) as reader:
        assert (await reader.next())[1] == "reset"
        await asyncio.sleep(0.2)
        publish(house, 1, 100)
        assert (await reader.next())[2]["number"] == 100


async def test_a_wrong_last_id_is_refused(client: Any) -> None:
    for wrong in ("x", "-1", "9" * 19, "١"):
        answer = await client.get("/api/events", headers={"Last-Event-ID": wrong.encode()})
        assert answer.status_code == 400, answer.text
    assert (await client.get("/api/events", params={"after": -1})).status_code == 422


async def test_a_slow_reader_is_let_go_and_memory_stays_bounded(house: House) -> None:
    hub = live_updates.LiveUpdates(house.context)
    slow, quick = (live_updates.Listener(LOCAL_OPERATOR, None) for _ in range(2))
    await hub.join(slow)
    await hub.join(quick)
    got = 0
    for start in range(0, 3_000, 250):
        publish(house, 250, start)
        await asyncio.sleep(0.25)
        got += len(quick.waiting)
        quick.waiting.clear()
    assert slow.let_go
    assert len(slow.waiting) == 0
    assert not quick.let_go
    assert got == 3_000
    hub.leave(slow)
    hub.leave(quick)


async def test_a_revoked_key_stops_listening(
    listen: Any, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "HEARTBEAT_S", 0.1)
    key, token = await house.context.store.keys.create("soon gone", "viewer")
    async with listen(token) as reader:
        publish(house, 1)
        await reader.next()
        await asyncio.sleep(0.3)
        await house.context.store.keys.revoke(key.key_id)
        kinds = []
        with pytest.raises(EOFError):
            while True:
                kinds.append((await reader.next())[1])
        assert "heartbeat" in kinds


async def test_too_many_listeners_are_turned_away(house: House) -> None:
    hub = live_updates.LiveUpdates(house.context)
    listeners = [
        live_updates.Listener(LOCAL_OPERATOR, None) for _ in range(live_updates.MAX_LISTENERS)
    ]
    for listener in listeners:
        await hub.join(listener)
    with pytest.raises(Unavailable):
        await hub.join(live_updates.Listener(LOCAL_OPERATOR, None))
    for listener in listeners:
        hub.leave(listener)

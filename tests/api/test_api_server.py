"""The server as a process: binding, announcing, draining, refusing to be exposed."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent_work_orders.api.server import is_loopback
from agent_work_orders.bootstrap import open_house
from agent_work_orders.clock import SystemClock
from agent_work_orders.settings import Settings
from agent_work_orders.state_manager.lock import read_owner
from agent_work_orders.state_manager.sqlite.store import SqliteStore

CHILD = Path(__file__).with_name("serve_child.py")


@asynccontextmanager
async def child(
    home: Path, host: str = "127.0.0.1", port: int = 0, *secrets: str
) -> AsyncIterator[Any]:
    source = Path(__file__).resolve().parents[2] / "src"
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(CHILD),
        str(home),
        host,
        str(port),
        *secrets,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(source)},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def said(process: Any) -> list[str]:
    async with asyncio.timeout(30):
        line: bytes = await process.stdout.readline()
        return line.decode().split()


@pytest.mark.fault("A20")
async def test_it_announces_itself_serves_and_drains(
    tmp_path: Path, order_body: Any, scripts: Any
) -> None:
    home = tmp_path / "home"
    async with child(home) as process:
        address, key = await said(process)
        owner = read_owner(home)
        assert owner is not None
        assert owner.url == address
        headers = {"Authorization": f"Bearer {key}"}
        async with httpx.AsyncClient(base_url=address, headers=headers, timeout=20) as client:
            made = await client.post("/api/agent-work-orders", json=order_body(scripts["sleepy"]))
            assert made.status_code == 201, made.text
            assert "server" not in made.headers
            async with client.stream("GET", "/api/events") as live:
                lines = live.aiter_lines()
                await anext(lines)
                process.send_signal(signal.SIGTERM)
                async with asyncio.timeout(5):
                    while await anext(lines, None) is not None:
                        pass
        async with asyncio.timeout(15):
            assert await process.wait() == 0
    assert read_owner(home) is None
    store = SqliteStore.open(home, SystemClock())
    assert len((await store.journal.load_open()).runs) == 1
    await store.close()


@pytest.mark.fault("A20")
async def test_before_it_closes_it_says_that_it_drains(
    tmp_path: Path, order_body: Any, scripts: Any
) -> None:
    async with child(tmp_path / "home") as process:
        address, key = await said(process)
        headers = {"Authorization": f"Bearer {key}", "Connection": "close"}
        async with httpx.AsyncClient(base_url=address, headers=headers, timeout=20) as client:
            made = await client.post("/api/agent-work-orders", json=order_body(scripts["sleepy"]))
            assert made.status_code == 201, made.text
            assert (await client.get("/readyz")).status_code == 200
            process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(5):
                while (ready := await client.get("/readyz")).status_code == 200:
                    await asyncio.sleep(0.01)
            assert (ready.status_code, ready.json()["reason"]) == (503, "draining")
            more = await client.post("/api/agent-work-orders", json=order_body(scripts["sleepy"]))
            assert (more.status_code, more.json()["code"]) == (503, "server_draining")
            assert "retry-after" in more.headers
            kept = await client.get("/api/agent-work-orders")
            assert len(kept.json()["agent_work_orders"]) == 1
        async with asyncio.timeout(15):
            assert await process.wait() == 0


async def test_a_second_signal_closes_at_once(tmp_path: Path) -> None:
    async with child(tmp_path / "home") as process:
        await said(process)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(15):
            assert await process.wait() == 0


async def test_a_taken_port_is_said(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        async with child(tmp_path / "home", port=taken.getsockname()[1]) as process:
            assert await said(process) == ["address_unusable"]
            assert await process.wait() == 3


async def test_beyond_this_machine_only_with_keys(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with child(home, "0.0.0.0") as process:
        assert await said(process) == ["bind_needs_keys"]
        assert await process.wait() == 3
    async with open_house(Settings(home=home)) as house:
        await house.context.store.keys.create("ci", "viewer")
    async with child(home, "0.0.0.0") as process:
        address, key = await said(process)
        port = address.rsplit(":", 1)[1]
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            assert (await client.get("/api/tools")).status_code == 401
            headers = {"Authorization": f"Bearer {key}", "Host": "evil.example"}
            assert (await client.get("/api/tools", headers=headers)).status_code == 403
            headers["Host"] = f"192.168.7.7:{port}"
            assert (await client.get("/api/tools", headers=headers)).status_code == 200


async def test_a_second_server_is_told_of_the_first(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with child(home) as first:
        await said(first)
        async with child(home) as second:
            assert await said(second) == ["data_directory_in_use"]


async def test_raw_requests_cannot_confuse_it(tmp_path: Path) -> None:
    async with child(tmp_path / "home") as process:
        address, key = await said(process)
        host, port = address.removeprefix("http://").split(":")

        async def raw(sent: bytes) -> bytes:
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(sent)
            await writer.drain()
            async with asyncio.timeout(20):
                answer = await reader.read(65_536)
            writer.close()
            return answer

        auth = f"Authorization: Bearer {key}\r\n".encode()
        two_hosts = b"GET /api/tools HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n" + auth + b"\r\n"
        assert b"403" in (await raw(two_hosts)).split(b"\r\n")[0]
        no_host = b"GET /healthz HTTP/1.1\r\n\r\n"
        assert (await raw(no_host)).split(b" ")[1] in (b"400", b"403")
        chunked = (
            b"POST /api/agent-work-orders HTTP/1.1\r\nHost: localhost\r\n" + auth
            + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            + (b"10000\r\n" + b" " * 65_536 + b"\r\n") * 20
        )  # fmt: skip
        assert b" 413 " in (await raw(chunked)).split(b"\r\n")[0]
        websocket = (
            b"GET /api/events HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
            b"Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            b"Sec-WebSocket-Version: 13\r\nOrigin: http://evil.example\r\n\r\n"
        )
        assert (await raw(websocket)).split(b" ")[1] in (b"400", b"403")


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True),
     ("0.0.0.0", False), ("::", False), ("192.168.0.1", False), ("example.org", False)],
)  # fmt: skip
def test_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


async def test_a_session_goes_on_after_the_server_was_killed(tmp_path: Path) -> None:
    home = tmp_path / "home"

    def cookie_at(address: str, secret: str) -> dict[str, str]:
        name = f"awo_session_{address.rsplit(':', 1)[1]}"
        return {"Cookie": f"{name}={secret}", "X-AWO-Page": made.json()["page_secret"]}

    async with child(home) as process:
        address, key = await said(process)
        async with httpx.AsyncClient(base_url=address) as client:
            made = await client.post("/api/session", json={"key": key})
            assert made.status_code == 201, made.text
            [secret] = made.cookies.values()
        process.kill()
        await process.wait()
    async with child(home) as process:
        address, _ = await said(process)
        async with httpx.AsyncClient(base_url=address) as client:
            me = await client.get("/api/session", headers=cookie_at(address, secret))
            assert me.json()["session"]["name"] == "local", me.text
            wrong = await client.get("/api/session", headers=cookie_at(address, secret + "x"))
            assert wrong.status_code == 401

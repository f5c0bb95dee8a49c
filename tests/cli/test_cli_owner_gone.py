"""An owner that goes while it is asked: it is asked again only when nothing was done."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from agent_work_orders.cli.outcome import Again, Told
from agent_work_orders.cli.over_http import OverHttp

pytestmark = pytest.mark.slow

DRAINING = b'{"code": "server_draining", "detail": "The server is stopping"}'
REFUSAL = b"HTTP/1.1 503 X\r\nContent-Length: %d\r\n\r\n%s" % (len(DRAINING), DRAINING)


@contextmanager
def owner(answer: bytes) -> Iterator[str]:
    """Takes one request and answers with these bytes, or hangs up."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    thread.join()
    listening.close()


def ask(url: str, method: str, *, named: bool) -> BaseException:
    async def asked() -> None:
        async with OverHttp(url, "", named=named) as client:
            if method == "GET":
                await client.order("wo-1")
            else:
                await client.create({})

    with pytest.raises(Told) as caught:
        asyncio.run(asked())
    return caught.value


def nobody() -> str:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"http://127.0.0.1:{free.getsockname()[1]}"


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_nobody_listens_any_more(method: str) -> None:
    assert isinstance(ask(nobody(), method, named=False), Again)
    assert type(ask(nobody(), method, named=True)) is Told


@pytest.mark.parametrize(("method", "again"), [("GET", True), ("POST", False)])
def test_it_hangs_up_in_the_middle(method: str, again: bool) -> None:
    with owner(b"") as url:
        told = ask(url, method, named=False)
    assert isinstance(told, Again) == again
    if not again:
        assert isinstance(told, Told) and "may have done" in told.message


def test_it_is_stopping_and_takes_nothing() -> None:
    with owner(REFUSAL) as url:
        assert isinstance(ask(url, "POST", named=False), Again)
    with owner(REFUSAL) as url:
        assert type(ask(url, "POST", named=True)) is Told

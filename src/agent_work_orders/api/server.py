"""Serving: bind, open the house, announce, drain.

The socket is bound before anything is opened, so that a taken port is said at once; requests are
taken once the house is open. SIGTERM stops intake, and the engine lets its running tasks end;
meanwhile /readyz says so for AWO_CLOSING_S, so that whoever sends requests here sends them
elsewhere. Then the socket closes, and answers end. SIGINT (somebody waits) closes it at once, and a
second signal skips all waiting for others.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import ipaddress
import os
import resource
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import uvicorn
import uvloop
from fastapi import FastAPI
from starlette.types import Message

from agent_work_orders.api.app import create_app
from agent_work_orders.api.request_heads import counting
from agent_work_orders.bootstrap import House, open_house
from agent_work_orders.errors import Environmental, Refused
from agent_work_orders.security import given
from agent_work_orders.security.redaction import Redactor
from agent_work_orders.settings import Settings
from agent_work_orders.state_manager.store import Store

BACKLOG = 2_048
ANSWERS_END_WITHIN_S = 5
KEEP_ALIVE_S = 30
# A graph of 10,000 tasks is many living objects: with Python's own (700, 10, 10) the collector
# walks them so often that time per task doubles.
COLLECT_EVERY = (20_000, 50, 100)
# As many as Python itself would allow.
THREADS = min(32, (os.cpu_count() or 1) + 4)

OnReady = Callable[[str, House], None]


def serve(
    settings: Settings, on_ready: OnReady | None = None, redactor: Redactor | None = None
) -> int:
    """Run until a signal. Returns the exit code; raises what keeps it from starting. A process
    that calls this leaves no memory behind when it crashes: there are secrets in it."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(serving(settings, on_ready, redactor))


async def serving(
    settings: Settings, on_ready: OnReady | None = None, redactor: Redactor | None = None
) -> int:
    """The same on a running loop."""
    with bind(settings.server.host, settings.server.port) as listening:
        check = partial(check_exposure, settings)
        async with open_house(settings, check=check, redactor=redactor) as house:
            address = address_of(listening)
            app = create_app(house, address)

            def ready() -> None:
                url = f"http://{address}"
                house.lock.announce(url)
                if on_ready is not None:
                    on_ready(url, house)

            stopping: list[asyncio.Task[None]] = []
            beside = house.duties.while_serving()

            def drain() -> None:
                app.state.draining = True
                app.state.live_updates.close()
                for task in beside:
                    task.cancel()
                stop = house.engine.stop(drain_s=settings.server.drain_s)
                stopping.append(asyncio.get_running_loop().create_task(stop))

            await _warm(app)
            # What is there now stays for good: the collector need not walk it during requests.
            gc.freeze()
            gc.set_threshold(*COLLECT_EVERY)
            server = _Server(config(app), ready, drain, settings.server.closing_s)
            app.state.pauses.start()
            try:
                await server.serve(sockets=[listening])
            finally:
                app.state.pauses.stop()
                for task in beside:
                    task.cancel()
                await asyncio.wait(beside)
                await asyncio.gather(*stopping)
            return 0 if server.started else 1


async def _warm(app: FastAPI) -> None:
    """What else the first requests would wait for, and everybody with them: the threads for what
    blocks, and FastAPI's routes, which it makes ready at the first request."""
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(THREADS, "beside"))
    together = threading.Barrier(THREADS)
    await asyncio.gather(*(asyncio.to_thread(together.wait) for _ in range(THREADS)))

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(_message: Message) -> None:
        return None

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/healthz",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1")],
    }
    await app(scope, receive, send)


def bind(host: str, port: int) -> socket.socket:
    """A socket at the address. Environmental `address_unusable`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except (OSError, ValueError) as error:
        listening.close()
        why = error.strerror if isinstance(error, OSError) else "not a name of a host"
        raise Environmental(
            "address_unusable",
            f"Cannot listen at {_told(host)}, port {port} ({why})",
            hint="Stop what listens there, or choose another AWO_PORT or AWO_HOST.",
        ) from error
    listening.setblocking(False)
    return listening


async def check_exposure(settings: Settings, store: Store) -> None:
    """Beyond this machine, only with keys that somebody chose to give out."""
    host = settings.server.host
    if is_loopback(host):
        return
    if all(key.revoked_at_ms is not None for key in await store.keys.all()):
        raise Refused(
            "bind_needs_keys",
            f"Listening at {_told(host)} would expose the server, and there is no API key yet",
            hint="Make one with `awo key create NAME`, or listen at 127.0.0.1.",
            field="AWO_HOST",
        )


def _told(host: str) -> str:
    """An address is told; any other word may have slipped in from another setting."""
    try:
        return host if host == "localhost" else str(ipaddress.ip_address(host))
    except ValueError:
        return f"the host of AWO_HOST ({given.shape(host)})"


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def address_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def config(app: object) -> uvicorn.Config:
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        http=counting(),
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=ANSWERS_END_WITHIN_S,
    )


class _Server(uvicorn.Server):
    """Tells when it is ready; takes signals without raising them again at the end, when the house
    still has to be closed."""

    def __init__(
        self,
        config: uvicorn.Config,
        ready: Callable[[], None],
        drain: Callable[[], None],
        closing_s: float,
    ) -> None:
        super().__init__(config)
        self._ready = ready
        self._drain = drain
        self._closing_s = closing_s
        self._asked = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        taken = (signal.SIGTERM, signal.SIGINT)
        for number in taken:
            loop.add_signal_handler(number, self._asked_to_stop, number)
        try:
            yield
        finally:
            for number in taken:
                loop.remove_signal_handler(number)

    def _asked_to_stop(self, number: int) -> None:
        if self._asked:
            self.force_exit = self.should_exit = True
            return
        self._asked = True
        self._drain()
        if number == signal.SIGTERM:
            asyncio.get_running_loop().call_later(self._closing_s, self._close)
        else:
            self._close()

    def _close(self) -> None:
        self.should_exit = True

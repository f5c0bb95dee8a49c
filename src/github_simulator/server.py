"""A GitHub on a loopback port: assembling the parts, and their life.

`async with GithubSimulator(folder) as github:` serves `github.url` in this loop; `python -m
github_simulator` does so in a process of its own. One port serves the
API (also under `/api/v3`, as an enterprise server does), git, and `/_simulator/` for whoever
directs the play. Nothing but loopback is listened at, and nothing but loopback is called.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import uvicorn

from agent_work_orders.api.request_heads import BoundedHeads, counting
from github_simulator.changes import founding
from github_simulator.directing.admin import Admin
from github_simulator.outside.api import Api
from github_simulator.outside.credentials import Credentials, limit_key
from github_simulator.outside.deliveries import Deliveries
from github_simulator.outside.faults import Faults
from github_simulator.outside.git_http import Asked as GitAsked
from github_simulator.outside.git_http import GitHttp, asked
from github_simulator.outside.limits import Limits, Rules
from github_simulator.outside.mishaps import before
from github_simulator.outside.records import Asked, Requests
from github_simulator.outside.web_pages import WebPages
from github_simulator.outside.wire import (
    TRANSPORT,
    Exchange,
    Receive,
    Scope,
    Send,
)
from github_simulator.things.actor import Actor
from github_simulator.things.simulated_clock import SimulatedClock

ENTERPRISE = "/api/v3"
BACKLOG = 1_024
ANSWERS_END_WITHIN_S = 2
# Longer than a client keeps an idle connection: one that both let go of at the same moment loses
# a request that was never received.
KEEP_ALIVE_S = 75


class GithubSimulator:
    """`world` is what there is, `faults` what goes wrong, `limits` what is enough, `requests` what
    was asked, `deliveries` what was told, `credentials` who may, `git` the repositories over HTTP,
    `clock` what time it is there."""

    def __init__(
        self,
        folder: Path,
        *,
        port: int = 0,
        clock: SimulatedClock | None = None,
        rules: Rules | None = None,
    ) -> None:
        self._port = port
        self.clock = clock or SimulatedClock()
        self.world = founding.new_world(folder / "repositories", self.clock)
        self.credentials = Credentials(self.world)
        self.deliveries = Deliveries(self.world)
        self.limits = Limits(self.clock, rules)
        self.faults = Faults()
        self.requests = Requests()
        self.pages = WebPages(self.world)
        self.api = Api(
            self.world,
            self.credentials,
            self.deliveries,
            self.limits,
            self.faults,
            self.requests,
            self.pages,
        )
        self.git = GitHttp(self.world, self.credentials, folder / "hooks")
        self._admin = Admin(self)
        self._server: _Server | None = None
        self._serving: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def sent_while_limited(self) -> list[Asked]:
        return self.requests.while_limited

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def open(self) -> None:
        """Listens and serves. OSError when the port is taken."""
        listening = _listen(self._port)
        self._port = listening.getsockname()[1]
        self.world.api_url = self.world.server_url = self.url
        await self.deliveries.__aenter__()
        self._server = _Server(_config(self))
        self._serving = asyncio.create_task(self._server.serve(sockets=[listening]))
        await self._server.ready.wait()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the port and every connection at once. Can be called twice."""
        if self._server is None or self._serving is None:
            return
        self._server.hang_up()
        await self._serving
        await self.deliveries.__aexit__()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = Exchange(scope, receive, send)
        path = exchange.request.path
        if path.startswith("/_simulator/"):
            await self._admin.serve(exchange, path.removeprefix("/_simulator"))
            return
        wanted = asked(exchange.request.method, path, exchange.request.query)
        if wanted is not None:
            await self._serve_git(exchange, wanted, path)
            return
        if await self.pages.serve(exchange, path):
            return
        if path == "/api/graphql":
            path = "/graphql"
        elif path == ENTERPRISE or path.startswith(ENTERPRISE + "/"):
            path = path.removeprefix(ENTERPRISE) or "/"
        await self.api.serve(exchange, path)

    async def _serve_git(self, exchange: Exchange, wanted: GitAsked, path: str) -> None:
        """Git has limits of its own, which are not simulated; it is only recorded."""
        method = exchange.request.method
        fault = self.faults.take(method, path, wanted.operation)
        actor: Actor | None = None
        try:
            if fault is not None and not fault.after:
                await before(exchange, fault, f"{self.url}{path}")
            else:
                actor = await self.git.serve(exchange, wanted, fault)
        finally:
            self.faults.over(fault, exchange.status)
            self.requests.add(
                Asked(
                    method=method,
                    path=path,
                    operation=wanted.operation,
                    actor=actor.login if actor else "",
                    status=exchange.status,
                    at_ms=self.clock.now_ms(),
                    fault=fault.kind if fault else "",
                )
            )

    def limit_key(self, actor: Actor) -> str:
        return limit_key(actor, "127.0.0.1")


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    listening.setblocking(False)
    return listening


def _config(app: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=counting(_Protocol),
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=ANSWERS_END_WITHIN_S,
        timeout_keep_alive=KEEP_ALIVE_S,
    )


class _Protocol(BoundedHeads):
    """Hands the connection to the application: faults need to close it in the middle."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = {TRANSPORT: {"transport": self.transport}}


class _Server(uvicorn.Server):
    """Says when it is ready, and leaves the signals alone."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    def hang_up(self) -> None:
        """No answer is waited for: one that hangs on purpose would never come."""
        self.should_exit = True
        for connection in list(self.server_state.connections):
            transport = getattr(connection, "transport", None)
            if transport is not None:
                transport.abort()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

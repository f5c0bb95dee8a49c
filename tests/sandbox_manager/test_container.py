"""What a container of a real engine does beyond the contract that all sandboxes keep."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_work_orders.errors import Transient
from agent_work_orders.sandbox_manager.bubblewrap.sandboxes import BoxedSandboxes
from agent_work_orders.sandbox_manager.container.configuration import (
    HOME_LABEL,
    ORDER_LABEL,
    SANDBOX_LABEL,
)
from agent_work_orders.sandbox_manager.container.containers import (
    ContainerOptions,
    container_places,
)
from agent_work_orders.sandbox_manager.container.engine import Engine
from agent_work_orders.sandbox_manager.inside.limits import Limits
from agent_work_orders.sandbox_manager.local import processes
from agent_work_orders.sandbox_manager.sandbox import SandboxType, Spec, WayOut
from agent_work_orders.testing.conformance.sandbox import order, ready

pytestmark = pytest.mark.slow

# One server: makes sandboxes, says which, and waits to be killed.
SERVER = """
import asyncio, sys
from pathlib import Path
import msgspec
from agent_work_orders.clock import SystemClock
from agent_work_orders.repositories.git import Git
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.sandbox_manager.bubblewrap.sandboxes import BoxedSandboxes
from agent_work_orders.sandbox_manager.container.containers import ContainerOptions
from agent_work_orders.sandbox_manager.container.containers import container_places
from agent_work_orders.sandbox_manager.sandbox import Spec

async def main():
    home, options = Path(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=ContainerOptions)
    made = BoxedSandboxes(home, Mirrors(home / "mirrors", Git()), SystemClock(),
                          beside=container_places(options))
    running = []
    for spec in msgspec.json.decode(sys.argv[3], type=list[Spec]):
        sandbox = made.open(spec)
        await sandbox.setup()
        running.append(asyncio.ensure_future(sandbox.execute(["sleep", "600"], env={"MARK": "x"})))
    print("ready", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.fixture
def sandbox_type() -> SandboxType:
    return "container"


@pytest.fixture
def engine(containers: ContainerOptions) -> Engine:
    return Engine(containers.sockets[0])


def others(bench: Any, options: ContainerOptions) -> BoxedSandboxes:
    """Another server's, on the same data directory."""
    known = bench.sandboxes
    beside = container_places(options)
    return BoxedSandboxes(bench.home, known.mirrors, known._host.clock, beside=beside)


@contextlib.contextmanager
def made(bench: Any, options: ContainerOptions) -> Iterator[BoxedSandboxes]:
    sandboxes = others(bench, options)
    try:
        yield sandboxes
    finally:
        sandboxes.close()


async def _mine(engine: Engine, bench: Any) -> list[Any]:
    return await engine.listed(f"{HOME_LABEL}={bench.sandboxes._host.tag}")


async def test_one_can_be_made(bench: Any, engine: Engine) -> None:
    assert await bench.sandboxes.problem("container") is None
    assert await _mine(engine, bench) == []


async def test_it_bears_its_names_and_goes_with_its_sandbox(bench: Any, engine: Engine) -> None:
    spec = order(bench)
    sandbox = bench.sandboxes.open(spec)
    await sandbox.setup()
    (one,) = await _mine(engine, bench)
    assert (one.labels[ORDER_LABEL], one.labels[SANDBOX_LABEL]) == (spec.order_id, spec.name)
    await sandbox.cleanup()
    assert await _mine(engine, bench) == []


async def test_programs_have_the_images_path_and_only_the_work_tree(bench: Any) -> None:
    sandbox = await ready(bench)
    done = await sandbox.execute(["/bin/sh", "-c", "echo $PATH; pwd; ls -d /sandbox*; echo $HOME"])
    path, *rest = done.stdout.decode().splitlines()
    assert "/usr/bin" in path.split(":") and str(Path.home()) not in path
    assert rest == [
        "/sandbox/repo", "/sandbox", "/sandbox-mirror", "/sandbox-runtime", "/sandbox/home",
    ]  # fmt: skip
    for place in ("/etc/x", "/usr/x", "/home/x", "/sandbox/x", "/sandbox-runtime/x"):
        assert not (await sandbox.execute(["touch", place])).success, place
    listed = await sandbox.execute(["ls", "/sandbox"])
    assert b"channel" not in listed.stdout


async def test_one_that_was_taken_away_is_made_again(bench: Any, engine: Engine) -> None:
    sandbox = await ready(bench)
    began = asyncio.Event()
    running = asyncio.ensure_future(
        sandbox.execute(["/bin/sh", "-c", "echo on; sleep 600"], on_output=lambda *_: began.set())
    )
    await began.wait()
    (one,) = await _mine(engine, bench)
    await engine.remove(one.container_id)
    with pytest.raises(Transient) as lost:
        await running
    assert lost.value.code == "supervisor_lost"
    assert (await sandbox.execute(["echo", "again"])).stdout == b"again\n"
    assert [found.container_id == one.container_id for found in await _mine(engine, bench)] == [
        False
    ]


async def test_what_is_reaped_is_gone(bench: Any, engine: Engine) -> None:
    sandbox = await ready(bench)
    assert len(await _mine(engine, bench)) == 1
    assert await bench.sandboxes.reap(set(), 0) == [sandbox.sandbox_identifier]
    assert await _mine(engine, bench) == []


async def test_a_server_that_closes_lets_nothing_run(
    bench: Any, containers: ContainerOptions, engine: Engine
) -> None:
    sandboxes = others(bench, containers)
    sandbox = sandboxes.open(order(bench))
    await sandbox.setup()
    (one,) = await _mine(engine, bench)
    assert await engine.runs(one.container_id)
    sandboxes.close()
    while await engine.runs(one.container_id):
        await asyncio.sleep(0.02)
    await bench.sandboxes.sweep()
    assert await _mine(engine, bench) == []


@pytest.mark.fault("H7")
async def test_a_killed_server_leaves_nothing_that_runs_and_the_next_removes_the_rest(
    bench: Any, containers: ContainerOptions, engine: Engine
) -> None:
    stranger = await ready(bench)
    home = bench.folder / "other-home"
    (home / "mirrors").mkdir(parents=True)
    subprocess.run(["cp", "-a", f"{bench.home}/mirrors/.", f"{home}/mirrors/"], check=True)
    server = subprocess.Popen(
        [
            sys.executable, "-c", SERVER, str(home), msgspec.json.encode(containers).decode(),
            msgspec.json.encode([order(bench) for _ in range(3)]).decode(),
        ],
        stdout=subprocess.PIPE,
    )  # fmt: skip
    assert server.stdout is not None
    assert await asyncio.to_thread(server.stdout.readline) == b"ready\n"
    while len(_marked()) < 3:
        await asyncio.sleep(0.02)
    server.send_signal(signal.SIGKILL)
    server.wait()
    while _marked():
        await asyncio.sleep(0.02)
    label = f"{HOME_LABEL}={processes.home_tag(home)}"
    assert len(await engine.listed(label)) == 3
    known = bench.sandboxes
    with contextlib.closing(
        BoxedSandboxes(home, known.mirrors, known._host.clock, beside=container_places(containers))
    ) as following:
        await following.sweep()
    assert await engine.listed(label) == []
    assert (await stranger.execute(["echo", "untouched"])).stdout == b"untouched\n"


def _marked() -> list[Path]:
    """Processes of the killed server's orders."""
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if b"MARK=x" in environ.read_bytes().split(b"\0"):
                found.append(environ.parent)
    return found


@pytest.mark.fault("H9", "G7", "G8")
async def test_what_it_may_use_has_limits(bench: Any, containers: ContainerOptions) -> None:
    limits = Limits(memory_bytes=128 * 1024 * 1024, processes=40, cpus=1.0)
    with made(bench, msgspec.structs.replace(containers, limits=limits)) as sandboxes:
        sandbox = sandboxes.open(order(bench))
        await sandbox.setup()
        eats = "x = bytearray({} * 1024 * 1024); print(len(x))"
        fits = await sandbox.execute(["python3", "-c", eats.format(16)])
        assert fits.success, fits
        assert not (await sandbox.execute(["python3", "-c", eats.format(2048)])).success
        many = "for i in $(seq 200); do sleep 5 & done; jobs | wc -l"
        forked = await sandbox.execute(["/bin/sh", "-c", many])
        assert b"fork" in forked.stderr, forked
        assert (await sandbox.execute(["echo", "alive"])).stdout == b"alive\n"
        await sandbox.cleanup()


class Doors:
    """Says one word to whoever comes out."""

    def __init__(self) -> None:
        self.open = 0

    def way_out(self, spec: Spec) -> WayOut:
        return WayOut(environment={"HTTP_PROXY": "http://127.0.0.1:3128"})

    def serve(self, spec: Spec, listener: socket.socket) -> Callable[[], None]:
        self.open += 1

        def answer() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        connection.sendall(spec.order_id.encode())

        threading.Thread(target=answer, daemon=True).start()

        def end() -> None:
            self.open -= 1
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()

        return end


ASKS = """
import os, socket
port = int(os.environ['HTTP_PROXY'].rpartition(':')[2])
print(socket.create_connection(('127.0.0.1', port), 5).recv(100).decode(), end='')
"""


async def test_the_way_out_is_answered_by_the_server(
    bench: Any, containers: ContainerOptions
) -> None:
    doors = Doors()
    with made(bench, msgspec.structs.replace(containers, outlets=doors)) as sandboxes:
        specs = [order(bench), order(bench)]
        found = [sandboxes.open(spec) for spec in specs]
        for sandbox in found:
            await sandbox.setup()
        said = [(await one.execute(["python3", "-c", ASKS])).stdout.decode() for one in found]
        assert said == [spec.order_id for spec in specs]
        assert doors.open == 2
        for sandbox in found:
            await sandbox.cleanup()
        assert doors.open == 0


async def test_an_image_without_python_says_so(
    bench: Any, containers: ContainerOptions, engine: Engine
) -> None:
    archive = bench.folder / "bare.tar"
    with tarfile.open(archive, "w") as file:
        file.add(__file__, "etc/os-release")
    bare = msgspec.structs.replace(containers, archive=str(archive))
    with made(bench, bare) as sandboxes:
        found = await sandboxes.problem("container")
    assert found is not None and "no python3" in found.message, found
    assert await _mine(engine, bench) == []

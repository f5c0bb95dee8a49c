"""No process of an agent outlives its call, however the call ends."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import pytest

from agent_work_orders.clock import SystemClock
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.sandbox_manager.local import processes
from agent_work_orders.sandbox_manager.local.sandboxes import LocalSandboxes
from agent_work_orders.sandbox_manager.sandbox import Sandbox
from agent_work_orders.testing.conformance.sandbox import order

# A daemon by the book: forked twice, its own session, its own name, nothing inherited.
DAEMON = textwrap.dedent(
    """
    import os, sys, time
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 256)
            os.execve("/bin/sleep", ["sleep", sys.argv[1]], {})
        os._exit(0)
    os.wait()
    open("daemon-up", "w").close()
    mode = sys.argv[2]
    if mode == "stay":
        import signal
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    """
)


def alive(marker: str) -> list[int]:
    """Processes that sleep for exactly this many seconds."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[:2] == [b"sleep", marker.encode()]:
                found.append(int(name))
    return found


async def until_alive(marker: str) -> None:
    while not alive(marker):
        await asyncio.sleep(0.01)


@pytest.fixture
def marker(request: pytest.FixtureRequest) -> str:
    """A duration that no other process sleeps for."""
    return f"{os.getpid()}{abs(hash(request.node.nodeid)) % 10_000:04d}"


@pytest.fixture(params=["auto", "off"])
async def sandbox(request: pytest.FixtureRequest, bench: Any) -> AsyncIterator[Sandbox]:
    """With namespaces where the machine has them, and without."""
    mode: Literal["auto", "off"] = request.param
    mirrors = Mirrors(bench.home / "mirrors", bench.mirror.git)
    factory = LocalSandboxes(bench.home, mirrors, SystemClock(), namespaces=mode)
    made = factory.open(order(bench))
    await made.setup()
    yield made
    factory.close()


def daemon(marker: str, mode: str) -> list[str]:
    return ["/usr/bin/python3", "-c", DAEMON, marker, mode]


@pytest.mark.fault("G6")
async def test_a_daemon_ends_with_its_program(sandbox: Sandbox, marker: str) -> None:
    done = await sandbox.execute(daemon(marker, "leave"))
    assert done.success, done
    assert await sandbox.read_file("daemon-up") == b""
    assert alive(marker) == []


@pytest.mark.fault("G5")
@pytest.mark.fault("G6")
async def test_a_daemon_ends_at_the_timeout(sandbox: Sandbox, marker: str) -> None:
    done = await sandbox.execute(daemon(marker, "stay"), timeout_s=1.5)
    assert (done.ended, done.signal) == ("timed_out", signal.SIGKILL)
    assert await sandbox.read_file("daemon-up") == b""
    assert alive(marker) == []


@pytest.mark.fault("G6")
async def test_a_daemon_ends_when_the_call_is_cancelled(sandbox: Sandbox, marker: str) -> None:
    running = asyncio.ensure_future(sandbox.execute(daemon(marker, "stay")))
    await until_alive(marker)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert alive(marker) == []


@pytest.mark.fault("G6")
async def test_a_daemon_ends_with_the_sandbox(sandbox: Sandbox, marker: str) -> None:
    running = asyncio.ensure_future(sandbox.execute(daemon(marker, "stay")))
    await until_alive(marker)
    await sandbox.cleanup()
    assert not (await running).success
    assert alive(marker) == []
    assert not (await sandbox.state()).exists


SERVER = textwrap.dedent(
    """
    import asyncio, sys
    from pathlib import Path
    from agent_work_orders.clock import SystemClock
    from agent_work_orders.repositories.git import Git
    from agent_work_orders.repositories.mirrors import Mirrors
    from agent_work_orders.sandbox_manager.sandbox import Spec
    from agent_work_orders.sandbox_manager.local.sandboxes import LocalSandboxes

    async def main(home, key, sha, order_id, mode, *argv):
        home = Path(home)
        mirrors = Mirrors(home / "mirrors", Git())
        factory = LocalSandboxes(home, mirrors, SystemClock(), namespaces=mode)
        sandbox = factory.open(Spec(order_id=order_id, sandbox_type="git_worktree",
                                    repository=key, base_sha=sha, branch="feat-x"))
        await sandbox.setup()
        await sandbox.execute(argv)

    asyncio.run(main(*sys.argv[1:]))
    """
)


@pytest.mark.fault("A5")
@pytest.mark.parametrize("mode", ["auto", "off"])
async def test_nothing_survives_the_death_of_the_server(bench: Any, marker: str, mode: str) -> None:
    spec = order(bench)
    arguments = [str(bench.home), bench.repository, bench.base_sha, spec.order_id, mode]
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, *arguments, *daemon(marker, "stay")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        await until_alive(marker)
    finally:
        server.kill()
        server.wait()
    await bench.sandboxes.sweep()
    for _ in range(300):
        if not alive(marker):
            break
        await asyncio.sleep(0.01)
    assert alive(marker) == []
    sandbox = bench.sandboxes.open(spec)
    await sandbox.setup()
    assert await sandbox.read_file("daemon-up") == b""


@pytest.mark.fault("A5")
async def test_sweep_kills_by_tag_and_nothing_else(bench: Any, marker: str) -> None:
    tag = processes.home_tag(bench.home)
    # Started through a shell that ends at once: leftovers are nobody's children.
    script = f"sleep {marker} & echo $!"
    pids = []
    for value in (tag, "another-directory"):
        done = subprocess.run(
            ["/bin/sh", "-c", script + " >pid; exec >&- 2>&-"],
            cwd=bench.folder,
            env={"PATH": os.defpath, processes.HOME_TAG: value},
            check=True,
        )
        assert done.returncode == 0
        pids.append(int((bench.folder / "pid").read_text()))
    ours, foreign = pids
    try:
        assert await bench.sandboxes.sweep() >= 1
        assert alive(marker) == [foreign]
        assert ours != foreign
    finally:
        os.kill(foreign, signal.SIGKILL)


async def test_the_supervisor_is_started_again_when_it_died(bench: Any) -> None:
    sandbox = bench.sandboxes.open(order(bench))
    await sandbox.setup()
    process = bench.sandboxes._host.supervisor._process
    process.kill()
    process.wait()
    assert (await sandbox.execute(["true"])).success


@pytest.mark.fault("G13")
async def test_many_short_programs_leave_nothing(bench: Any) -> None:
    sandbox = bench.sandboxes.open(order(bench))
    await sandbox.setup()
    await sandbox.execute(["true"])
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        done = await asyncio.gather(*(sandbox.execute(["true"]) for _ in range(10)))
        assert all(item.success for item in done)
    assert len(os.listdir("/proc/self/fd")) == before
    supervisor = bench.sandboxes._host.supervisor._process.pid
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children")
    for _ in range(200):
        # The guard that is kept ready for the next program may be on its way.
        if len(children.read_text().split()) == 1:
            break
        await asyncio.sleep(0.01)
    assert len(children.read_text().split()) == 1


async def test_a_killed_spare_guard_is_replaced(bench: Any) -> None:
    sandbox = bench.sandboxes.open(order(bench))
    await sandbox.setup()
    supervisor = bench.sandboxes._host.supervisor._process.pid
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children")
    for _ in range(3):
        for spare in children.read_text().split():
            os.kill(int(spare), signal.SIGKILL)
        while children.read_text():
            await asyncio.sleep(0.01)
        assert (await sandbox.execute(["echo", "there"])).stdout == b"there\n"


@pytest.mark.fault("G1")
async def test_a_gigabyte_of_output_costs_bounded_memory(bench: Any) -> None:
    sandbox = bench.sandboxes.open(order(bench))
    await sandbox.setup()
    before = resident_bytes()
    peak = 0

    def heard(name: str, chunk: bytes) -> None:
        nonlocal peak
        peak = max(peak, resident_bytes())

    done = await sandbox.execute(["head", "-c", "1000000000", "/dev/zero"], on_output=heard)
    assert done.success and done.truncated and done.stdout_bytes == 1_000_000_000
    assert peak - before < 50_000_000


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.fault("G15")
async def test_a_program_may_close_everything(bench: Any) -> None:
    sandbox = bench.sandboxes.open(order(bench))
    await sandbox.setup()
    script = "exec <&- >&- 2>&-; sleep 0.2; exit 4"
    done = await sandbox.execute(["/bin/sh", "-c", script], stdin=b"x" * 1_000_000)
    assert (done.exit_code, done.stdout) == (4, b"")
    assert (await sandbox.execute(["/bin/sh", "-c", "tty"])).exit_code == 1


async def test_a_listener_that_raises_ends_the_program(bench: Any, marker: str) -> None:
    sandbox = bench.sandboxes.open(order(bench))
    await sandbox.setup()

    def heard(name: str, chunk: bytes) -> None:
        raise ValueError("listener")

    with pytest.raises(ValueError, match="listener"):
        await sandbox.execute(["/bin/sh", "-c", f"echo x; exec sleep {marker}"], on_output=heard)
    assert alive(marker) == []

"""A workspace without room: that step waits, and goes on when there is room again."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bench import ORDER, Bench

from agent_work_orders.tools.workspaces import Workspace
from agent_work_orders.workflow_engine.events import TaskFailed, TaskParked

pytestmark = pytest.mark.fault("A14")
BUILD = "echo run >> /proc/self/cwd/../home/runs; head -c 700000 /dev/urandom > made.bin; echo done"


def agent(line: str) -> dict[str, Any]:
    return {"agent": {"name": "command", "argv": ["sh", "-c", line]}}


@contextlib.contextmanager
def filled(folder: Path, leave_bytes: int) -> Iterator[None]:
    """All but so much of the disk is taken."""
    ballast = folder / "ballast"
    room = os.statvfs(folder)
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, room.f_bavail * room.f_frsize - leave_bytes)
    yield
    ballast.unlink()


@pytest.fixture
def small(folder: Path, source: Path) -> Iterator[Bench]:
    """A bench whose data directory is a disk of its own."""
    if os.geteuid() != 0:
        pytest.skip("needs root to mount: run the suite as root")
    home = folder / "home"
    home.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(home)], check=True)
    made = Bench(folder, source)
    yield made
    made.sandboxes.close()
    subprocess.run(["umount", "-l", str(home)], check=True)


def runs(bench: Bench) -> int:
    return len((bench.repo.parent / "home" / "runs").read_text().splitlines())


async def test_a_commit_waits_for_room_and_the_agent_works_once(small: Bench) -> None:
    await small.do("sandbox.exec", path="first", argv=["true"])
    with filled(small.home, 1_000_000):
        parked = await small.perform("agent.prompt", path="b", prompt="go", order=agent(BUILD))
        assert isinstance(parked, TaskParked), parked
        assert parked.reason == "disk_full"
        left = os.statvfs(small.home)
        assert left.f_bavail * left.f_frsize > 200_000, "what the commit had begun is gone"
    done = await small.do("agent.prompt", path="b", attempt=2, prompt="go", order=agent(BUILD))
    assert done["changed"] and "made.bin" in await small.files()
    assert runs(small) == 1


async def test_a_sandbox_waits_for_room(small: Bench) -> None:
    await small.do("sandbox.exec", path="first", argv=["true"])
    await small.workspaces.close(ORDER)
    with filled(small.home, 4096):
        parked = await small.perform("sandbox.exec", path="x", argv=["true"])
        assert isinstance(parked, TaskParked) and parked.reason == "disk_full", parked
    await small.do("sandbox.exec", path="x", attempt=2, argv=["true"])


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
async def test_whatever_the_host_writes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    async def full(*_given: Any, **_named: Any) -> str | None:
        raise OSError(number, os.strerror(number), "/some/file")

    monkeypatch.setattr(Workspace, "commit", full)
    parked = await bench.perform("agent.prompt", path="b", prompt="go", order=agent("echo x > x"))
    assert isinstance(parked, TaskParked) and parked.reason == "disk_full", parked
    monkeypatch.undo()
    await bench.do("agent.prompt", path="b", attempt=2, prompt="go", order=agent("echo x > x"))


async def test_after_a_day_it_is_told_as_a_failure(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_given: Any, **_named: Any) -> str | None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(Workspace, "commit", full)
    failed = await bench.perform(
        "agent.prompt",
        path="b",
        prompt="go",
        order=agent("echo x > x"),
        stalled_since_ms=1,
        stalls=9,
    )
    assert isinstance(failed, TaskFailed), failed
    assert (failed.failure.code, failed.failure.category) == ("disk_full", "environmental")

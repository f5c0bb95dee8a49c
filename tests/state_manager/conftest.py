from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from agent_work_orders.state_manager.sqlite.store import SqliteStore

sys.path.append(str(Path(__file__).parent))


class FixedClock:
    """Moves only when told."""

    def __init__(self) -> None:
        self.at_ms = 1_800_000_000_000

    def now_ms(self) -> int:
        return self.at_ms

    def monotonic_s(self) -> float:
        return self.at_ms / 1000


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
async def store(tmp_path: Path, clock: FixedClock) -> AsyncIterator[SqliteStore]:
    opened = SqliteStore.open(tmp_path / "home", clock)
    yield opened
    await opened.close()


@pytest.fixture
def strace() -> str:
    found = shutil.which("strace")
    if found is None:
        pytest.skip("needs strace: apt-get install strace")
    return found


@pytest.fixture
def volume(tmp_path: Path) -> Iterator[Path]:
    """A small file system of its own."""
    if os.geteuid() != 0:
        pytest.skip("needs root to mount: run the suite as root")
    place = tmp_path / "volume"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", place], check=True)
    yield place
    subprocess.run(["umount", "-l", place], check=True)

"""A clock that moves only when told, and a store by it."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from fake_time import FakeTime

from agent_work_orders.state_manager.sqlite.store import SqliteStore


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


@pytest.fixture
async def store(tmp_path: Path, time: FakeTime) -> AsyncIterator[SqliteStore]:
    opened = SqliteStore.open(tmp_path / "home", time, synchronous="NORMAL")
    yield opened
    await opened.close()

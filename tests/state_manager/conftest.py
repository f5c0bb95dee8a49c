from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_work_orders.state_manager.sqlite.store import SqliteStore


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

"""An embedded engine that is running."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from embedded_rig import EmbeddedRig


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[EmbeddedRig]:
    made = EmbeddedRig(tmp_path / "home")
    await made.start()
    yield made
    await made.engine.stop(drain_s=0)
    await made.store.close()

"""The modules beside these tests (the child, its points, the driver) are imported by name."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))


@pytest.fixture
def room() -> Iterator[Path]:
    """A folder that agents, who are another user, can enter; pytest's own are closed to them."""
    folder = Path(tempfile.mkdtemp(prefix="awo-crash-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)

"""A running house below a folder that agents may enter."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from site_bench import Site


@pytest.fixture
def folder() -> Iterator[Path]:
    """Like tmp_path, but with parents that another user may pass through."""
    made = Path(tempfile.mkdtemp(prefix="awo-test-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture
async def site(folder: Path) -> AsyncIterator[Site]:
    async with Site(folder).opened() as opened:
        yield opened

"""A bench with all tools, below a folder that agents may enter."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from bench import Bench, git


@pytest.fixture
def folder() -> Iterator[Path]:
    """Like tmp_path, but with parents that another user may pass through."""
    made = Path(tempfile.mkdtemp(prefix="awo-test-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def source(folder: Path) -> Path:
    """The repository that orders work on."""
    made = folder / "source"
    made.mkdir()
    git(made, "init", "--quiet", "-b", "main")
    (made / "README.md").write_text("hello\n")
    git(made, "add", ".")
    git(made, "commit", "--quiet", "-m", "Begin")
    return made


@pytest.fixture
def bench(folder: Path, source: Path) -> Iterator[Bench]:
    made = Bench(folder, source)
    yield made
    made.sandboxes.close()

"""Directories for one measurement each, on the disk the repository is on."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.result import SCRATCH


@contextlib.contextmanager
def place(name: str) -> Iterator[Path]:
    """An empty directory, gone at the end. Not in /tmp, which may be memory and sync for free."""
    parent = SCRATCH / "homes"
    parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=parent))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)

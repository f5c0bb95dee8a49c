from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.extend([str(HERE), str(HERE.parents[1])])

from town import Town  # noqa: E402 - the path is made just before


@pytest.fixture(scope="session")
def founded(tmp_path_factory: pytest.TempPathFactory) -> Town:
    return Town(tmp_path_factory.mktemp("town") / "git")


@pytest.fixture
def town(founded: Town, tmp_path: Path) -> Town:
    return founded.moved(tmp_path / "git")

"""In CI nothing is skipped in silence."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = """
import pytest


@pytest.fixture
def tool():
    pytest.skip("needs a tool: apt-get install tool")


@pytest.mark.skipif(True, reason="needs root: run as root")
def test_marked():
    raise AssertionError


def test_by_fixture(tool):
    raise AssertionError


@pytest.mark.xfail(reason="known")
def test_expected():
    raise AssertionError
"""


@pytest.mark.parametrize(("ci", "code"), [("true", 1), ("", 0)])
def test_a_skipped_test_fails_in_ci_and_says_what_is_missing(
    tmp_path: Path, ci: str, code: int
) -> None:
    shutil.copy(Path(__file__).parents[1] / "conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(SUITE)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--rootdir", ".", "-c", os.devnull, "."],
        cwd=tmp_path,
        env={**os.environ, "CI": ci, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert ("1 xfailed, 2 errors" in done.stdout) is bool(ci)
    assert ("CI: Skipped: needs a tool: apt-get install tool" in done.stdout) is bool(ci)
    assert ("CI: Skipped: needs root: run as root" in done.stdout) is bool(ci)

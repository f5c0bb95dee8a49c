"""The simulator in a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

pytestmark = pytest.mark.slow

MODULE = "github_simulator"


def test_it_says_its_cast_and_ends_by_a_signal(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", MODULE, "--folder", str(tmp_path / "github")],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
    )
    try:
        assert process.stdout is not None
        cast = json.loads(process.stdout.readline())
        answer = httpx.get(
            f"{cast['url']}/repos/{cast['repository']}",
            headers={"authorization": f"Bearer {cast['reader_token']}"},
            trust_env=False,
            timeout=30,
        )
        assert answer.json()["permissions"]["push"] is False
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 0


def test_a_used_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    done = subprocess.run(
        [sys.executable, "-m", MODULE, "--folder", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 1
    assert "folder_not_empty" in done.stderr

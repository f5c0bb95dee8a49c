"""Asking who owns a data directory is in nobody's way."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent_work_orders.errors import Conflict
from agent_work_orders.state_manager.lock import OwnerLock, read_owner

READER = """
import sys
from pathlib import Path
from agent_work_orders.state_manager.lock import read_owner
while True:
    read_owner(Path(sys.argv[1]))
"""


def test_a_directory_can_be_taken_while_others_ask_for_its_owner(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    reader = subprocess.Popen([sys.executable, "-c", READER, str(tmp_path)], env=environment)
    try:
        for _ in range(1000):
            OwnerLock.acquire(tmp_path, started_at_ms=0).release()
            time.sleep(0.001)
    finally:
        reader.kill()
        reader.wait()


def test_a_holder_is_named_and_kept(tmp_path: Path) -> None:
    held = OwnerLock.acquire(tmp_path, started_at_ms=0, url="http://here")
    with pytest.raises(Conflict) as refused:
        OwnerLock.acquire(tmp_path, started_at_ms=0)
    assert refused.value.code == "data_directory_in_use"
    assert "http://here" in refused.value.message
    assert read_owner(tmp_path) == held.owner
    held.release()
    assert read_owner(tmp_path) is None

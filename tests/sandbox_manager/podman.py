"""A real engine for tests: Podman's service on a socket of its own, with storage of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ARCHIVE = "container-bookworm-1.tar"
"""As scripts/container_engine makes it."""
START_TIMEOUT_S = 60
# Where root lacks CAP_SYS_RESOURCE the usual limits of Podman's are too many; a machine without
# systemd has neither its groups nor its journal.
CONFIGURATION = """
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=4096:4096"]
log_driver = "k8s-file"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
lock_type = "file"
"""


def archive() -> Path:
    """Of the root file system. Skipped (in CI: failed) where something is missing."""
    missing = [name for name in ("podman", "runc") if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        pytest.skip("needs Podman and root: apt-get install podman runc mmdebstrap, as root")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    found = cache / "agent-work-orders" / ARCHIVE
    if not found.is_file():
        pytest.skip("needs a root file system: scripts/container_engine")
    return found


@contextlib.contextmanager
def service(folder: Path) -> Iterator[str]:
    """Its socket; ended with what it has made."""
    (folder / "containers.conf").write_text(CONFIGURATION)
    path = str(folder / "engine.sock")
    command = ["podman", "--runtime", "runc"]
    for name in ("root", "runroot", "tmpdir"):
        command += [f"--{name}", str(folder / name)]
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "CONTAINERS_CONF": str(folder / "containers.conf"),
    }
    with (folder / "log").open("wb") as log:
        running = subprocess.Popen(
            [*command, "system", "service", "--time", "0", f"unix://{path}"],
            env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            _await(path, running, folder / "log")
            yield path
        finally:
            # It keeps nothing in memory that it would have to write.
            running.kill()
            running.wait()
            subprocess.run(
                [*command, "rm", "--all", "--force", "--time", "0"],
                env=env, stdout=log, stderr=log, timeout=120, check=False,
            )  # fmt: skip


def _await(path: str, running: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < until and running.poll() is None:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as asking:
            asking.connect(path)
            return
        time.sleep(0.05)
    raise AssertionError(f"Podman did not start: {log.read_text()}")

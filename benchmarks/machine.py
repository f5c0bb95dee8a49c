"""The facts of the machine a result depends on."""

from __future__ import annotations

import os
import platform
import sqlite3
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.result import ROOT, SCRATCH

FSYNC_ROUNDS = 200
"""Enough for a stable p99 in well under a second on a solid-state disk."""


def facts() -> dict[str, str | float]:
    p50_ms, p99_ms = fsync_ms()
    return {
        "cores": len(os.sched_getaffinity(0)),
        "cpu": _cpu(),
        "memory_gb": round(_pages("SC_PHYS_PAGES") / 1024**3, 1),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "git": _out(["git", "--version"]).removeprefix("git version "),
        "fsync_p50_ms": p50_ms,
        "fsync_p99_ms": p99_ms,
        "load_1m_at_start": round(os.getloadavg()[0], 2),
    }


def commit() -> str:
    """The commit measured, with a plus sign when files differ from it."""
    head = _out(["git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"]) or "none"
    changed = _out(["git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=no"])
    return head + ("+" if changed else "")


def fsync_ms() -> tuple[float, float]:
    """p50 and p99 of appending 4 kB and syncing it, where the subjects keep their files."""
    SCRATCH.mkdir(exist_ok=True)
    took: list[float] = []
    with tempfile.TemporaryFile(dir=SCRATCH) as file:
        for _ in range(FSYNC_ROUNDS):
            begin = time.perf_counter()
            os.write(file.fileno(), b"\0" * 4096)
            os.fdatasync(file.fileno())
            took.append((time.perf_counter() - begin) * 1000)
    return round(statistics.median(took), 3), round(statistics.quantiles(took, n=100)[98], 3)


def _pages(name: str) -> int:
    return os.sysconf(name) * os.sysconf("SC_PAGE_SIZE")


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _out(argv: list[str]) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=30)
    return done.stdout.strip()

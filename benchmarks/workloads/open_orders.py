"""1,000 orders open at once, 100 of them running: memory, and how long a free slot stays empty.

Measured on the engine and its journal in a process of their own (`held_orders.py`). The tools nap
instead of starting agents: what agents and git weigh is not the product's, and their start is
measured by `worktree_start`.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from benchmarks import scratch
from benchmarks.processes import Program, Scale, running
from benchmarks.result import ROOT, Failure, Measurement, Result

ORDERS, RUNNING, NAP_S = 1000, 100, 1.0
QUICK_ORDERS, QUICK_RUNNING = 100, 10


class Broke(Exception):
    """The process ended without a word."""


def run(quick: bool) -> Result:
    orders, at_once = (QUICK_ORDERS, QUICK_RUNNING) if quick else (ORDERS, RUNNING)
    with scratch.place("open_orders") as home:
        (home / "witness").touch()
        try:
            with (
                start(home, orders, at_once, ["--nap", str(NAP_S)]) as program,
                Scale(program) as scale,
            ):
                found = listen(program, home, "result")["result"]
        except Broke as reason:
            return Result(failures=[Failure(subject="awo", role="ours", error=str(reason))])
    values = {
        "rss_peak_mb": max(scale.peak_bytes.values()) / 1e6,
        "slot_wait_max_s": found["slot_wait_max_s"],
        "ended": found["ended"],
    }
    return Result(
        measurements=[
            Measurement(subject="awo", role="ours", metric=metric, value=value, size=orders)
            for metric, value in values.items()
        ],
        facts={"tools": f"{RUNNING} at once that nap {NAP_S:g} s; no sandboxes, no HTTP"},
    )


def start(home: Path, orders: int, at_once: int, more: list[str]) -> Any:
    asked = ["--home", str(home), "--witness", str(home / "witness")]
    sizes = ["--orders", str(orders), "--running", str(at_once)]
    return running(
        [sys.executable, "-m", "benchmarks.held_orders", *asked, *sizes, *more],
        cwd=home,
        log=home / "held.log",
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
    )


def listen(program: Program, home: Path, wanted: str) -> dict[str, Any]:
    """Its next line that has this key or is this phase."""
    assert program.popen.stdout is not None
    for line in program.popen.stdout:
        said: dict[str, Any] = json.loads(line)
        if wanted in said or said.get("phase") == wanted:
            return said
    words = (home / "held.log").read_text(errors="replace").strip().splitlines()
    raise Broke(words[-1] if words else "ended without a word")

"""A plan-build-test order with an agent that answers at once, against a bare script.

The script makes the git and process calls such an order needs, one after the other, with no
journal, no supervision and no clean-up: what is left of our time beyond it is our overhead.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from benchmarks import sample_repository, scratch
from benchmarks.result import Result
from benchmarks.rounds import Contender, race
from benchmarks.sample_repository import git

ROUNDS = 10


def run(quick: bool) -> Result:
    with scratch.place("work_order_overhead") as place:
        origin = sample_repository.make(place)
        return race("order_ms", contenders(origin, place), 2 if quick else ROUNDS)


def contenders(origin: Path, place: Path) -> list[Contender]:
    mirror = sample_repository.mirror(origin, place)
    return [
        Contender(
            "bare_script", "baseline", lambda number: bare_script(origin, mirror, place, number)
        )
    ]


def bare_script(origin: Path, mirror: Path, place: Path, number: int) -> None:
    workspace, branch = place / f"script-{number}", f"order-{number}"
    git(mirror, "fetch", "--quiet", "origin")
    base = git(mirror, "rev-parse", "refs/heads/main").strip()
    git(place, "clone", "--quiet", "--shared", "--branch", "main", str(mirror), str(workspace))
    git(workspace, "switch", "--quiet", "--create", branch)
    for phase, file in (("planning", "plan.md"), ("implementing", "built.txt")):
        agent(workspace, file)
        git(workspace, "status", "--porcelain")
        git(workspace, "add", "--all")
        git(workspace, "commit", "--quiet", "--message", phase, "--trailer", f"Phase: {phase}")
        git(mirror, "fetch", "--quiet", str(workspace), f"{branch}:refs/orders/{branch}")
    subprocess.run(["./check.sh"], cwd=workspace, check=True, capture_output=True, timeout=60)
    git(mirror, "diff", "--stat", base, f"refs/orders/{branch}")
    git(mirror, "push", "--quiet", str(origin), f"refs/orders/{branch}:refs/heads/{branch}")


def agent(workspace: Path, file: str) -> None:
    """An agent that answers at once: one process that writes one file."""
    subprocess.run(
        ["sh", "-c", 'cat > "$0"', file],
        cwd=workspace,
        input=b"done\n",
        check=True,
        capture_output=True,
        timeout=60,
    )

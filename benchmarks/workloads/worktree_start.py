"""From nothing to the first command in a workspace that borrows the mirror's objects.

The baseline is what anybody would write: `git clone --shared`, then spawn the command.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from benchmarks import sample_repository, scratch
from benchmarks.result import Result
from benchmarks.rounds import Contender, race

ROUNDS = 20


def run(quick: bool) -> Result:
    with scratch.place("worktree_start") as place:
        mirror = sample_repository.mirror(sample_repository.make(place), place)
        return race("first_command_ms", contenders(mirror, place), 3 if quick else ROUNDS)


def contenders(mirror: Path, place: Path) -> list[Contender]:
    def clone_shared(number: int) -> None:
        workspace = place / f"clone-{number}"
        sample_repository.git(
            place, "clone", "--quiet", "--shared", "--branch", "main", str(mirror), str(workspace)
        )
        subprocess.run(["true"], cwd=workspace, check=True, timeout=60)

    return [Contender("clone_shared", "baseline", clone_shared)]

"""From nothing to the first command in a workspace that borrows the mirror's objects.

The baseline is what anybody would write: `git clone --shared`, then spawn the command. Ours is
what an order does: `setup` and `execute` of a git_worktree sandbox, in a server that is running.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from benchmarks import in_process, sample_repository, scratch
from benchmarks.result import Result
from benchmarks.rounds import Contender, race

ROUNDS = 20


def run(quick: bool) -> Result:
    with scratch.place("worktree_start") as place:
        # Agents run as another user, who has to be able to pass.
        place.chmod(0o711)
        origin = sample_repository.make(place)
        with in_process.starter(place / "home", origin) as starter:
            contenders = [
                Contender("clone_shared", "baseline", clone_shared(origin, place)),
                Contender("awo", "ours", starter.first_command),
            ]
            return race("first_command_ms", contenders, 3 if quick else ROUNDS)


def clone_shared(origin: Path, place: Path) -> Callable[[int], None]:
    mirror = sample_repository.mirror(origin, place)

    def act(number: int) -> None:
        workspace = place / f"clone-{number}"
        sample_repository.git(
            place, "clone", "--quiet", "--shared", "--branch", "main", str(mirror), str(workspace)
        )
        subprocess.run(["true"], cwd=workspace, check=True, timeout=60)

    return act

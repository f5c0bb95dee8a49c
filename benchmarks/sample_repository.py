"""A repository to work on: some hundred files in some directories, one test, one commit."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from benchmarks.rounds import Unable

FILES = 400
"""A middling service: large enough that a checkout is felt, small enough to be made quickly."""

ENV = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "bench",
    "GIT_AUTHOR_EMAIL": "bench@localhost",
    "GIT_COMMITTER_NAME": "bench",
    "GIT_COMMITTER_EMAIL": "bench@localhost",
}


def git(place: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(place), *arguments],
        env=ENV,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if done.returncode:
        raise Unable(f"git {arguments[0]}: {done.stderr.strip()[-300:]}")
    return done.stdout


def make(place: Path) -> Path:
    origin = place / "origin"
    origin.mkdir()
    git(origin, "init", "--quiet", "--initial-branch=main")
    for number in range(FILES):
        file = origin / f"package_{number % 20}" / f"module_{number}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"VALUE = {number}\n" * 40)
    (origin / "check.sh").write_text("#!/bin/sh\ntest -f build.txt\n")
    (origin / "check.sh").chmod(0o755)
    git(origin, "add", "--all")
    git(origin, "commit", "--quiet", "--message", "First")
    return origin


def mirror(origin: Path, place: Path) -> Path:
    """The bare copy a server keeps of each repository."""
    target = place / "mirror.git"
    git(place, "clone", "--quiet", "--mirror", str(origin), str(target))
    return target

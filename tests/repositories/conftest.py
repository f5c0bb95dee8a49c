"""A real origin and a shelf of mirrors."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_work_orders.repositories.git import Git
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.repositories.url import RepositoryUrl, parse


def run_git(folder: Path, *arguments: str) -> str:
    env = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ann",
        "GIT_AUTHOR_EMAIL": "ann@example.invalid",
        "GIT_COMMITTER_NAME": "Ann",
        "GIT_COMMITTER_EMAIL": "ann@example.invalid",
    }
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=env, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def in_git() -> Callable[..., str]:
    return run_git


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A repository with one commit on `main`."""
    folder = tmp_path / "source"
    folder.mkdir()
    run_git(folder, "init", "--quiet", "-b", "main")
    (folder / "file").write_text("one\ntwo\nthree\n")
    run_git(folder, "add", ".")
    run_git(folder, "commit", "--quiet", "-m", "Begin")
    return folder


@pytest.fixture
def origin(source: Path) -> RepositoryUrl:
    return parse(str(source))


@pytest.fixture
def mirrors(tmp_path: Path) -> Mirrors:
    return Mirrors(tmp_path / "mirrors", Git())


@pytest.fixture
def commit_to(source: Path) -> Callable[..., str]:
    """Commit a file to a branch of the origin; the commit's id."""

    def commit(name: str, text: str, branch: str = "main") -> str:
        run_git(source, "checkout", "--quiet", "-B", branch)
        (source / name).write_text(text)
        run_git(source, "add", "--", name)
        run_git(source, "commit", "--quiet", "-m", f"Change {name}")
        return run_git(source, "rev-parse", "HEAD")

    return commit

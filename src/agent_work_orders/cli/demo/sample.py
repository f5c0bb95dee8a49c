"""Makes the sample repository, and looks at it afterwards with git alone."""

from __future__ import annotations

import os
import subprocess
from importlib import resources
from pathlib import Path

import msgspec

from agent_work_orders.cli.outcome import FAILED, Told
from agent_work_orders.workflow_engine import yaml_source


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    repository: Path
    issue: str
    script: Path


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A branch as git shows it."""

    commits: tuple[str, ...]
    tasks: tuple[str, ...]


def material(name: str) -> str:
    return (resources.files(__package__) / name).read_text("utf-8")


def make(folder: Path) -> Sample:
    repository = folder / "sample"
    repository.mkdir()
    for path, content in yaml_source.load(material("sample.yaml"), "sample.yaml").items():
        file = repository / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(content, "utf-8")
    script = folder / "script.yaml"
    script.write_text(material("script.yaml"), "utf-8")
    git(repository, "init", "-q", "-b", "main")
    git(repository, "add", "--all")
    git(repository, "commit", "-q", "-m", "A basket with a failing test")
    return Sample(repository=repository, issue=material("issue.md"), script=script)


def look(repository: Path, branch: str) -> Seen:
    """The commits of a branch beyond main, oldest first, with the tasks that made them."""
    shown = git(
        repository,
        "log",
        "--reverse",
        "--format=%h %s%x00%(trailers:key=Awo-Task,valueonly,separator=%x2C)",
        f"main..{branch}",
    )
    rows = [line.split("\0") for line in shown.splitlines()]
    return Seen(commits=tuple(row[0] for row in rows), tasks=tuple(row[1] for row in rows))


def sound(repository: Path) -> None:
    """Refuses a repository that git itself finds broken or whose own work was touched."""
    git(repository, "fsck", "--strict", "--no-dangling")
    if git(repository, "status", "--porcelain").strip():
        raise Told(
            "demo_not_verified", "The sample repository's own files were changed", exit_code=FAILED
        )


def git(repository: Path, *args: str) -> str:
    """Without the person's own configuration, so that it works the same everywhere."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(repository.parent),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "Demo",
        "GIT_AUTHOR_EMAIL": "demo@example.invalid",
        "GIT_COMMITTER_NAME": "Demo",
        "GIT_COMMITTER_EMAIL": "demo@example.invalid",
        "LC_ALL": "C",
    }
    try:
        done = subprocess.run(
            ["git", "-C", str(repository), *args],
            capture_output=True,
            env=environment,
            timeout=60,
            check=True,
        )
    except FileNotFoundError:
        raise Told(
            "git_missing", "git is not installed", hint="Install git", exit_code=FAILED
        ) from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip()
        raise Told("demo_git_failed", f"git {args[0]} failed: {said}", exit_code=FAILED) from None
    return done.stdout.decode("utf-8", "replace")

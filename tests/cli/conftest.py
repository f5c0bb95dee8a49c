"""The real command as a subprocess, a sample repository, and room that agents may enter."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from agent_work_orders.cli.main import app
from agent_work_orders.sandbox_manager.local.processes import home_tag, tagged

ENTRY = "from agent_work_orders.cli.main import main; main()"


class Done(NamedTuple):
    code: int
    out: str
    err: str
    peak_kib: int

    @property
    def json(self) -> Any:
        """All of stdout is one document."""
        return json.loads(self.out)


class Awo:
    """`awo` with a folder and a data directory of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"

    def start(
        self, *args: str, out: Any = subprocess.PIPE, err: Any = subprocess.PIPE, **env: str
    ) -> subprocess.Popen[str]:
        plain = {name: value for name, value in os.environ.items() if name != "ANTHROPIC_API_KEY"}
        own = {
            "AWO_HOME": str(self.home),
            "COLUMNS": "100",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        return subprocess.Popen(
            [sys.executable, "-c", ENTRY, *args],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            text=True,
            env=plain | own | env,
            cwd=self.folder,
        )

    def __call__(self, *args: str, **env: str) -> Done:
        """Run to the end, with the largest memory that exactly this process had."""
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            process = self.start(*args, out=out, err=err, **env)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            return Done(process.returncode, out.read(), err.read(), usage.ru_maxrss)

    def inside(self, *args: str, **env: str) -> Done:
        """The same in this process: for the many cases where starting Python is most of it."""
        with contextlib.chdir(self.folder):
            environment = {"AWO_HOME": str(self.home), "AWO_URL": None, **env}
            done = CliRunner().invoke(app, args, env=environment)
        return Done(done.exit_code, done.stdout, done.stderr, 0)

    def agent(self, script: str, name: str = "agent") -> str:
        """A shell script as agent; its path."""
        file = self.folder / f"{name}.sh"
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        return str(file)

    def repository(self, name: str = "repo") -> Path:
        repository = self.folder / name
        repository.mkdir()
        self.git(repository, "init", "-q", "-b", "main")
        (repository / "calc.py").write_text("def add(a, b):\n    return a - b\n")
        self.git(repository, "add", ".")
        self.git(repository, "commit", "-q", "-m", "Start")
        return repository

    @staticmethod
    def git(repository: Path, *args: str) -> str:
        who = ("-c", "user.name=T", "-c", "user.email=t@example.invalid", "-c", "safe.directory=*")
        done = subprocess.run(
            ["git", "-C", str(repository), *who, *args], capture_output=True, text=True, check=True
        )
        return done.stdout

    def left_behind(self) -> list[int]:
        """Living processes that carry the tag of the data directory."""
        return tagged(home_tag(self.home))


@pytest.fixture
def another() -> Iterator[Callable[[], Awo]]:
    """Makes folders for commands. Not tmp_path: its parents are closed to the agents' user."""
    made: list[Path] = []

    def make() -> Awo:
        folder = Path(tempfile.mkdtemp(prefix="awo-cli-"))
        folder.chmod(0o755)
        made.append(folder)
        return Awo(folder)

    yield make
    for folder in made:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def awo(another: Callable[[], Awo]) -> Awo:
    return another()

"""Packages that nobody here wrote, through `tests.run`: each verdict is the one found by hand.

By hand means: fetched, unpacked, made a repository, and its tests run with the same programs. Most
of them need packages that are not installed here; that is said by name and is no failing test.
The packages are fetched by pip and npm when the test runs, at pinned versions.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cheating_play import ENTRY, git, with_pytest

WORKFLOW = "name: only-tests\ntasks:\n  base: {uses: tests.run, with: {at: base}}\n"


class Package(NamedTuple):
    source: str
    name: str
    verdict: str
    """`passed`, `failed`, `unverified`, or what is missing."""
    at_least: int = 0
    """Tests that ran."""


PACKAGES = [
    Package("pip", "toolz==0.12.1", "passed", 150),
    Package("pip", "inflection==0.5.1", "passed", 400),
    Package("pip", "idna==3.7", "passed", 32),
    Package("pip", "colorama==0.4.6", "passed", 38),
    Package("pip", "humanize==4.9.0", "the Python module humanize"),
    Package("pip", "docopt==0.6.2", "unverified"),
    Package("npm", "inherits@2.0.1", "unverified"),
    Package("npm", "concat-map@0.0.1", "the program tape"),
    Package("npm", "caseless@0.12.0", "the npm package tape"),
    Package("npm", "mime@1.6.0", "unverified"),
]


def fetch(package: Package, folder: Path) -> Path:
    """The package's sources as a repository."""
    if package.source == "pip":
        name = package.name.split("==")[0]
        options = ["--quiet", "--no-deps", "--no-binary", name, "--dest", str(folder)]
        command = [sys.executable, "-m", "pip", "download", *options, package.name]
    else:
        command = ["npm", "pack", "--silent", "--pack-destination", str(folder), package.name]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    [archive] = [path for path in folder.iterdir() if path.name.endswith((".tar.gz", ".tgz"))]
    unpacked = folder / "unpacked"
    with tarfile.open(archive) as tar:
        tar.extractall(unpacked, filter="data")
    [repository] = unpacked.iterdir()
    git(repository, "init", "-q", "-b", "main")
    git(repository, "add", "-f", ".")
    git(repository, "commit", "-q", "-m", "Start")
    return repository


def run_tests(repository: Path, folder: Path) -> dict[str, Any]:
    """The task as `awo show` has it."""
    workflow = folder / "only-tests.yaml"
    workflow.write_text(WORKFLOW)
    env = {
        **os.environ,
        "AWO_HOME": str(folder / "home"),
        "PATH": with_pytest(folder),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }

    def awo(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", ENTRY, *arguments]
        return subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True)

    script = folder / "script.yaml"
    script.write_text("default: [{text: nothing}]\n")
    asked = ["--agent", "scripted", "--agent-script", str(script), "--workflow", str(workflow)]
    done = awo("run", "--repo", str(repository), *asked, "Test it")
    orders = json.loads(awo("list", "--json").stdout)["agent_work_orders"]
    assert len(orders) == 1, done.stdout + done.stderr
    [order] = orders
    shown = awo("show", "--json", order["agent_work_order_id"])
    [task] = json.loads(shown.stdout)["tasks"]
    assert (done.returncode == 0) == (task["state"] == "succeeded"), done.stdout + done.stderr
    return dict(task)


@pytest.mark.slow
@pytest.mark.fault("N3")
@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_the_verdict_is_the_one_by_hand(package: Package, room: Path) -> None:
    repository = fetch(package, room)
    task = run_tests(repository, room)
    told = json.dumps({"outputs": task["outputs"], "failure": task["failure"]}, indent=1)
    if package.verdict.startswith("the "):
        assert task["failure"] is not None, told
        assert task["failure"]["code"] == "tests_cannot_run", told
        assert task["failure"]["category"] == "environmental"
        assert package.verdict in task["failure"]["message"], told
    else:
        assert task["failure"] is None, told
        outputs = task["outputs"]
        assert outputs["verdict"] == package.verdict, told
        assert outputs["total"] - outputs["skipped"] >= package.at_least, told
        assert outputs["passed"] is (package.verdict == "passed")

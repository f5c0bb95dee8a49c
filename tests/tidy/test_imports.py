"""The contracts in pyproject.toml hold: imports point down the house, one door per vendor."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib

import source_scan

ROOT = source_scan.ROOT


def lint() -> subprocess.CompletedProcess[str]:
    run = "from importlinter.cli import lint_imports_command as run; run()"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(
        [sys.executable, "-c", run, "--no-cache"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )


def test_the_contracts_are_kept() -> None:
    result = lint()
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_room_has_its_floor() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    house = contracts["tool"]["importlinter"]["contracts"][0]
    assert house["exhaustive"] is True
    floors = {
        room.strip(" ()")
        for layer in house["layers"]
        for room in layer.replace(":", "|").split("|")
    }
    rooms = {path.stem for path in source_scan.SOURCE.iterdir() if not path.name.startswith("__")}
    assert {room for room in rooms - floors if room != "py"} == set()


# Distributions whose import name is not their own.
OTHER_NAMES = {"pyyaml": "yaml"}
# What only some extra or the tests bring, and who may ask for it.
OPTIONAL = {
    "temporalio": "engines/temporal",
    "pytest": "testing",
    "claude_agent_sdk": "agent_executor",
}


def test_every_library_is_declared() -> None:
    """A package that lies about in somebody's environment is not there on a new machine."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [re.split(r"[<>=\[]", text)[0].strip().lower() for text in project["dependencies"]]
    declared = {OTHER_NAMES.get(name, name).replace("-", "_") for name in names}
    # What FastAPI is made of.
    declared |= {"starlette", "agent_work_orders", "github_simulator"}
    foreign = {}
    for module in source_scan.modules():
        where = module.where.removeprefix("src/agent_work_orders/")
        for node in ast.walk(module.tree):
            for name in imported(node):
                known = name in declared or name in sys.stdlib_module_names
                if not known and not where.startswith(OPTIONAL.get(name, "\0")):
                    foreign[where] = name
    assert foreign == {}


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.split(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module.split(".")[0]]
    return []

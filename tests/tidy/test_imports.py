"""The contracts in pyproject.toml hold: imports point down the house, one door per vendor."""

from __future__ import annotations

import os
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

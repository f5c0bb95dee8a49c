"""What stands outside of the package asks it only for what there is: no type checker sees it."""

from __future__ import annotations

import ast
import importlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("agent_work_orders", "github_simulator")


def programs() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "benchmarks", "scripts", "web"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    return [path for name in listed if is_python(path := ROOT / name)]


def is_python(path: Path) -> bool:
    if path.suffix:
        return path.suffix == ".py"
    return path.read_text("utf-8").startswith("#!/usr/bin/env python")


def wanted(path: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
            yield from ((str(node.module), alias.name) for alias in node.names)


def test_there_are_some() -> None:
    assert any(list(wanted(path)) for path in programs())


@pytest.mark.parametrize("path", programs(), ids=lambda path: str(path.relative_to(ROOT)))
def test_what_it_asks_for_is_there(path: Path) -> None:
    missing = []
    for module, name in wanted(path):
        try:
            found = hasattr(importlib.import_module(module), name)
            found = found or bool(importlib.import_module(f"{module}.{name}"))
        except ModuleNotFoundError:
            found = False
        missing += [] if found else [f"{module}.{name}"]
    assert missing == []

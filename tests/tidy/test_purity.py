"""A module that calls itself pure has no door to the world: no I/O, no clock, no chance."""

from __future__ import annotations

import ast
import re

import pytest
import source_scan

DOORS = frozenset(
    "asyncio concurrent fcntl glob http httpx io logging multiprocessing os pwd random resource "
    "secrets select shutil signal socket sqlite3 ssl structlog subprocess sys tempfile threading "
    "time urllib.request uuid".split()
)
# Of modules that have both: names that only compute.
COMPUTING = {
    "pathlib": {"PurePath", "PurePosixPath"},
    "agent_work_orders.clock": {"iso"},
}
PURE = [
    module
    for module in source_scan.modules()
    if re.search(r"\bPure[.:]", ast.get_docstring(module.tree) or "")
]


def doors(tree: ast.Module) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            given = {alias.name for alias in node.names}
            names = [] if given <= COMPUTING.get(node.module, set()) else [node.module]
        else:
            continue
        found += [
            name
            for name in names
            if name in DOORS or name.split(".")[0] in DOORS or name in COMPUTING
        ]
    return found


def test_there_are_pure_modules() -> None:
    assert len(PURE) > 40
    assert doors(ast.parse("import os.path\nfrom time import time")) == ["os.path", "time"]


@pytest.mark.parametrize("module", PURE, ids=lambda module: module.where)
def test_it_has_no_door(module: source_scan.Module) -> None:
    assert doors(module.tree) == []

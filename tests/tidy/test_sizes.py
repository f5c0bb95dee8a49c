"""Small modules, small functions, telling names."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import source_scan

MODULE_LINES = 400
FUNCTION_LINES = 70
FORBIDDEN = {"utils", "util", "helpers", "helper", "common", "misc", "base", "shared", "manager"}

SOURCE = source_scan.modules()


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("module", SOURCE, ids=lambda module: module.where)
def test_a_module_and_its_functions_stay_small(module: source_scan.Module) -> None:
    too_long = [
        f"{node.name}: {size} lines"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (size := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LINES
    ]
    assert lines_of(module.path) <= MODULE_LINES
    assert too_long == []


def test_names_say_what_a_module_is_about() -> None:
    assert [m.where for m in SOURCE if {m.path.stem, m.path.parent.name} & FORBIDDEN] == []


def test_every_package_says_what_it_is() -> None:
    packages = [m for m in SOURCE if m.path.name == "__init__.py"]
    assert packages
    assert [m.where for m in packages if not ast.get_docstring(m.tree)] == []


def test_every_folder_with_modules_is_a_package() -> None:
    folders = {m.path.parent for m in SOURCE}
    assert [str(f) for f in folders if not (f / "__init__.py").is_file()] == []


def test_test_folders_are_not_packages_and_names_are_unique() -> None:
    assert list(source_scan.TESTS.rglob("__init__.py")) == []
    names = [path.name for path in source_scan.TESTS.rglob("test_*.py")]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []

"""What is missing here, told from what is wrong with the code."""

from __future__ import annotations

import pytest

from agent_work_orders.test_pipeline.environment import Known, declares, missing

KNOWN = Known(
    files=["src/basket/__init__.py", "tests/test_a.py"],
    declared="dependencies = ['requests>=2', 'PyYAML', 'typing-extensions']\npytest-mock\n",
)


@pytest.mark.parametrize(
    ("output", "exit_code", "names"),
    [
        ("ModuleNotFoundError: No module named 'requests'", 2, ["requests"]),
        ("ModuleNotFoundError: No module named 'requests.adapters'", 2, ["requests"]),
        ("ModuleNotFoundError: No module named 'yaml'", 1, ["yaml"]),
        ("No module named typing_extensions", 1, ["typing_extensions"]),
        # Its own package, which was not installed.
        ("ModuleNotFoundError: No module named 'basket'", 1, ["basket"]),
        # Still to be written: a failing test.
        ("ModuleNotFoundError: No module named 'brand_new'", 1, []),
        ("pytest: error: unrecognized arguments: --cov=x --cov-report", 4, ["--cov"]),
        ("ERROR: Missing required plugins: pytest-django", 4, ["pytest-django"]),
        ("E       fixture 'mocker' not found", 1, ["pytest-mock"]),
        ("E       fixture 'basket' not found", 1, []),
        ("async def functions are not natively supported.", 1, ["pytest-asyncio"]),
        ("Error: Cannot find module 'tape'", 1, ["tape"]),
        ("Error: Cannot find module '@a/b/c.js'", 1, ["@a/b"]),
        ("Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'chai' imported from x", 1, ["chai"]),
        ("Error: Cannot find module './missing.js'", 1, []),
        ("Error: Cannot find module '/x/y.js'", 1, []),
        ("sh: 1: jest: not found", 127, ["jest"]),
        ("sh: line 1: mocha: command not found", 127, ["mocha"]),
        ("sh: 1: mocha: not found", 1, []),
        ("/bin/sh: 1: tox: not found\nmake: *** [Makefile:2: test] Error 127", 2, ["tox"]),
        ("make: tox: No such file or directory", 2, ["tox"]),
        ("x.go:3:8: no required module provides package a.b/c; to add it:", 1, ["a.b/c"]),
        ("error: no matching package named `serde` found", 101, ["serde"]),
        ("AssertionError: 1 != 2", 1, []),
    ],
)
def test_what_is_missing_is_named(output: str, exit_code: int, names: list[str]) -> None:
    assert [one.name for one in missing(output, exit_code, KNOWN)] == names


def test_a_thing_is_named_once_and_not_too_many() -> None:
    output = "\n".join(f"Cannot find module 'm{n // 2}'" for n in range(100))
    assert len(missing(output, 1, KNOWN)) == 8


def test_where_dependencies_are_declared() -> None:
    wanted = ["pyproject.toml", "dev-requirements.txt", "requirements/test.txt", "tox.ini"]
    assert all(declares(path) for path in wanted)
    assert not declares("docs/notes.txt")

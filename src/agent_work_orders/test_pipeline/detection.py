"""Which tests a repository has, found by its files. Pure: a listing and a few contents come in.

Rules: every kind of test that is there becomes a suite of its own, and each says why it was chosen;
what was seen and is not run stands in `unused`. Python tests that are written for pytest need
pytest: unittest would silently run a part of them, or none.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import msgspec

# Folders of packages and of tools: nothing in them is the repository's own test.
DEPENDENCY_FOLDERS = (
    ".git",
    "node_modules",
    "bower_components",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    "site-packages",
    "__pycache__",
    "vendor",
    "third_party",
)
# In these a manifest is material of tests or an example, not a part of the product.
_MATERIAL = {"test", "tests", "__tests__", "testdata", "fixtures", "fixture", "examples", "example"}
# A repository with more packages than this says how it is tested at its root.
MOST_NESTED = 8
NESTED_DEEP = 3
MANIFESTS = ("package.json", "go.mod", "Cargo.toml")
# What is read, relative to the root; nested manifests are added by `wanted`.
SETTINGS = ("pytest.ini", ".pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini", "Makefile")
# For `grep -lE` over the Python tests: signs of tests that unittest would not run.
PYTEST_STYLE = (
    r"^(async )?def test|^class Test[A-Za-z0-9_]*(\(\)|\(object\))?:"
    r"|^[[:space:]]*(import|from) pytest"
)
# Arguments of one program; with more files than this they are asked for by folder.
MOST_LISTED = 400


class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """One command that runs tests."""

    name: str
    runner: str
    """`pytest`, `unittest`, `npm`, `go`, `cargo`, `make` or `command` (given by a person)."""
    command: tuple[str, ...]
    why: str
    folder: str = "."
    reports: bool = False
    """Whether it is asked for a JUnit report; the tool adds the option."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    suites: tuple[Suite, ...] = ()
    unused: tuple[str, ...] = ()
    """What looks like tests and is not run, in words."""


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    """What detection may know."""

    files: Sequence[str]
    """Paths of all files, relative, without those in dependency folders."""
    contents: Mapping[str, bytes] = {}
    pytest_style: frozenset[str] = frozenset()
    """Python tests that are written for pytest (PYTEST_STYLE)."""
    has_pytest: bool = False
    """Whether `python3` can import it."""


def is_python_test(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def wanted(files: Sequence[str]) -> list[str]:
    """Whose contents detection looks at."""
    manifests = frozenset(_manifests(files))
    return [path for path in files if path in SETTINGS or path in manifests]


def _manifests(files: Sequence[str]) -> list[str]:
    found = []
    for path in files:
        *folders, name = path.split("/")
        if name in MANIFESTS and len(folders) < NESTED_DEEP and not _MATERIAL.intersection(folders):
            found.append(path)
    return sorted(found, key=lambda path: (path.count("/"), path))[: 4 * MOST_NESTED]


def detect(repository: Repository) -> Found:
    suites: list[Suite] = []
    unused: list[str] = []
    for kind, make in (("package.json", _npm), ("go.mod", _go), ("Cargo.toml", _cargo)):
        made = []
        for path in _manifests(repository.files):
            if PurePosixPath(path).name == kind:
                suite = make(path, repository)
                made += [suite] if suite is not None else []
        at_root = [suite for suite in made if suite.folder == "."]
        nested = [suite for suite in made if suite.folder != "."]
        # The root's command is the one for the whole repository.
        suites += at_root or nested[:MOST_NESTED]
        left = nested if at_root else nested[MOST_NESTED:]
        unused += [f"{suite.folder}/{kind} has tests of its own" for suite in left]
    python = _python(repository)
    suites += [python] if python is not None else []
    make_suite = _make(repository)
    if make_suite is not None and not suites:
        suites.append(make_suite)
    elif make_suite is not None:
        unused.append("the Makefile's target `test`")
    return Found(suites=tuple(suites), unused=tuple(unused))


def given(command: Sequence[str]) -> Suite:
    return Suite(
        name="command",
        runner="command",
        command=tuple(command),
        why="the command was given with the order",
    )


# -- JavaScript, Go, Rust


def _npm(path: str, repository: Repository) -> Suite | None:
    script = test_script(repository.contents.get(path, b""))
    if script is None:
        return None
    folder = _folder(path)
    return Suite(
        name=_named("npm", folder),
        runner="npm",
        command=("npm", "test", "--silent"),
        folder=folder,
        why=f"{path} has the script `test`: {script[:200]}",
    )


def test_script(package: bytes) -> str | None:
    """The test command of a package.json; None when there is none, or npm's placeholder."""
    try:
        document = json.loads(package)
    except (ValueError, RecursionError):
        return None
    scripts = document.get("scripts") if isinstance(document, dict) else None
    script = scripts.get("test") if isinstance(scripts, dict) else None
    if not isinstance(script, str) or not script.strip() or "no test specified" in script:
        return None
    return script


def _go(path: str, repository: Repository) -> Suite | None:
    folder = _folder(path)
    inside = "" if folder == "." else f"{folder}/"
    if not any(file.startswith(inside) and file.endswith("_test.go") for file in repository.files):
        return None
    return Suite(
        name=_named("go", folder),
        runner="go",
        command=("go", "test", "-json", "./..."),
        folder=folder,
        why=f"{path} and files `*_test.go`",
    )


def _cargo(path: str, repository: Repository) -> Suite | None:
    folder = _folder(path)
    if folder != "." and "Cargo.toml" in repository.files:
        return None  # a member of the root's workspace, or kept apart from it
    return Suite(
        name=_named("cargo", folder),
        runner="cargo",
        command=("cargo", "test", "--no-fail-fast"),
        folder=folder,
        why=f"{path} makes it a Rust package",
    )


_TARGET = re.compile(rb"^test[ \t]*:(?!=)", re.MULTILINE)


def _make(repository: Repository) -> Suite | None:
    if not _TARGET.search(repository.contents.get("Makefile", b"")):
        return None
    return Suite(
        name="make", runner="make", command=("make", "test"), why="the Makefile has a target `test`"
    )


# -- Python


def _python(repository: Repository) -> Suite | None:
    tests = sorted(path for path in repository.files if is_python_test(path))
    setting = pytest_setting(repository)
    folder = next((top for top in ("tests", "test") if _has_folder(repository, top)), None)
    if not tests and not (setting and folder):
        return None
    styled = sorted(repository.pytest_style)
    if setting or styled or repository.has_pytest or not tests:
        why = (
            f"{setting} configures pytest"
            if setting
            else f"{styled[0]} is written for pytest"
            if styled
            else f"{len(tests)} test files, and pytest is installed"
        )
        return Suite(
            name="python",
            runner="pytest",
            command=("python3", "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            why=why,
            reports=True,
        )
    return Suite(
        name="python",
        runner="unittest",
        command=("python3", "-B", "-m", "unittest", *_reached(tests, repository)),
        why=f"{len(tests)} test files for unittest, and nothing names pytest",
    )


def pytest_setting(repository: Repository) -> str | None:
    """The file that configures pytest for the repository."""
    contents = repository.contents
    for name in ("pytest.ini", ".pytest.ini"):
        if name in contents:
            return name
    if "conftest.py" in repository.files or any(
        path.endswith("/conftest.py") for path in repository.files
    ):
        return "conftest.py"
    if "pytest" in _tool_tables(contents.get("pyproject.toml", b"")):
        return "pyproject.toml"
    for name, section in (("setup.cfg", b"[tool:pytest]"), ("tox.ini", b"[pytest]")):
        if section in contents.get(name, b""):
            return name
    return None


def _tool_tables(content: bytes) -> dict[str, Any]:
    try:
        tables = tomllib.loads(content.decode("utf-8", "replace")).get("tool", {})
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
    return tables if isinstance(tables, dict) else {}


def _reached(tests: list[str], repository: Repository) -> list[str]:
    """Arguments for unittest that reach every test file: its own discovery goes only into
    packages below the folder where it starts, and looks only for `test_*.py`."""
    files = set(repository.files)
    tops = {path.split("/")[0] for path in tests if "/" in path}
    start = next((top for top in ("tests", "test") if tops == {top}), ".")
    if any("/" not in path for path in tests):
        start = "."

    def found(path: str) -> bool:
        parents = [str(parent) for parent in PurePosixPath(path).parents if str(parent) != "."]
        inside = [parent for parent in parents if parent != start]
        named = PurePosixPath(path).name.startswith("test_")
        return named and all(f"{parent}/__init__.py" in files for parent in inside)

    if all(found(path) for path in tests) or len(tests) > MOST_LISTED:
        # A folder that is no package is where its modules are imported from.
        package = start == "." or f"{start}/__init__.py" in files
        return ["discover", "-s", start, *(["-t", "."] if package else [])]
    return tests


def _has_folder(repository: Repository, name: str) -> bool:
    return any(path.startswith(f"{name}/") for path in repository.files)


def _folder(path: str) -> str:
    return str(PurePosixPath(path).parent)


def _named(runner: str, folder: str) -> str:
    return runner if folder == "." else f"{runner} in {folder}"

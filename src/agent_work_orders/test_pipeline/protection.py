"""Which files decide what is tested and how, and what an order did to them. Pure.

An order is judged by the tests as they stood at its base too: these are the files that are put
back for it. The list is wide on purpose. A file too many costs a second run of the tests; one too
few lets an agent choose its own judge.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any, Literal

import msgspec

from agent_work_orders.test_pipeline.detection import DEPENDENCY_FOLDERS, test_script

FOLDERS = {
    "test",
    "tests",
    "__tests__",
    "__snapshots__",
    "__mocks__",
    "__fixtures__",
    "testdata",
    "test_data",
    "spec",
}
# Elsewhere than at the top they may be the product's own.
TOP_FOLDERS = {"testing", "fixtures", "checks", "golden", "e2e"}
# A package's metadata can name plugins that a runner loads.
_METADATA = (".dist-info", ".egg-info")
NAMES = (
    "*_test.*",
    "test_*.*",
    "test-*",
    "*.snap",
    "conftest.py",
    "sitecustomize.py",
    "usercustomize.py",
    "*.pth",
    "*.test.*",
    "*.spec.*",
    "test.*",
    "tests.*",
    "*-test.*",
    "*_tests.*",
    "*test*.sh",
    "check.sh",
    "run[-_]test*",
    "runtests*",
    "go.work",
    # Settings of runners and of what starts them.
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "tox.ini",
    "setup.cfg",
    "pyproject.toml",
    ".coveragerc",
    "noxfile.py",
    "package.json",
    ".npmrc",
    "jest.config.*",
    "jest.setup.*",
    "vitest.config.*",
    "vitest.setup.*",
    "vitest.workspace.*",
    "vite.config.*",
    ".mocharc*",
    "mocha.opts",
    "ava.config.*",
    ".taprc",
    "babel.config.*",
    ".babelrc*",
    "karma.conf.*",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "*.mk",
    "justfile",
    "Justfile",
)
PREFIXES = (".github/workflows/", ".cargo/")
# What package.json says about testing. Its dependencies are the order's own business.
PACKAGE_KEYS = ("scripts", "jest", "mocha", "ava", "tap", "vitest", "nyc", "c8", "babel", "config")
# Tables of pyproject.toml that say nothing about testing.
_PROJECT_TABLES = ("project", "build-system", "dependency-groups")
# Interpreters read their start-up files from the folder where they are started, too.
_NOT_SEARCHED = set(DEPENDENCY_FOLDERS)

What = Literal["added", "changed", "deleted"]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    what: What
    note: str = ""

    def __str__(self) -> str:
        return self.note or f"{self.path} was {self.what}"


def is_protected(path: str) -> bool:
    parts = path.split("/")
    if _NOT_SEARCHED.intersection(parts):
        return False
    # With its own name: a link can stand in the place of a folder.
    if FOLDERS.intersection(parts) or path.startswith(PREFIXES):
        return True
    if parts[0] in TOP_FOLDERS or any(part.endswith(_METADATA) for part in parts):
        return True
    return is_named(path)


def is_dependency(path: str) -> bool:
    """In a folder of installed packages: one that a commit has is a part of how it is tested."""
    return bool(_NOT_SEARCHED.intersection(path.split("/")))


def is_named(path: str) -> bool:
    """Whether a file decides by its name alone, wherever it stands."""
    name = path.rpartition("/")[2]
    return any(fnmatchcase(name, pattern) for pattern in NAMES)


def what(before: bool, after: bool) -> What:
    if not before:
        return "added"
    return "changed" if after else "deleted"


def merged_package(base: bytes | None, head: bytes | None) -> bytes | None:
    """Head's package.json with base's words about testing; None when only one of them can be
    read, and then base's is the one that counts."""
    ours, theirs = _json(base), _json(head)
    if ours is None or theirs is None:
        return None
    made = {key: value for key, value in theirs.items() if key not in PACKAGE_KEYS}
    made |= {key: ours[key] for key in PACKAGE_KEYS if key in ours}
    return json.dumps(made, indent=2).encode()


def says_the_same(path: str, base: bytes | None, head: bytes | None) -> bool:
    """Whether two versions of a settings file say the same about testing."""
    name = PurePosixPath(path).name
    if name == "package.json":
        ours, theirs = _json(base), _json(head)
        if ours is None or theirs is None:
            return False
        return all(ours.get(key) == theirs.get(key) for key in PACKAGE_KEYS)
    if name == "pyproject.toml":
        before, after = _testing_tables(base), _testing_tables(head)
        return before is not None and before == after
    return base == head


_SKIPS = re.compile(
    rb"@(?:unittest\.|pytest\.mark\.)?(?:skip|xfail|expectedFailure)|\bpytest\.skip\(|skipTest\("
    rb"|\b(?:it|test|describe|t)\.(?:skip|todo)\b|\bx(?:it|describe|test)\(|#\[ignore"
    rb"|\bt\.Skip\(|\{ *skip: *true"
)


def describe(path: str, what: What, base: bytes | None, head: bytes | None) -> list[Change]:
    """What happened to a file, in words: the file, and what is known of its content."""
    if PurePosixPath(path).name == "package.json" and what == "changed":
        before, after = test_script(base or b""), test_script(head or b"")
        if before != after:
            words = f"the test command was changed from `{before}` to `{after or 'nothing'}`"
            return [Change(path=path, what=what, note=f"{path}: {words}")]
    skips = len(_SKIPS.findall(head or b"")) - len(_SKIPS.findall(base or b""))
    if what == "changed" and skips > 0:
        words = "a mark that skips" if skips == 1 else f"{skips} marks that skip"
        return [Change(path=path, what=what, note=f"{path} was changed: it has {words} tests")]
    return [Change(path=path, what=what)]


def _json(content: bytes | None) -> dict[str, Any] | None:
    try:
        document = json.loads(content or b"")
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _testing_tables(content: bytes | None) -> Mapping[str, Any] | None:
    if content is None:
        return None
    try:
        document = tomllib.loads(content.decode("utf-8", "replace"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    return {key: value for key, value in document.items() if key not in _PROJECT_TABLES}

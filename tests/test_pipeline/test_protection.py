"""The files that decide about tests."""

from __future__ import annotations

import json

import pytest

from agent_work_orders.test_pipeline.protection import (
    describe,
    is_protected,
    merged_package,
    says_the_same,
)


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_a.py",
        "tests/data/x.json",
        "test_a.py",
        "src/a/a_test.py",
        "src/__tests__/a.js",
        "src/__snapshots__/a.snap",
        "a.test.ts",
        "a.spec.tsx",
        "pkg/a_test.go",
        "conftest.py",
        "pytest.ini",
        "tox.ini",
        "setup.cfg",
        "pyproject.toml",
        "package.json",
        "web/package.json",
        ".npmrc",
        ".mocharc.yml",
        "jest.config.mjs",
        "Makefile",
        "noxfile.py",
        "sitecustomize.py",
        "a.pth",
        ".github/workflows/ci.yml",
        "tests",
        "run-tests.sh",
        "test.js",
    ],
)
def test_these_decide(path: str) -> None:
    assert is_protected(path)


@pytest.mark.parametrize(
    "path",
    ["src/a.py", "README.md", "specs/plan.md", "latest.py", "contest.py", "node_modules/a/test.js"],
)
def test_these_do_not(path: str) -> None:
    assert not is_protected(path)


def package(script: str, **more: object) -> bytes:
    return json.dumps({"scripts": {"test": script}, **more}).encode()


def test_dependencies_of_a_package_are_not_about_tests() -> None:
    base, head = package("jest"), package("jest", dependencies={"a": "1"}, version="2")
    assert says_the_same("package.json", base, head)
    assert not says_the_same("package.json", base, package("true"))
    assert not says_the_same("package.json", base, package("jest", jest={"testMatch": []}))
    assert not says_the_same("package.json", base, b"{")


def test_the_control_keeps_new_dependencies() -> None:
    made = merged_package(package("jest"), package("true", dependencies={"a": "1"}, jest={}))
    assert made is not None
    assert json.loads(made) == {"dependencies": {"a": "1"}, "scripts": {"test": "jest"}}
    assert merged_package(b"{", package("true")) is None


def test_the_project_table_is_not_about_tests() -> None:
    base = b"[project]\nversion = '1'\n[tool.pytest.ini_options]\naddopts = '-q'\n"
    assert says_the_same("pyproject.toml", base, base.replace(b"'1'", b"'2'"))
    assert not says_the_same("pyproject.toml", base, base.replace(b"-q", b"-k x"))
    assert not says_the_same("pyproject.toml", base, b"[")


def test_changes_in_words() -> None:
    [change] = describe("package.json", "changed", package("jest"), package("true"))
    words = "package.json: the test command was changed from `jest` to `true`"
    assert str(change) == words
    [change] = describe("test_a.py", "changed", b"x", b"@pytest.mark.skip\nx")
    assert str(change) == "test_a.py was changed: it has a mark that skips tests"
    [change] = describe("tests/a.py", "deleted", b"x", None)
    assert str(change) == "tests/a.py was deleted"

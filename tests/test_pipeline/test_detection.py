"""Which suites a repository has, and why."""

from __future__ import annotations

import json
import sys

import pytest

from agent_work_orders.test_pipeline.detection import Found, Repository, detect, wanted

SCRIPT = json.dumps({"scripts": {"test": "node --test"}}).encode()
PLACEHOLDER = b'{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'


def found(
    *files: str,
    contents: dict[str, bytes] | None = None,
    styled: tuple[str, ...] = (),
    has_pytest: bool = False,
) -> Found:
    given = contents or {}
    return detect(
        Repository(
            files=sorted({*files, *given}),
            contents=given,
            pytest_style=frozenset(styled),
            has_pytest=has_pytest,
        )
    )


def runners(found: Found) -> list[str]:
    return [suite.runner for suite in found.suites]


def test_python_and_npm_are_two_suites() -> None:
    both = found("tests/test_a.py", contents={"package.json": SCRIPT})
    assert runners(both) == ["npm", "unittest"]
    assert all(suite.why for suite in both.suites)


@pytest.mark.parametrize(
    "setting",
    [
        {"pytest.ini": b""},
        {"pyproject.toml": b"[tool.pytest.ini_options]\naddopts = '-q'\n"},
        {"setup.cfg": b"[tool:pytest]\n"},
        {"tox.ini": b"[pytest]\n"},
        {"tests/conftest.py": b""},
    ],
)
@pytest.mark.parametrize("has_pytest", [True, False])
def test_configured_pytest_is_never_replaced(setting: dict[str, bytes], has_pytest: bool) -> None:
    suites = found("tests/test_a.py", contents=setting, has_pytest=has_pytest)
    assert runners(suites) == ["pytest"]


def test_tests_written_for_pytest_need_it() -> None:
    assert runners(found("test_a.py", "test_b.py", styled=("test_b.py",))) == ["pytest"]
    assert runners(found("test_a.py")) == ["unittest"]
    assert runners(found("test_a.py", has_pytest=True)) == ["pytest"]


@pytest.mark.parametrize(
    ("files", "arguments"),
    [
        (("tests/test_a.py",), ["discover", "-s", "tests"]),
        (("tests/__init__.py", "tests/test_a.py"), ["discover", "-s", "tests", "-t", "."]),
        (("test_a.py",), ["discover", "-s", ".", "-t", "."]),
        (("pkg/__init__.py", "pkg/test_a.py"), ["discover", "-s", ".", "-t", "."]),
        # Its own discovery would not find these.
        (("pkg/test_a.py",), ["pkg/test_a.py"]),
        (("tests/test_a.py", "other/test_b.py"), ["other/test_b.py", "tests/test_a.py"]),
        (("tests/deep/test_a.py",), ["tests/deep/test_a.py"]),
        (("tests/a_test.py",), ["tests/a_test.py"]),
    ],
)
def test_unittest_reaches_every_file(files: tuple[str, ...], arguments: list[str]) -> None:
    [suite] = found(*files).suites
    assert list(suite.command[4:]) == arguments


def test_packages_in_folders_are_found_unless_the_root_speaks_for_them() -> None:
    nested = found(contents={"web/package.json": SCRIPT, "api/package.json": SCRIPT})
    assert [suite.folder for suite in nested.suites] == ["api", "web"]
    rooted = found(contents={"package.json": SCRIPT, "web/package.json": SCRIPT})
    assert [suite.folder for suite in rooted.suites] == ["."]
    assert rooted.unused == ("web/package.json has tests of its own",)


def test_material_of_tests_is_no_package() -> None:
    files = {"tests/fixtures/package.json": SCRIPT, "examples/a/package.json": SCRIPT}
    assert found(contents=files) == Found()
    assert wanted([*files, "package.json", "a/b/c/d/package.json"]) == ["package.json"]


def test_go_and_rust() -> None:
    both = found("a/a_test.go", contents={"go.mod": b"", "Cargo.toml": b""})
    assert runners(both) == ["go", "cargo"]
    assert "-json" in both.suites[0].command
    assert found("a.go", contents={"go.mod": b""}) == Found()


def test_make_is_used_where_nothing_else_is() -> None:
    makefile = {"Makefile": b"build:\n\tcc\ntest: build\n\t./check\n"}
    assert runners(found(contents=makefile)) == ["make"]
    with_more = found("test_a.py", contents=makefile)
    assert runners(with_more) == ["unittest"]
    assert with_more.unused == ("the Makefile's target `test`",)
    assert found(contents={"Makefile": b"test := 1\n"}) == Found()


@pytest.mark.parametrize(
    "package", [b"", b"{", b"[]", b"[" * 100_000, PLACEHOLDER, b'{"scripts": {"test": 1}}']
)
def test_packages_without_tests_or_sense(package: bytes) -> None:
    assert found(contents={"package.json": package}) == Found()


@pytest.mark.fault("N9")
def test_a_large_repository_costs_what_it_has() -> None:
    """Counted, not timed: looking through all files for each of them would be quadratic."""

    def calls(count: int) -> int:
        files = [f"package_{n % 50}/module_{n}.py" for n in range(count)] + ["go.mod"]
        found = 0

        def count_call(frame: object, event: str, arg: object) -> None:
            nonlocal found
            found += event in ("call", "c_call")

        sys.setprofile(count_call)
        try:
            wanted(files)
            detect(Repository(files=files, contents={}))
        finally:
            sys.setprofile(None)
        return found

    assert calls(4_000) < 5 * calls(1_000)

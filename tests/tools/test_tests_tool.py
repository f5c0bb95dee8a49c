"""`tests.run`: exit code and report must agree; a missing or lying report is never a pass."""

from __future__ import annotations

import asyncio
import importlib.util
import shutil
from pathlib import Path

import pytest
from bench import CANARY, ORDER, Bench, git

GOOD = "def test_good():\n    assert 1 + 1 == 2\n"
BAD = "def test_bad():\n    assert 1 + 1 == 3, 'sums are off'\n"
REPORT = "<testsuite><testcase name='{0}'>{1}</testcase></testsuite>"


def put(bench: Bench, **files: str) -> None:
    for name, content in files.items():
        path = bench.source / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    git(bench.source, "add", ".")
    git(bench.source, "commit", "--quiet", "-m", "files")


@pytest.fixture
def with_pytest(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A `python3` that has pytest and that the agents' user may run, first on the PATH."""
    system = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin")
    if system is None:
        pytest.skip("needs a python3 for everybody: apt-get install python3")
    library = bench.folder / "library"
    for name in ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"):
        found = importlib.util.find_spec(name)
        assert found is not None and found.origin is not None
        shutil.copytree(Path(found.origin).parent, library / name)
    (library / "py.py").write_text("from _pytest._py import error, path\n")
    folder = bench.folder / "bin"
    folder.mkdir()
    (folder / "python3").write_text(f'#!/bin/sh\nPYTHONPATH={library} exec {system} "$@"\n')
    (folder / "python3").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/local/bin:/usr/bin:/bin")
    bench.restart()
    return bench


async def test_nothing_to_run_is_said(bench: Bench) -> None:
    outputs = await bench.do("tests.run")
    assert (outputs["found"], outputs["passed"]) == (False, False)
    failed = await bench.fail("tests.run", path="must", require=True)
    assert failed.failure.code == "tests_failed"


async def test_pytest_is_found_and_its_report_counted(with_pytest: Bench) -> None:
    bench = with_pytest
    put(bench, tests__test_a_dot_py=GOOD + BAD)
    outputs = await bench.do("tests.run")
    assert "pytest" in outputs["command"]
    assert (outputs["total"], outputs["failed"], outputs["passed"]) == (2, 1, False)
    assert "sums are off" in outputs["summary"]
    assert outputs["exit_code"] == 1
    assert b"test_bad" in bench.shelf.kept["junit.xml"]
    assert git_status(bench, "tests-1") == []


async def test_two_at_once_do_not_share_a_report(with_pytest: Bench) -> None:
    bench = with_pytest
    slow = "import time\n\n\ndef test_slow():\n    time.sleep(0.2)\n"
    put(bench, test_a_dot_py=GOOD + slow)
    both = await asyncio.gather(
        bench.do("tests.run", path="one"), bench.do("tests.run", path="two")
    )
    assert [(one["total"], one["passed"]) for one in both] == [(2, True), (2, True)]
    assert git_status(bench, "tests-1") == git_status(bench, "tests-2") == []


async def test_a_crash_of_pytest_is_no_pass(with_pytest: Bench) -> None:
    put(with_pytest, test_a_dot_py="import os\n\n\ndef test_exit():\n    os._exit(0)\n")
    outputs = await with_pytest.do("tests.run")
    assert outputs["exit_code"] == 0
    assert outputs["passed"] is False
    assert "left no report" in outputs["summary"]


async def test_pytest_without_tests(with_pytest: Bench) -> None:
    put(with_pytest, test_a_dot_py="x = 1\n")
    outputs = await with_pytest.do("tests.run")
    assert (outputs["found"], outputs["passed"]) == (False, False)


async def test_unittest_where_there_is_no_pytest(bench: Bench) -> None:
    case = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_x(self):\n        {0}\n"
    put(bench, test_a_dot_py=case.format("self.assertTrue(True)"))
    probe = await bench.do("sandbox.exec", argv=["python3", "-c", "import pytest"], check=False)
    if probe["success"]:
        pytest.skip("needs a python3 without pytest: apt-get remove python3-pytest")
    outputs = await bench.do("tests.run")
    assert "unittest" in outputs["command"]
    assert (outputs["total"], outputs["passed"]) == (1, True)


async def test_npm_is_found_by_its_script(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = bench.folder / "bin"
    folder.mkdir()
    (folder / "npm").write_text("#!/bin/sh\necho ran npm $*; exit 1\n")
    (folder / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    bench.restart()
    put(bench, package_dot_json='{"scripts": {"test": "jest"}}')
    outputs = await bench.do("tests.run")
    assert outputs["command"] == ["npm", "test", "--silent"]
    assert (outputs["passed"], outputs["found"], outputs["exit_code"]) == (False, True, 1)
    assert "ran npm" in outputs["summary"]


@pytest.mark.parametrize(
    "content",
    ['{"scripts": {"test": "echo \\"Error: no test specified\\""}}', "[" * 100_000, "{", "[]", ""],
)
async def test_a_package_without_tests_or_sense(bench: Bench, content: str) -> None:
    put(bench, package_dot_json=content)
    assert (await bench.do("tests.run"))["found"] is False


@pytest.mark.parametrize(
    ("line", "passed", "says"),
    [
        ("cp good.xml r.xml; exit 0", True, "1 test passed"),
        ("cp good.xml r.xml; exit 1", False, "failed"),
        ("cp bad.xml r.xml; exit 0", False, "exit code 0, but the report has 1 failed"),
        ("exit 0", False, "left no report"),
        ("echo '<testsuite>' > r.xml", False, "not well-formed"),
        ("echo '<testsuite/>' > r.xml", False, "no tests were run"),
        ("ln -s /etc/passwd r.xml", False, "left no report"),
        ("mkdir r.xml", False, "left no report"),
    ],
)
async def test_exit_code_and_report_must_agree(
    bench: Bench, line: str, passed: bool, says: str
) -> None:
    put(
        bench,
        good_dot_xml=REPORT.format("good", ""),
        bad_dot_xml=REPORT.format("bad", "<failure message='off'/>"),
    )
    outputs = await bench.do("tests.run", command=["sh", "-c", line], junit="r.xml")
    assert outputs["passed"] is passed, outputs
    assert says in outputs["summary"]


async def test_a_committed_report_is_not_this_runs(bench: Bench) -> None:
    put(bench, r_dot_xml=REPORT.format("old", ""))
    outputs = await bench.do("tests.run", command=["true"], junit="r.xml")
    assert outputs["passed"] is False
    assert "left no report" in outputs["summary"]


async def test_tests_that_hang_are_stopped_and_shown(bench: Bench) -> None:
    argv = ["sh", "-c", "echo begun; sleep 60"]
    failed = await bench.fail("tests.run", command=argv, timeout_s=1.0)
    assert failed.failure.code == "tests_timeout"
    assert failed.outputs is not None and "begun" in failed.outputs["summary"]
    assert b"begun" in bench.shelf.kept["test-output.txt"]


async def test_the_base_is_tested_as_it_was(bench: Bench) -> None:
    await bench.agent("default: [{write: {path: README.md, content: new}}]", path="build")
    show = ["sh", "-c", "cat README.md; exit 1"]
    base = await bench.do("tests.run", path="base", at="base", command=show)
    head = await bench.do("tests.run", path="head", command=show)
    assert base["summary"].splitlines()[1:] == ["hello"]
    assert head["summary"].splitlines()[1:] == ["new"]


@pytest.mark.fault("I1")
async def test_secrets_in_the_output_are_not_kept(bench: Bench) -> None:
    put(bench, x_dot_xml=REPORT.format("x", f"<failure message='{CANARY}'/>"))
    line = f"echo {CANARY}; cp x.xml r.xml; exit 1"
    outputs = await bench.do("tests.run", command=["sh", "-c", line], junit="r.xml")
    assert outputs["failed"] == 1
    assert CANARY not in str(outputs)
    assert bench.shelf.kept.keys() == {"test-output.txt", "junit.xml"}
    assert CANARY.encode() not in b"".join(bench.shelf.kept.values())


def git_status(bench: Bench, part: str) -> list[str]:
    """Files that a commit would take."""
    repo = bench.sandboxes.workspace(ORDER, part)
    done = git(repo, "-c", f"safe.directory={repo}", "status", "--porcelain")
    return [line for line in done.splitlines() if "__pycache__" not in line]

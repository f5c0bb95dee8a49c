"""`tests.run` as a gate: nothing missing is a pass, and the base's tests judge the order too."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from bench import ORDER, Bench
from test_tests_tool import put

UNIT = (
    "import unittest\n\nfrom calc import add\n\n\nclass T(unittest.TestCase):\n"
    "    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n\n"
    "    def test_zero(self):\n        self.assertEqual(add(0, 0), 0)\n"
)
RIGHT = "def add(a, b):\n    return a + b\n"
WRONG = "def add(a, b):\n    return a - b\n"
PACKAGE = json.dumps({"scripts": {"test": "node --test"}})
NODE_TEST = "require('node:test')('a', () => {});\n"


@pytest.fixture
def bare(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """With a `python3` that has no packages at all, and whatever node the system has."""
    folder = bench.folder / "bin"
    folder.mkdir()
    system = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin")
    assert system is not None, "needs a python3 for everybody: apt-get install python3"
    (folder / "python3").write_text(f'#!/bin/sh\nexec {system} -S "$@"\n')
    (folder / "python3").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/local/bin:/usr/bin:/bin")
    bench.restart()
    return bench


async def change(bench: Bench, **files: str | None) -> None:
    """A commit of the order."""
    steps = []
    for name, content in files.items():
        path = name.replace("__", "/").replace("_dot_", ".")
        if content is None:
            steps.append({"run": ["rm", "-rf", path]})
        else:
            steps.append({"write": {"path": path, "content": content}})
    await bench.agent(json.dumps({"default": steps}), path=f"build-{'-'.join(files)}"[:60])


@pytest.mark.parametrize("setting", ["pytest_dot_ini", "conftest_dot_py"])
async def test_configured_pytest_that_is_not_there_is_named(bare: Bench, setting: str) -> None:
    put(bare, **{setting: ""}, tests__test_a_dot_py=UNIT, calc_dot_py=RIGHT)
    for at in ("base", "head"):
        failed = await bare.fail("tests.run", path=at, at=at)
        assert failed.failure.code == "tests_cannot_run"
        assert failed.failure.category == "environmental"
        assert "the Python module pytest is missing" in failed.failure.message
        assert failed.outputs is not None and failed.outputs["verdict"] == "error"


async def test_tests_written_for_pytest_are_not_left_to_unittest(bare: Bench) -> None:
    put(bare, test_a_dot_py=UNIT, calc_dot_py=RIGHT, test_b_dot_py="def test_b():\n    assert 0\n")
    failed = await bare.fail("tests.run")
    assert failed.failure.code == "tests_cannot_run"
    assert "test_b.py is written for pytest" in failed.failure.message


async def test_python_and_npm_are_both_run(bare: Bench) -> None:
    put(bare, test_a_dot_py=UNIT, calc_dot_py=WRONG, package_dot_json=PACKAGE)
    put(bare, test__a_dot_test_dot_js=NODE_TEST)
    outputs = await bare.do("tests.run")
    assert [(one["name"], one["verdict"]) for one in outputs["suites"]] == [
        ("npm", "passed"),
        ("python", "failed"),
    ]
    assert (outputs["verdict"], outputs["passed"]) == ("failed", False)
    assert (outputs["total"], outputs["failed"]) == (3, 1)


@pytest.mark.parametrize(
    "script", ["true", "node missing.js || true", "echo fine", "node -e 0", "exit 0"]
)
async def test_an_npm_script_that_tests_nothing_is_no_pass(bare: Bench, script: str) -> None:
    put(bare, package_dot_json=json.dumps({"scripts": {"test": script}}))
    outputs = await bare.do("tests.run")
    assert (outputs["verdict"], outputs["passed"]) == ("unverified", False)
    assert "no test was counted" in outputs["summary"]


async def test_a_missing_program_is_named(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = bench.folder / "bin"
    folder.mkdir()
    for name in ("sh", "find", "mktemp", "mkdir", "cat", "rm", "git"):
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))
    bench.restart()
    put(bench, package_dot_json=PACKAGE)
    failed = await bench.fail("tests.run")
    assert failed.failure.code == "tests_cannot_run"
    assert "the program npm is missing" in failed.failure.message


async def test_a_missing_package_of_the_base_is_named_and_one_still_to_be_written_is_not(
    bare: Bench,
) -> None:
    put(bare, requirements_dot_txt="wanted==1\n", test_a_dot_py="import unittest\nimport wanted\n")
    failed = await bare.fail("tests.run", path="base", at="base")
    assert "the Python module wanted is missing" in failed.failure.message
    put(bare, test_a_dot_py="import unittest\nimport unheard_of\n")
    bare.stored.clear()
    bare.restart()
    outputs = await bare.do("tests.run", path="again", at="base")
    assert outputs["verdict"] == "failed"


async def test_all_skipped_is_no_pass(bare: Bench) -> None:
    skipped = UNIT.replace("class T", "@unittest.skip('later')\nclass T")
    put(bare, test_a_dot_py=skipped, calc_dot_py=RIGHT)
    outputs = await bare.do("tests.run")
    assert (outputs["verdict"], outputs["passed"], outputs["skipped"]) == ("unverified", False, 2)
    assert "all 2 tests were skipped" in outputs["summary"]


@pytest.mark.fault("N3")
async def test_deleted_tests_are_named_and_no_pass(bare: Bench) -> None:
    put(bare, test_a_dot_py=UNIT, calc_dot_py=RIGHT, test_b_dot_py=UNIT)
    await change(bare, test_a_dot_py=None)
    outputs = await bare.do("tests.run")
    assert (outputs["verdict"], outputs["passed"], outputs["found"]) == ("failed", False, True)
    assert outputs["changes"] == [
        "test_a.py was deleted",
        "python: 4 tests ran as the tests stood at the base, only 2 now",
    ]


@pytest.mark.fault("N3")
async def test_tests_in_the_sources_are_counted_against_the_baseline(bare: Bench) -> None:
    """No file is protected there, but the number is known."""
    command = ["sh", "-c", "cat result.txt"]
    put(bare, result_dot_txt="Ran 3 tests in 1s\n\nOK\n")
    baseline = await bare.do("tests.run", path="baseline", at="base", command=command)
    assert baseline["passed"]
    await change(bare, result_dot_txt="Ran 2 tests in 1s\n\nOK\n")
    outputs = await bare.do("tests.run", path="head", command=command, baseline=baseline)
    assert outputs["verdict"] == "failed"
    assert "command: 3 tests ran at the base, only 2 now" in outputs["summary"]


@pytest.mark.fault("N3")
async def test_weakened_tests_fail_as_they_stood(bare: Bench) -> None:
    put(bare, test_a_dot_py=UNIT, calc_dot_py=WRONG)
    await change(bare, test_a_dot_py=UNIT.replace("add(1, 2), 3", "add(1, 2), -1"))
    outputs = await bare.do("tests.run")
    assert outputs["verdict"] == "failed"
    assert outputs["summary"].startswith("as the tests stood at the base, 1 test fails: test_add")
    allowed = await bare.do("tests.run", path="allowed", tests_may_change=True)
    assert allowed["verdict"] == "passed"
    assert "warning: as the tests stood at the base" in allowed["summary"]
    assert "test-output-with-tests-of-the-base.txt" in bare.shelf.kept


async def test_the_agents_workspace_is_untouched_by_tests(bare: Bench) -> None:
    put(
        bare,
        _dot_gitignore="node_modules/\n",
        test_a_dot_py=UNIT,
        calc_dot_py=RIGHT,
    )
    await change(bare, test_a_dot_py=None, tests__test_b_dot_py=UNIT)
    (bare.repo / "node_modules").mkdir()
    (bare.repo / "node_modules" / "kept.js").write_text("kept")
    before = tree(bare.repo)
    await bare.do("tests.run", path="base", at="base")
    outputs = await bare.do("tests.run")
    assert outputs["verdict"] == "passed", outputs["summary"]
    assert tree(bare.repo) == before
    assert "tests/test_b.py" in before and "test_a.py" not in before


@pytest.mark.fault("N3")
async def test_what_a_cut_off_run_left_reaches_no_later_one(bare: Bench) -> None:
    hanging = "import time\n\n\ndef add(a, b):\n    time.sleep(60)\n"
    put(bare, test_a_dot_py=UNIT, calc_dot_py=RIGHT)
    await change(bare, calc_dot_py=hanging, test_a_dot_py="import unittest\n\n\n" + EASY)
    failed = await bare.fail("tests.run", timeout_s=4.0)
    assert failed.failure.code == "tests_timeout"
    command = ["sh", "-c", "cat test_a.py; exit 1"]
    shown = await bare.do("tests.run", path="look", command=command)
    assert "class Easy" in shown["summary"]


@pytest.mark.fault("N3")
@pytest.mark.parametrize(
    "left",
    [
        "echo 'def add(a, b): return a + b' > calc.py",
        "mkdir -p local; echo 'def add(a, b): return a + b' > local/calc.py; cp local/calc.py .",
        "printf 'import sys\nsys.exit(0)\n' > sitecustomize.py",
    ],
    ids=["uncommitted", "ignored", "start-up file"],
)
async def test_what_is_in_no_commit_reaches_no_test(bare: Bench, left: str) -> None:
    put(bare, _dot_gitignore="local/\nsitecustomize.py\n", test_a_dot_py=UNIT, calc_dot_py=WRONG)
    await bare.do("sandbox.exec", argv=["sh", "-c", left])
    outputs = await bare.do("tests.run")
    assert (outputs["verdict"], outputs["failed"]) == ("failed", 1)


@pytest.mark.fault("N3")
async def test_one_run_of_the_orders_code_leaves_nothing_for_the_next(bare: Bench) -> None:
    """Outside of the tree too: the home of the sandbox and its temporary files."""
    put(bare, check_dot_txt="x")
    places = (
        'h=$TMPDIR/../home; for d in . "$TMPDIR" "$h"; do mkdir "$d/closed"; echo > "$d/left";'
        ' echo > "$d/closed/left"; chmod 0 "$d/closed"; done; exit 1'
    )
    await bare.do("tests.run", command=["sh", "-c", places])
    look = 'find . "$TMPDIR" "$TMPDIR/../home" -name left; exit 1'
    outputs = await bare.do("tests.run", path="again", command=["sh", "-c", look])
    assert outputs["summary"].splitlines()[1:] == []


async def test_what_tests_need_is_set_up_in_the_checkout(bare: Bench) -> None:
    put(bare, test_a_dot_py="import unittest\nfrom made import T\n")
    write = "import sys; [open(p, 'w').write(t) for p, t in zip(sys.argv[1::2], sys.argv[2::2])]"
    make = ["python3", "-c", write, "made.py", UNIT, "calc.py", RIGHT]
    outputs = await bare.do("tests.run", setup=[["true"], make])
    assert (outputs["verdict"], outputs["total"]) == ("passed", 2)
    base = await bare.do("tests.run", path="base", at="base", setup=[make])
    assert base["verdict"] == "passed"


async def test_a_set_up_that_fails_at_the_base_is_the_environments(bare: Bench) -> None:
    put(bare, test_a_dot_py=UNIT, calc_dot_py=RIGHT)
    broken = [["sh", "-c", "echo no such index >&2; exit 7"]]
    failed = await bare.fail("tests.run", path="base", at="base", setup=broken)
    assert (failed.failure.code, failed.failure.category) == ("tests_setup_failed", "environmental")
    await change(bare, package_dot_json="{}")
    outputs = await bare.do("tests.run", setup=broken)
    assert (outputs["verdict"], outputs["passed"]) == ("error", False)
    assert "no such index" in outputs["summary"]


async def test_a_program_missing_for_the_set_up_is_named(bare: Bench) -> None:
    put(bare, test_a_dot_py=UNIT, calc_dot_py=RIGHT)
    failed = await bare.fail("tests.run", setup=[["no-such-installer", "ci"]])
    assert failed.failure.category == "environmental"
    assert "no-such-installer" in failed.failure.message


async def test_an_agent_goes_on_while_a_sandbox_of_tests_expires(bare: Bench) -> None:
    put(bare, check_dot_txt="x")
    await bare.do("tests.run", command=["true"])
    agent = asyncio.ensure_future(bare.do("sandbox.exec", argv=["sh", "-c", "sleep 1; echo lived"]))
    await asyncio.sleep(0.4)
    records = await bare.sandboxes.records()
    tested = next(one for one in records if "tests" in one.sandbox_identifier)
    reaped = await bare.sandboxes.reap({ORDER}, tested.expires_at_ms)
    assert reaped == [tested.sandbox_identifier]
    assert (await agent)["stdout"] == "lived\n"
    outputs = await bare.do(
        "tests.run", path="again", command=["sh", "-c", "cat check.txt; exit 1"]
    )
    assert "x" in outputs["summary"]


EASY = "class Easy(unittest.TestCase):\n    def test_x(self):\n        pass\n" * 2


async def test_what_is_left_in_the_home_reaches_no_test(bare: Bench) -> None:
    put(bare, check_dot_txt="x")
    home = ["sh", "-c", "echo left > $HOME/left; ls $HOME"]
    seen = await bare.do("sandbox.exec", argv=home)
    assert "left" in seen["stdout"]
    command = ["sh", "-c", 'ls -A "$HOME"; exit 1']
    outputs = await bare.do("tests.run", command=command)
    assert outputs["summary"].splitlines()[1:] == [".gitconfig"]


@pytest.mark.fault("N3")
async def test_compiled_code_beside_the_sources_is_not_used(bare: Bench) -> None:
    put(bare, _dot_gitignore="__pycache__/\n", test_a_dot_py=UNIT, calc_dot_py=WRONG)
    compile_it = (
        "import py_compile, os; right = os.environ['TMPDIR'] + '/right.py';"
        "open(right, 'w').write('def add(a, b): return a + b');"
        "py_compile.compile(right, '__pycache__/calc.cpython-%d%d.pyc' % "
        "__import__('sys').version_info[:2], 'calc.py',"
        " invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)"
    )
    await bare.do("sandbox.exec", argv=["python3", "-c", compile_it])
    plain = ["python3", "-c", "import calc; print(calc.add(1, 2))"]
    assert (await bare.do("sandbox.exec", path="fooled", argv=plain))["stdout"] == "3\n"
    assert (await bare.do("tests.run"))["verdict"] == "failed"


async def test_insisting_on_tests(bench: Bench) -> None:
    passed = {"passed": True, "verdict": "passed", "summary": "2 tests passed"}
    assert (await bench.do("tests.require", tests=passed))["passed"] is True
    none = {"passed": False, "verdict": "unverified", "summary": "no tests"}
    accepted = await bench.do("tests.require", path="b", tests=none, unverified=True)
    assert accepted == {"passed": False, "summary": "no tests"}
    for given in (none, {"passed": False, "verdict": "failed", "summary": "1 test failed"}):
        failed = await bench.fail("tests.require", path="c", tests=given)
        assert failed.failure.code == "tests_failed"


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }

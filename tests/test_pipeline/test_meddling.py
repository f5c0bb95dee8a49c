"""What a base's ways to test start, and sources that speak to their runner."""

from __future__ import annotations

import json

import pytest

from agent_work_orders.test_pipeline import meddling, protection

MAKEFILE = b"""
-include build.inc
RUN = python3
test: lint
\t@$(RUN) -V && sh ci/all.sh
\tpython3 -m tools.check --fast
lint:
\t./scripts/lint --strict
run:
\tpython3 app/main.py
"""


def test_scripts_behind_the_test_command_are_known() -> None:
    scripts = {
        "test": "npm run unit && node checks/basket.js",
        "unit": "c8 node --enable-source-maps node_modules/mini/run.js test",
        "start": "node server.js",
        "pretest": "bash ./prepare.sh",
    }
    package = json.dumps({"scripts": scripts}).encode()
    found = meddling.started_by(package, None, ())
    assert found >= {"checks/basket.js", "node_modules/mini/run.js", "prepare.sh"}
    assert "server.js" not in found


def test_recipes_of_the_targets_that_test_are_known() -> None:
    found = meddling.started_by(None, MAKEFILE, ["./run-all", "-x"])
    wanted = {"build.inc", "ci/all.sh", "tools/check.py", "scripts/lint", "run-all"}
    assert found >= wanted and "app/main.py" not in found


@pytest.mark.parametrize("package", [b"", b"[]", b"{", b'{"scripts": {"test": 3}}', b"[" * 9_000])
def test_what_cannot_be_read_starts_nothing(package: bytes) -> None:
    assert meddling.started_by(package, b"\xff\x00:\n\t'", ["'"]) <= {"'"}


@pytest.mark.parametrize(
    "source",
    [
        b"def load_tests(loader, tests, pattern): ...",
        b"unittest.TestCase.assertEqual = lambda *a: None",
        b"def pytest_pyfunc_call(pyfuncitem): return True",
        b"[w for w in sys.argv if 'junitxml' in w]",
        b"sys.modules['pytest']",
    ],
)
@pytest.mark.fault("N3")
def test_a_source_that_speaks_to_the_runner_is_found_once_it_does(source: bytes) -> None:
    assert meddling.speaks_to_the_runner("shop/__init__.py", None, source)
    assert not meddling.speaks_to_the_runner("shop/__init__.py", source, source + b"\n")
    assert not meddling.speaks_to_the_runner("README.md", None, source)


@pytest.mark.parametrize(
    "path",
    [
        "basket_test.js", "test-basket.mjs", "pytest.toml", "evil-1.0.dist-info/entry_points.txt",
        "fixtures/expected.json", "testing/helpers.py", "checks/basket.js",
    ],
)  # fmt: skip
def test_files_that_decide_by_their_name(path: str) -> None:
    assert protection.is_protected(path)


@pytest.mark.parametrize("path", ["shop/testing/tools.py", "src/contest.py", "latest.txt"])
def test_others_are_the_orders_own_business(path: str) -> None:
    assert not protection.is_protected(path)

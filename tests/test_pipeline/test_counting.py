"""Counting what runners say: samples of real outputs, and the small forms of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_work_orders.test_pipeline.counting import Counts, from_output

OUTPUTS = Path(__file__).parent / "outputs"


@pytest.mark.parametrize(
    ("name", "total", "failed", "skipped"),
    [
        ("pytest_stdout.txt", 12, 4, 2),
        ("jest_stdout.txt", 9, 4, 2),
        ("node_test.tap", 4, 1, 2),
        ("cargo_test.txt", 8, 3, 1),
        # Broken packages and tests without an end count as failed ones.
        ("go_test.jsonl", 14, 7, 1),
    ],
)
def test_samples_of_real_runs(name: str, total: int, failed: int, skipped: int) -> None:
    counts = from_output((OUTPUTS / name).read_text())
    assert counts is not None
    assert (counts.total, counts.failed, counts.skipped) == (total, failed, skipped)


@pytest.mark.parametrize("name", ["jest_none.txt", "mocha_broken.txt"])
def test_runs_without_a_count_have_none(name: str) -> None:
    assert from_output((OUTPUTS / name).read_text()) is None


@pytest.mark.parametrize(
    ("said", "total", "failed", "skipped"),
    [
        ("Ran 3 tests in 0.001s\n\nOK\n", 3, 0, 0),
        ("Ran 1 test in 0.001s\n\nOK (skipped=1)\n", 1, 0, 1),
        ("Ran 4 tests in 1s\n\nFAILED (failures=1, errors=1, skipped=1)\n", 4, 2, 1),
        ("Ran 2 tests in 1s\n\nOK (expected failures=2)\n", 2, 0, 2),
        ("Ran 1 test in 1s\n\nFAILED (unexpected successes=1)\n", 1, 1, 0),
        ("\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n", 0, 0, 0),
        ("Ran 2 tests in 1s\n\nOK\nRan 3 tests in 1s\n\nOK\n", 5, 0, 0),
        ("==== 3 passed, 1 warning in 0.01s ====\n", 3, 0, 0),
        ("1 passed, 2 deselected in 0.01s\n", 1, 0, 0),
        ("2 xfailed in 0.01s\n", 2, 0, 2),
        ("no tests ran in 0.01s\n", 0, 0, 0),
        ("1 error in 0.10s\n", 1, 1, 0),
        ("\x1b[1mTests:\x1b[22m       1 passed, 1 total\n", 1, 0, 0),
        ("Test Suites: 1 failed, 1 total\nTests:       0 total\n", 1, 1, 0),
        ("      Tests  1 failed | 2 passed | 1 todo (4)\n", 4, 1, 1),
        ("\n  5 passing (12ms)\n", 5, 0, 0),
        ("\n  5 passing (1s)\n  1 pending\n  2 failing\n", 8, 2, 1),
        ("  0 passing (2ms)\n", 0, 0, 0),
        ("\n  4 tests passed\n  1 test skipped\n", 5, 0, 1),
        ("  Total:     3\n  Passed:    2\n  Skipped:   1\n", 4, 1, 1),
        ("1..2\nok 1 - a\nok 2 - b\n\n1..2\n# tests 2\n# pass  2\n\n# ok\n", 2, 0, 0),
        ("ℹ tests 3\nℹ pass 1\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0\n", 3, 1, 1),
        ("1..3\nok 1 - a\nnot ok 2 - b\nok 3 # SKIP no\n", 3, 1, 1),
        ("ok  \texample.com/a\t0.01s\n?   \texample.com/b\t[no test files]\n", 1, 0, 0),
        ("ok  \texample.com/a\t0.01s [no tests to run]\n", None, 0, 0),
        ("--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.com/a\t0.01s\n", 1, 1, 0),
        (
            "=== RUN   TestA\n--- PASS: TestA (0.00s)\n--- SKIP: TestB (0.00s)\n"
            "ok  \tx.y/a\t0.1s\n",
            2,
            0,
            1,
        ),
        ("", None, 0, 0),
        ("all good, 12 tests passed!\n", None, 0, 0),
        ("Tests: fine\nok then\n", None, 0, 0),
    ],
)
def test_small_forms(said: str, total: int | None, failed: int, skipped: int) -> None:
    counts = from_output(said)
    if total is None:
        assert counts is None
    else:
        assert counts is not None
        assert (counts.total, counts.failed, counts.skipped) == (total, failed, skipped)


def test_failures_are_named() -> None:
    said = "FAIL: test_a (tests.test_x.T.test_a)\n\nRan 1 test in 0s\n\nFAILED (failures=1)\n"
    counts = from_output(said)
    assert counts == Counts(total=1, failed=1, failures=("test_a (tests.test_x.T.test_a)",))


def test_a_flood_is_read_at_its_end_only() -> None:
    counts = from_output("x" * 10_000_000 + "\nRan 1 test in 0s\n\nOK\n")
    assert counts is not None and counts.run == 1

"""What a run is worth: a pass needs counted tests, and no fewer than before."""

from __future__ import annotations

import pytest

from agent_work_orders.test_pipeline.counting import Counts
from agent_work_orders.test_pipeline.verdict import (
    Reference,
    SuiteResult,
    judge,
    judge_suite,
    references,
)


def result(total: int, failed: int = 0, skipped: int = 0, name: str = "python") -> SuiteResult:
    counts = Counts(total=total, failed=failed, skipped=skipped, failures=("test_x",) * failed)
    verdict, reason = judge_suite(1 if failed else 0, counts)
    return SuiteResult(
        name=name, command=("t",), why="w", verdict=verdict, reason=reason, counts=counts
    )


def before(run: int, name: str = "python") -> Reference:
    return Reference(name=name, run=run, where="at the base")


@pytest.mark.parametrize(
    ("exit_code", "counts", "verdict", "reason"),
    [
        (0, Counts(total=2), "passed", "2 tests passed"),
        (0, Counts(total=3, skipped=1), "passed", "2 tests passed, 1 skipped"),
        (0, Counts(total=1, skipped=1), "unverified", "all 1 test were skipped"),
        (0, Counts(total=0), "unverified", "no tests were run"),
        (5, Counts(total=0), "unverified", "no tests were run"),
        (0, None, "unverified", "exit code 0, but no test was counted"),
        (0, Counts(total=2, failed=1), "failed", "exit code 0, but 1 test failed"),
        (1, Counts(total=2, failed=1), "failed", "1 test failed (exit code 1)"),
        (1, Counts(total=2), "failed", "the command failed (exit code 1)"),
        (1, None, "failed", "exit code 1"),
        (None, None, "failed", "it was stopped"),
    ],
)
def test_a_suite_alone(
    exit_code: int | None, counts: Counts | None, verdict: str, reason: str
) -> None:
    found = judge_suite(exit_code, counts)
    assert found[0] == verdict
    assert reason in found[1]


def test_a_problem_of_the_report_is_no_pass() -> None:
    assert judge_suite(0, None, problem="no report") == ("failed", "no report")


@pytest.mark.fault("N3")
@pytest.mark.parametrize(
    ("now", "words"),
    [
        ([], "python: 2 tests ran at the base, none now"),
        ([result(0)], "python: 2 tests ran at the base, none now"),
        ([result(2, skipped=2)], "python: 2 tests ran at the base, all are skipped now"),
        ([result(1)], "python: 2 tests ran at the base, only 1 now"),
        ([result(5, skipped=4)], "only 1 now (4 skipped)"),
        ([result(9, name="npm")], "python: 2 tests ran at the base, none now"),
    ],
)
@pytest.mark.parametrize("may_change", [True, False])
def test_fewer_tests_than_before_are_no_pass(
    now: list[SuiteResult], words: str, may_change: bool
) -> None:
    judged = judge(now, [before(2)], compared=True, tests_may_change=may_change)
    assert judged.verdict == "failed"
    assert words in judged.summary.splitlines()[0]
    assert words in judged.changes[-1]


def test_as_many_or_more_pass() -> None:
    for now in ([result(2)], [result(3, skipped=1)], [result(5)]):
        assert judge(now, [before(2)], compared=True).verdict == "passed"


@pytest.mark.fault("N3")
def test_the_tests_of_the_base_must_pass_too() -> None:
    control = [result(2, failed=1)]
    given = references(control, "as the tests stood at the base")
    strict = judge(
        [result(2)], given, compared=True, control=control, changes=["pytest.ini was added"]
    )
    assert strict.verdict == "failed"
    assert strict.summary.splitlines()[:2] == [
        "as the tests stood at the base, 1 test fails: test_x",
        "changed: pytest.ini was added",
    ]
    allowed = judge([result(2)], given, compared=True, control=control, tests_may_change=True)
    assert allowed.verdict == "passed"
    assert "warning: as the tests stood at the base, 1 test fails" in allowed.summary


def test_a_suite_that_never_had_tests_blocks_nothing_but_is_said() -> None:
    both = [result(2), result(0, name="npm")]
    assert judge(both, [before(2)], compared=True).verdict == "passed"
    assert "npm: no tests were run" in judge(both, [before(2)], compared=True).summary
    assert judge(both, []).verdict == "unverified"


def test_nothing_is_unverified() -> None:
    judged = judge([], [])
    assert judged.verdict == "unverified"
    assert judged.summary == "no tests were found in the repository"


def test_what_is_not_run_is_said() -> None:
    assert judge([result(1)], [], unused=["x"]).summary.endswith("not run: x")

"""What counts as lost and as repeated after a kill."""

from __future__ import annotations

from benchmarks.witness import Verdict, judge


def verdict(lost: int = 0, in_flight: int = 0, acknowledged: int = 0) -> Verdict:
    return Verdict(
        lost=lost, repeated_in_flight=in_flight, repeated_acknowledged=acknowledged
    )  # fmt: skip


def test_a_clean_restart() -> None:
    assert judge("a 0\na 1\na done\n", ["a"], 2) == verdict()


def test_what_was_in_flight_may_run_again() -> None:
    assert judge("a 0\na 0\na 1\na done\n", ["a"], 2) == verdict(in_flight=1)


def test_what_the_next_task_has_built_on_may_not() -> None:
    assert judge("a 0\na 1\na 0\na 1\na done\n", ["a"], 2) == verdict(in_flight=1, acknowledged=1)


def test_nothing_may_run_again_after_the_end_was_told() -> None:
    assert judge("a 0\na done\na 0\n", ["a"], 1) == verdict(acknowledged=1)


def test_a_task_that_never_ran_and_an_end_that_was_never_told_are_lost() -> None:
    assert judge("a 0\nb 0\nb 1\nb done\n", ["a", "b"], 2) == verdict(lost=2)

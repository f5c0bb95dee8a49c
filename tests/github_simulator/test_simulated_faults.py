"""A fault strikes the request that it names, as often as it says."""

from __future__ import annotations

import pytest

from github_simulator.outside.faults import Fault, Faults

POST = ("POST", "/repos/o/r/issues/1/comments", "issues/create-comment")
GET = ("GET", "/repos/o/r/issues/1", "issues/get")


def strikes(faults: Faults, request: tuple[str, str, str], count: int) -> list[bool]:
    return [faults.take(*request) is not None for _ in range(count)]


def test_it_strikes_once_unless_told_otherwise() -> None:
    faults = Faults()
    faults.add(Fault(kind="status"))
    assert strikes(faults, GET, 3) == [True, False, False]
    assert faults.waiting == []


def test_the_nth_and_those_after_it() -> None:
    faults = Faults()
    faults.add(Fault(kind="status", nth=2, times=2))
    assert strikes(faults, GET, 5) == [False, True, True, False, False]


def test_without_an_end() -> None:
    faults = Faults()
    faults.add(Fault(kind="status", times=None))
    assert all(strikes(faults, GET, 20))
    faults.clear()
    assert not any(strikes(faults, GET, 2))


@pytest.mark.parametrize(
    "fault",
    [
        Fault(kind="drop", method="POST"),
        Fault(kind="drop", path="/repos/*/comments"),
        Fault(kind="drop", operation="issues/create-*"),
    ],
)
def test_what_does_not_match_neither_strikes_nor_counts(fault: Fault) -> None:
    faults = Faults()
    faults.add(fault)
    assert strikes(faults, GET, 3) == [False] * 3
    assert strikes(faults, POST, 2) == [True, False]


def test_the_first_of_two_strikes_and_both_count() -> None:
    faults = Faults()
    faults.add(Fault(kind="drop"), Fault(kind="reset", nth=2))
    first, second = faults.take(*GET), faults.take(*GET)
    assert first is not None and second is not None
    assert (first.kind, second.kind) == ("drop", "reset")
    assert [hit.fault.kind for hit in faults.hits] == ["drop", "reset"]


def test_impossible_faults_are_refused() -> None:
    for wrong in ({"nth": 0}, {"times": 0}, {"seconds": 1_000.0}):
        with pytest.raises(ValueError, match=r"count|last"):
            Fault(kind="hang", **wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not applied"):
        Fault(kind="moved", applied=True)


def test_a_lag_hides_what_was_created_for_some_reads() -> None:
    faults = Faults()
    faults.hide({"url": "http://h/comments/5"}, 2)
    assert faults.veil("http://h/comments/5", {"id": 5})[0]
    other = {"url": "http://h/comments/4"}
    hidden, shown = faults.veil("http://h/comments", [other, {"url": "http://h/comments/5"}])
    assert (hidden, shown) == (False, [other])
    assert not faults.veil("http://h/comments/5", {"id": 5})[0]


def test_a_lag_keeps_counts_honest() -> None:
    faults = Faults()
    faults.hide({"url": "http://h/check-runs/5"}, 1)
    body = {"total_count": 2, "check_runs": [{"url": "http://h/check-runs/5"}, {"url": "x"}]}
    assert faults.veil("http://h/check-runs", body) == (
        False,
        {"total_count": 1, "check_runs": [{"url": "x"}]},
    )

"""A missed or missing bar fails the check unless it is listed with a reason."""

from __future__ import annotations

import pytest
from benchmarks.result import ROOT, Entry, Failure, Measurement, Results, Role, publishable
from benchmarks.result import Result as Found

from benchmarks import bars, report

RATE = bars.Bar(
    name="rate", title="tasks", workload="w", metric="rate", unit="tasks/s", better="higher",
    limit=1000, against="peers", ratio=3,
)  # fmt: skip
NEAR = bars.Bar(
    name="near", title="overhead", workload="w", metric="ms", unit="ms", better="lower",
    against="script", ratio=1.05, slack=50, either=True,
)  # fmt: skip
NO_EXCUSE = bars.Excuses()


def value(subject: str, role: Role, metric: str, number: float) -> Measurement:
    return Measurement(subject=subject, role=role, metric=metric, value=number)


def results(*found: Measurement, failures: list[Failure] | None = None) -> Results:
    entry = Entry(
        at="2026-01-01T00:00:00.000Z", commit="abc", took_s=1.0,
        result=Found(measurements=list(found), failures=failures or []),
    )  # fmt: skip
    return Results(quick=False, machine={"cores": 2}, workloads={"w": entry})


@pytest.mark.parametrize(
    ("ours", "peers", "standing"),
    [
        (3000, [999, 400], "met"),
        (2999, [1000], "missed"),  # fast enough, but not three times the best peer
        (900, [100], "missed"),  # nine times the peer, but too slow
        (5000, [], "missed"),  # without a peer in the same run there is no ratio
    ],
)
def test_a_rate_needs_its_limit_and_its_ratio(
    ours: float, peers: list[float], standing: str
) -> None:
    found = [value("awo", "ours", "rate", ours)]
    found += [value(f"p{number}", "peer", "rate", rate) for number, rate in enumerate(peers)]
    found.append(value("sqlite", "floor", "rate", 1_000_000))
    assert bars.judge(RATE, results(*found), NO_EXCUSE).standing == standing


@pytest.mark.parametrize(
    ("ours", "script", "standing"),
    [(149, 100, "met"), (1049, 1000, "met"), (2090, 2000, "met"), (151, 100, "missed")],
)
def test_either_a_ratio_or_a_slack_is_enough(ours: float, script: float, standing: str) -> None:
    found = [value("awo", "ours", "ms", ours), value("script", "baseline", "ms", script)]
    assert bars.judge(NEAR, results(*found), NO_EXCUSE).standing == standing


def test_a_missing_bar_fails_the_check_and_a_reason_settles_a_miss() -> None:
    found = results(value("awo", "ours", "rate", 10), value("p", "peer", "rate", 10))
    assert len(bars.complaints(found, [RATE, NEAR], NO_EXCUSE)) == 2
    excuses = bars.Excuses(bar=[bars.Excuse(name="rate", reason="slow disk")])
    assert bars.complaints(found, [RATE, NEAR], excuses) == ["near: not in the results"]
    assert bars.judge(RATE, found, excuses).standing == "known miss"


def test_a_reason_does_not_stand_for_a_number() -> None:
    excuses = bars.Excuses(bar=[bars.Excuse(name="near", reason="later")])
    assert bars.complaints(results(), [NEAR], excuses) == ["near: not in the results"]


@pytest.mark.parametrize(
    ("excuses", "expected"),
    [
        (bars.Excuses(bar=[bars.Excuse(name="rate", reason=" ")]), "rate has no reason"),
        (bars.Excuses(bar=[bars.Excuse(name="ratte", reason="x")]), "no bar is called ratte"),
    ],
)
def test_an_excuse_must_name_a_bar_and_a_reason(excuses: bars.Excuses, expected: str) -> None:
    found = results(value("awo", "ours", "rate", 9000), value("p", "peer", "rate", 10))
    assert any(expected in line for line in bars.complaints(found, [RATE], excuses))


def test_a_peer_that_could_not_be_measured_fails_the_check_unless_listed() -> None:
    found = results(
        value("awo", "ours", "rate", 9000),
        value("p", "peer", "rate", 10),
        failures=[Failure(subject="gone", role="peer", error="no such package")],
    )
    assert "no such package" in bars.complaints(found, [RATE], NO_EXCUSE)[0]
    excuses = bars.Excuses(subject=[bars.Excuse(name="gone", reason="no binary for arm64")])
    assert bars.complaints(found, [RATE], excuses) == []


def test_no_results_and_quick_results_prove_nothing() -> None:
    assert bars.complaints(None, [], NO_EXCUSE)
    assert bars.complaints(Results(quick=True), [], NO_EXCUSE)


def test_the_page_shows_every_bar_with_its_standing() -> None:
    found = results(value("awo", "ours", "rate", 10), value("p", "peer", "rate", 40))
    excuses = bars.Excuses(bar=[bars.Excuse(name="rate", reason="the disk is slow")])
    page = report.page(found, [RATE, NEAR], excuses, {"p": "Peer"})
    row = next(line for line in page.splitlines() if line.startswith("| tasks |"))
    assert "Peer 40" in row and "0.25x" in row and "known miss" in row
    assert "the disk is slow" in page and "not measured" in page


def test_the_bars_file_is_well_formed() -> None:
    known = bars.load_bars()
    assert len({bar.name for bar in known}) == len(known)
    for bar in known:
        assert bar.limit is not None or bar.ratio is not None
        assert bar.ratio is None or bar.against is not None
    names = {bar.name for bar in known}
    assert {one.name for one in bars.load_excuses().bar} <= names


def test_errors_are_kept_without_directories_and_addresses() -> None:
    error = f"{ROOT}/.venv/bin/python: not found at https://registry.example/simple/x, sorry"
    found = publishable(Found(failures=[Failure(subject="p", role="peer", error=error)]))
    assert found.failures[0].error == ".venv/bin/python: not found at (address) sorry"

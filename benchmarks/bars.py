"""Judges results against the bars: pure, values in, verdicts out."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal

import msgspec

from benchmarks.result import Measurement, Results

HERE = Path(__file__).resolve().parent
Standing = Literal["met", "missed", "known miss", "not measured"]


class Bar(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    title: str
    workload: str
    metric: str
    unit: str
    better: Literal["higher", "lower"]
    limit: float | None = None
    against: str | None = None
    ratio: float | None = None
    slack: float | None = None
    either: bool = False


class Excuse(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    reason: str


class Excuses(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    bar: list[Excuse] = []
    subject: list[Excuse] = []


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    bar: Bar
    ours: float | None
    reference: Measurement | None
    ratio: float | None
    standing: Standing
    reason: str = ""


def load_bars() -> list[Bar]:
    raw = tomllib.loads((HERE / "bars.toml").read_text())
    return msgspec.convert(raw["bar"], list[Bar])


def load_excuses() -> Excuses:
    return msgspec.convert(tomllib.loads((HERE / "known_misses.toml").read_text()), Excuses)


def measured(results: Results, workload: str, metric: str) -> list[Measurement]:
    entry = results.workloads.get(workload)
    return [] if entry is None else [m for m in entry.result.measurements if m.metric == metric]


def best(found: list[Measurement], better: str) -> Measurement | None:
    if not found:
        return None
    pick = max if better == "higher" else min
    return pick(found, key=lambda one: one.value)


def judge(bar: Bar, results: Results, excuses: Excuses) -> Verdict:
    found = measured(results, bar.workload, bar.metric)
    ours = next((one.value for one in found if one.role == "ours"), None)
    others = (
        [one for one in found if one.role == "peer"]
        if bar.against in (None, "peers")
        else [one for one in found if one.subject == bar.against]
    )
    reference = best(others, bar.better)
    ratio = None
    if ours is not None and reference is not None and reference.value:
        ratio = ours / reference.value
    reason = next((one.reason.strip() for one in excuses.bar if one.name == bar.name), "")
    standing: Standing = "known miss" if reason else "missed"
    if ours is None:
        # A reason explains a number; it does not stand for one.
        standing = "not measured"
    elif _met(bar, ours, reference):
        standing, reason = "met", ""
    return Verdict(
        bar=bar, ours=ours, reference=reference, ratio=ratio, standing=standing, reason=reason
    )


def _met(bar: Bar, ours: float, reference: Measurement | None) -> bool:
    def enough(value: float, wanted: float) -> bool:
        return value >= wanted if bar.better == "higher" else value <= wanted

    outcomes = [] if bar.limit is None else [enough(ours, bar.limit)]
    if bar.against is not None:
        if reference is None:
            return False
        if bar.ratio is not None:
            outcomes.append(enough(ours, bar.ratio * reference.value))
        if bar.slack is not None:
            outcomes.append(enough(ours - reference.value, bar.slack))
    return any(outcomes) if bar.either else bool(outcomes) and all(outcomes)


def complaints(results: Results | None, bars: list[Bar], excuses: Excuses) -> list[str]:
    """Everything `check` fails on, one line each."""
    if results is None:
        return ["there are no results; run the benchmarks first"]
    found = ["the results come from a quick run, which proves nothing"] if results.quick else []
    known = {bar.name for bar in bars}
    found += [
        f"known_misses.toml: no bar is called {one.name}"
        for one in excuses.bar
        if one.name not in known
    ]
    found += [
        f"known_misses.toml: {one.name} has no reason"
        for one in [*excuses.bar, *excuses.subject]
        if not one.reason.strip()
    ]
    for bar in bars:
        verdict = judge(bar, results, excuses)
        if verdict.standing == "not measured":
            found.append(f"{bar.name}: not in the results")
        elif verdict.standing == "missed":
            found.append(f"{bar.name}: {verdict.ours:.4g} {bar.unit} misses {describe(bar)}")
    excused = {one.name for one in excuses.subject if one.reason.strip()}
    for workload, entry in sorted(results.workloads.items()):
        found += [
            f"{workload}: {failed.subject} could not be measured: {failed.error}"
            for failed in entry.result.failures
            if failed.subject not in excused
        ]
    return found


def describe(bar: Bar) -> str:
    """`>= 1,000 tasks/s and >= 3x the best peer`."""
    sign = "≥" if bar.better == "higher" else "≤"
    parts = [] if bar.limit is None else [f"{sign} {bar.limit:,g} {bar.unit}"]
    of = "the best peer" if bar.against == "peers" else f"`{bar.against}`"
    if bar.ratio is not None:
        parts.append(f"{sign} {bar.ratio:g}x {of}")
    if bar.slack is not None:
        parts.append(f"within {bar.slack:g} {bar.unit} of {of}")
    return (" or " if bar.either else " and ").join(parts)

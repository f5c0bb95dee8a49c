"""Times several ways of doing one thing, turn by turn, so that a noisy minute hits all alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

import msgspec

from benchmarks.result import Failure, Measurement, Result, Role


class Contender(msgspec.Struct, frozen=True):
    """`act(round)` does the thing once; it may return the seconds that count, where tidying up is
    not part of it. Raising `Unable` takes the contender out of the race."""

    name: str
    role: Role
    act: Callable[[int], float | None]


class Unable(Exception):
    pass


def race(metric: str, contenders: Sequence[Contender], rounds: int) -> Result:
    """The median in milliseconds of each contender; one warm-up round does not count."""
    took: dict[str, list[float]] = {one.name: [] for one in contenders}
    failures: dict[str, Failure] = {}
    for number in range(rounds + 1):
        for one in contenders:
            if one.name in failures:
                continue
            begin = time.perf_counter()
            try:
                counts_s = one.act(number)
            except Unable as reason:
                failures[one.name] = Failure(subject=one.name, role=one.role, error=str(reason))
                continue
            if number:
                seconds = time.perf_counter() - begin if counts_s is None else counts_s
                took[one.name].append(seconds * 1000)
    found = [
        Measurement(
            subject=one.name,
            role=one.role,
            metric=metric,
            value=statistics.median(took[one.name]),
            samples=took[one.name],
        )
        for one in contenders
        if one.name not in failures
    ]
    return Result(measurements=found, failures=list(failures.values()))

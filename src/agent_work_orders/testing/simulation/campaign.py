"""Many schedules: every boundary of every scenario in turn, then seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from agent_work_orders.testing.simulation.faults import Options, chaos
from agent_work_orders.testing.simulation.scenarios import SOURCES
from agent_work_orders.testing.simulation.schedule import Parts, Report, Schedule


class Tally(msgspec.Struct, kw_only=True):
    schedules: int = 0
    crashes: int = 0
    boundaries: int = 0
    seen: Counter[str] = msgspec.field(default_factory=Counter)
    failed: list[Report] = []

    def add(self, report: Report) -> None:
        self.schedules += 1
        self.crashes += len(report.crashes)
        self.boundaries += report.boundaries
        self.seen.update(report.seen)
        if not report.ok:
            self.failed.append(report)

    def told(self) -> str:
        return (
            f"{self.schedules} schedules, {self.boundaries} boundaries crossed, "
            f"{self.crashes} crashes, {len(self.failed)} failed"
        )


def every_boundary(scenario: str, seed: int = 0) -> Iterator[Options]:
    """One schedule without a crash, then one for each boundary that it crossed."""
    calm = Options(seed=seed, scenario=scenario, orders=2)
    yield calm
    for number in range(1, Schedule(calm).run().boundaries + 1):
        yield msgspec.structs.replace(calm, crash_at=(number,))


def systematic() -> Iterator[Options]:
    for scenario in SOURCES:
        yield from every_boundary(scenario)


def seeds(first: int, count: int) -> Iterator[Options]:
    return (chaos(seed) for seed in range(first, first + count))


def run(schedules: Iterable[Options], parts: Parts | None = None, *, most_failed: int = 1) -> Tally:
    """All of them, or until so many have failed."""
    tally = Tally()
    for options in schedules:
        tally.add(Schedule(options, parts).run())
        if len(tally.failed) >= most_failed:
            break
    return tally

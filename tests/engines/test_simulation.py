"""The engine under seeded faults: nothing lost, nothing twice, everything ends.

`SIMULATION_SEEDS` sets how many seeds the slow campaign runs; a failure prints the options that
repeat it, which belong into simulation_seeds.json.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_work_orders.engines.embedded.engine import EmbeddedEngine
from agent_work_orders.engines.embedded.kept_run import KeptRun
from agent_work_orders.state_manager.journal import Commit
from agent_work_orders.state_manager.ledger import Entry
from agent_work_orders.testing.simulation import campaign
from agent_work_orders.testing.simulation.faults import Options, chaos
from agent_work_orders.testing.simulation.people import VERBS
from agent_work_orders.testing.simulation.ports import SimulatedJournal, SimulatedLedger
from agent_work_orders.testing.simulation.scenarios import SOURCES
from agent_work_orders.testing.simulation.schedule import Parts, Schedule

KEPT = Path(__file__).with_name("simulation_seeds.json")
BOUNDARIES = {
    "journal before fsync",
    "journal after fsync",
    "ledger before intent",
    "ledger after intent",
    "ledger before receipt",
    "ledger after receipt",
    "world before write",
    "world after write",
}


def hold(tally: campaign.Tally) -> None:
    for report in tally.failed:
        line = msgspec.json.encode(report.options).decode()
        pytest.fail(f"{report.told()}\nkeep it in {KEPT.name}: {line}", pytrace=False)


@pytest.mark.fault("A3")
@pytest.mark.fault("A4")
@pytest.mark.parametrize("scenario", SOURCES)
def test_a_crash_at_every_boundary_costs_nothing(scenario: str) -> None:
    tally = campaign.run(campaign.every_boundary(scenario))
    hold(tally)
    assert tally.crashes == tally.schedules - 1
    assert tally.seen.keys() >= BOUNDARIES


@pytest.mark.fault("A30")
@pytest.mark.fault("A6")
@pytest.mark.fault("B1")
@pytest.mark.parametrize(
    "share", [0, *(pytest.param(share, marks=pytest.mark.slow) for share in range(1, 4))]
)
def test_seeds_of_everything_at_once(share: int) -> None:
    tally = campaign.run(campaign.seeds(share * 300, 300))
    hold(tally)
    assert tally.crashes > 300


@pytest.mark.slow
@pytest.mark.fault("A30")
@pytest.mark.timeout(3600)
def test_more_seeds() -> None:
    tally = campaign.run(campaign.seeds(10_000, int(os.environ.get("SIMULATION_SEEDS", "10000"))))
    print(tally.told())
    hold(tally)


KEPT_OPTIONS = msgspec.json.decode(KEPT.read_bytes(), type=list[Options])


@pytest.mark.parametrize("options", KEPT_OPTIONS)
def test_seeds_that_once_failed(options: Options) -> None:
    report = Schedule(options).run()
    assert report.ok, report.told()


@pytest.mark.fault("A3")
@pytest.mark.parametrize("scenario", ["chain", "parent"])
def test_a_second_crash_while_taking_up_costs_nothing(scenario: str) -> None:
    schedules = (
        msgspec.structs.replace(options, crash_at=(options.crash_at[0], options.crash_at[0] + more))
        for options in campaign.every_boundary(scenario)
        if options.crash_at
        for more in (1, 2, 3)
    )
    hold(campaign.run(schedules))


@pytest.mark.fault("K15")
@pytest.mark.parametrize("scenario", ["gated", "stubborn", "parent"])
def test_every_pair_of_verbs_races_to_an_end(scenario: str) -> None:
    pairs = product(sorted(set(VERBS)), repeat=2)
    schedules = (
        Options(seed=number, orders=1, scenario=scenario, verbs=((first, 0.01), (second, 0.011)))
        for number, (first, second) in enumerate(pairs)
    )
    hold(campaign.run(schedules))


def test_options_repeat_a_schedule_in_another_process() -> None:
    program = (
        "from agent_work_orders.testing.simulation.schedule import Schedule\n"
        "from agent_work_orders.testing.simulation.faults import chaos\n"
        "print([Schedule(chaos(seed)).run().digest for seed in range(20)])\n"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": salt},
            capture_output=True,
            check=True,
        ).stdout
        for salt in ("1", "2")
    }
    assert told == {f"{[Schedule(chaos(seed)).run().digest for seed in range(20)]}\n".encode()}


# -- the simulation finds what it is for


class EarlyJournal(SimulatedJournal):
    """Says "durable" before the fsync."""

    def append(self, commit: Commit) -> asyncio.Future[None]:
        waiter = super().append(commit)
        waiter.set_result(None)
        return waiter


class ForgetfulLedger(SimulatedLedger):
    """Writes no intent, and takes any receipt."""

    async def _intend(
        self, key: str, order_id: str, what: str, intent: dict[str, Any], at_ms: int
    ) -> Entry:
        return Entry(key=key, order_id=order_id, what=what, intent=intent, intended_at_ms=at_ms)

    async def receive(self, key: str, receipt: dict[str, Any], *, at_ms: int) -> Entry:
        await super()._intend(key, "", "", {}, at_ms)
        return await super().receive(key, receipt, at_ms=at_ms)


class ForgettingEngine(EmbeddedEngine):
    """Does not keep a run that was opened again: its timers find nobody."""

    def apply(self, held: KeptRun, event: Any, **how: Any) -> bool:
        ended = held.run.stage == "ended"
        taken = super().apply(held, event, **how)
        if ended:
            self._memory.open.pop(held.run.run_id, None)
        return taken


class HastyEngine(EmbeddedEngine):
    """Acts, then commits."""

    def apply(self, held: KeptRun, event: Any, **how: Any) -> bool:
        taken = super().apply(held, event, **how)
        for entry in held.pending:
            entry.ready = True
        self._flush(held)
        return taken


@pytest.mark.fault("A11")
@pytest.mark.parametrize(
    ("parts", "symptom"),
    [
        (Parts(journal=EarlyJournal), "lost"),
        (Parts(ledger=ForgetfulLedger), "was written 2 times"),
        (Parts(engine=HastyEngine), "again after it had succeeded"),
    ],
    ids=["no fsync", "no intent", "act before commit"],
)
def test_what_is_broken_is_found(parts: Parts, symptom: str) -> None:
    tally = campaign.run(campaign.systematic(), parts, most_failed=20)
    violations = [text for report in tally.failed for text in report.violations]
    assert any(symptom in text for text in violations), violations[:5]


def test_kept_seeds_still_find_what_they_found() -> None:
    tally = campaign.run(KEPT_OPTIONS, Parts(engine=ForgettingEngine), most_failed=100)
    assert len(tally.failed) == len(KEPT_OPTIONS)

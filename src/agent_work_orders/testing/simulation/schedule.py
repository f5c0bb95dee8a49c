"""One schedule: lives of a process on one disk in one world, until every order has ended.

Faults are over when their budget is spent; then the world is calm and all must come to an end.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence

import msgspec

from agent_work_orders.engines.embedded.engine import EmbeddedEngine
from agent_work_orders.engines.embedded.lanes import Limits
from agent_work_orders.engines.engine import Change
from agent_work_orders.engines.perform import Performer
from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.state_manager.artifacts import Artifact
from agent_work_orders.testing.simulation import invariants
from agent_work_orders.testing.simulation.faults import Boundaries, Options, PowerCut
from agent_work_orders.testing.simulation.loop import (
    Deadlock,
    VirtualClock,
    VirtualLoop,
    VirtualTime,
)
from agent_work_orders.testing.simulation.people import People, wishes
from agent_work_orders.testing.simulation.ports import (
    SimulatedDisk,
    SimulatedJournal,
    SimulatedLedger,
)
from agent_work_orders.testing.simulation.world import World, tools
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine import phases

DAY_MS = 86_400_000
# A week of virtual time: past every retry, quota, expiry and jump of the clock.
GIVE_UP_S = 7 * 86_400.0
MAX_LIVES = 40
MAX_STOPS = 4


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What a schedule is made of; a test that breaks something puts its own here."""

    journal: type[SimulatedJournal] = SimulatedJournal
    ledger: type[SimulatedLedger] = SimulatedLedger
    engine: type[EmbeddedEngine] = EmbeddedEngine


class Report(msgspec.Struct, frozen=True, kw_only=True):
    options: Options
    violations: list[str]
    boundaries: int
    seen: Counter[str]
    crashes: list[str]
    lives: int
    events: Counter[str]
    digest: str
    """Of everything that was journalled: the same options give the same."""

    @property
    def ok(self) -> bool:
        return not self.violations

    def told(self) -> str:
        lines = [f"a schedule broke {len(self.violations)} rules", self.options.told()]
        lines += [f"  {violation}" for violation in self.violations[:20]]
        return "\n".join([*lines, f"  crashes: {', '.join(self.crashes) or 'none'}"])


class Schedule:
    def __init__(self, options: Options, parts: Parts | None = None) -> None:
        self.options = options
        self.parts = parts or Parts()
        self.rng = random.Random(options.seed)
        self.time = VirtualTime()
        self.clock = VirtualClock(self.time)
        self.at = Boundaries(options, self.rng)
        self.disk = SimulatedDisk()
        self.world = World(options, self.rng, self.at)
        self.people = People(options, self.rng, self.clock, wishes(options, self.rng))
        self.violations: list[str] = []
        self.lives = 0
        self.stops = 0

    def run(self) -> Report:
        over = False
        while not over and self.lives < MAX_LIVES:
            over = self._life()
        if not over and not self.violations:
            self.violations.append(f"not over after {self.lives} lives")
        self.violations += self.world.violations
        return Report(
            options=self.options,
            violations=self.violations,
            boundaries=self.at.count,
            seen=self.at.seen,
            crashes=self.at.crashes,
            lives=self.lives,
            events=invariants.events(self.disk),
            digest=invariants.digest(self.disk),
        )

    def _life(self) -> bool:
        """False when the process died or was stopped."""
        self.lives += 1
        self.world.active.clear()
        self.disk.full = False
        loop = VirtualLoop(self.time)
        try:
            return loop.run_until_complete(self._live())
        except PowerCut:
            return False
        except Deadlock as error:
            self.violations.append(f"deadlock: {error}")
        finally:
            self.violations += loop.troubles
            loop.kill()
        return True

    async def _live(self) -> bool:
        journal = self.parts.journal(self.disk, self.options, self.rng, self.at)
        performer = Performer(
            tools(self.world),
            ledger=self.parts.ledger(journal, self.rng, self.at),
            artifacts=_NoArtifacts(),
            clock=self.clock,
            log=lambda *_: None,
        )
        limits = Limits(running_tasks=3, orders_per_repository=2)
        engine = self.parts.engine(journal, performer, self.clock, limits=limits)
        engine.observe(self._acknowledged)
        await engine.start()
        speaking = [
            asyncio.get_running_loop().create_task(self.people.speak(engine, wish))
            for wish in self.people.inputs
            if wish.taken is None
        ]
        if not await self._watch(engine):
            await engine.stop(drain_s=self.rng.choice((0.0, 0.1, 30.0)))
            await journal.close()
            return False
        await asyncio.gather(*speaking)
        # What a dishonest client repeated last may have opened something again.
        self.stops = MAX_STOPS
        await self._watch(engine)
        await self._check(engine, journal)
        return True

    def _acknowledged(self, change: Change) -> None:
        """Only what the journal has made durable is shown to observers."""
        event = change.event
        if isinstance(event, on.TaskSucceeded):
            task = change.before.task(event.path)
            if task.live and task.attempt == event.attempt:
                self.world.done.add(f"{change.run_id}:{event.path}:{task.generation}")

    async def _watch(self, engine: EmbeddedEngine) -> bool:
        """Until nothing is open. False when the operator stops the process before."""
        while self.time.now_s < GIVE_UP_S:
            await asyncio.sleep(self.rng.choice((0.05, 0.5, 5.0, 30.0)))
            if self.stops < MAX_STOPS and self.rng.random() < self.options.stop_rate:
                self.stops += 1
                return False
            if self.rng.random() < self.options.jump_rate:
                self.time.jump_ms += self.rng.choice((-DAY_MS, DAY_MS, 3_000, -3_000))
            if not engine.health()["ok"]:
                continue
            runs = [await engine.run(run_id) for run_id in await engine.open_runs()]
            if self.people.heard and not any(runs):
                return True
            for run in runs:
                if run is not None and phases.status(run) in ("waiting", "paused"):
                    try:
                        await self.people.settle(engine, run)
                    except AgentWorkOrdersError:
                        continue
        stuck = [(run_id, await engine.run(run_id)) for run_id in await engine.open_runs()]
        for run_id, run in stuck:
            state = {} if run is None else {p: (t.state, t.wait) for p, t in run.tasks.items()}
            stage = run and (run.stage, phases.status(run))
            self.violations.append(f"stuck: {run_id} {stage} {state} {engine.health()}")
        return True

    async def _check(self, engine: EmbeddedEngine, journal: SimulatedJournal) -> None:
        health = engine.health()
        await engine.stop(drain_s=0)
        journal.write()
        self.violations += await invariants.broken(
            disk=self.disk,
            journal=journal,
            world=self.world,
            inputs=self.people.inputs,
            health=health,
            memory=[run for run_id in self.disk.runs if (run := await engine.run(run_id))],
        )


class _NoArtifacts:
    """Nothing simulated is large enough to spill."""

    async def put(
        self, order_id: str, path: str, name: str, content: bytes, media_type: str, at_ms: int
    ) -> Artifact:
        raise NotImplementedError

    async def read(self, sha256: str) -> bytes:
        raise NotImplementedError

    async def list(self, order_id: str) -> Sequence[Artifact]:
        raise NotImplementedError

    async def absent(self) -> Sequence[str]:
        raise NotImplementedError

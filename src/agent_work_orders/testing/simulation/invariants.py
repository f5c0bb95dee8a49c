"""What must hold when a schedule is over, whatever happened in it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from agent_work_orders.engines.embedded.kept_run import restore
from agent_work_orders.state_manager.journal import Quarantined
from agent_work_orders.testing.simulation.people import Input
from agent_work_orders.testing.simulation.ports import SimulatedDisk, SimulatedJournal
from agent_work_orders.testing.simulation.world import World
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine import phases
from agent_work_orders.workflow_engine import run as runs
from agent_work_orders.workflow_engine.run import Run


async def broken(
    *,
    disk: SimulatedDisk,
    journal: SimulatedJournal,
    world: World,
    inputs: list[Input],
    health: dict[str, Any],
    memory: list[Run],
) -> list[str]:
    stored = await _stored(journal)
    found = [*await _chains(journal), *_leftovers(disk, health)]
    found += [*_inputs(disk, inputs), *_memory(stored, memory)]
    for run in stored.values():
        found += [*_ended(run), *_writes(run, world)]
    return found


def digest(disk: SimulatedDisk) -> str:
    heads = sorted((run_id, run.head.chain.hex()) for run_id, run in disk.runs.items())
    return hashlib.sha256(repr(heads).encode()).hexdigest()


def events(disk: SimulatedDisk) -> Counter[str]:
    """How often each kind of event happened."""
    kinds: Counter[str] = Counter()
    for run in disk.runs.values():
        kinds.update(row.kind for row, _ in run.events)
    return kinds


async def _chains(journal: SimulatedJournal) -> list[str]:
    return [
        f"the chain of {found.run_id} breaks at {found.seq}: {found.reason}"
        for found in await journal.verify()
    ]


def _leftovers(disk: SimulatedDisk, health: dict[str, Any]) -> Iterator[str]:
    for run_id, run in disk.runs.items():
        if run.effects:
            yield f"{run_id} ended with effects owed: {sorted(run.effects)}"
        if run.timers:
            yield f"{run_id} ended with timers set: {sorted(run.timers)}"
    for counter in ("open", "running", "queued", "timers"):
        if health[counter]:
            yield f"the engine's `{counter}` is {health[counter]} at the end"
    if health["quarantined"]:
        yield f"quarantined: {health['quarantined']}"


async def _stored(journal: SimulatedJournal) -> dict[str, Run]:
    found = {}
    for run_id in await journal.run_ids():
        loaded = await journal.load_run(run_id)
        if loaded is not None and not isinstance(loaded, Quarantined):
            found[run_id] = restore(loaded, {}).run
    return found


def _inputs(disk: SimulatedDisk, inputs: list[Input]) -> Iterator[str]:
    for wish in inputs:
        run = disk.runs.get(wish.run_id)
        rows = [] if run is None else [on.decode(row.body) for row, _ in run.events]
        count = sum(getattr(event, "by", "") == wish.mark for event in rows)
        if wish.taken and count == 0:
            yield f"{wish.verb} by {wish.mark} was acknowledged and is lost"
        if count > 1 and wish.verb in ("submit", "prompt"):
            yield f"{wish.verb} by {wish.mark} counted {count} times"


def _memory(stored: dict[str, Run], memory: list[Run]) -> Iterator[str]:
    for run in memory:
        if _plain(run) != _plain(stored[run.run_id]):
            yield f"{run.run_id}: a replay of the journal differs from what the engine shows"


def _plain(run: Run) -> Any:
    """Without the order in which a persistent map happens to list its keys."""
    return msgspec.json.decode(runs.encode(run))


def _ended(run: Run) -> Iterator[str]:
    if run.stage != "ended":
        waiting = phases.waiting(run)
        yield f"{run.run_id} is {phases.status(run)} and waits for {waiting}"
    if run.live:
        yield f"{run.run_id} ended with {run.live} live tasks"


def _writes(run: Run, world: World) -> Iterator[str]:
    """A write task that succeeded by itself has written, once; the world counts more as it
    happens."""
    for path, task in run.tasks.items():
        if not path or run.spec(path).uses != "sim.write" or task.state != "succeeded":
            continue
        key = f"{run.run_id}:{path}:{task.generation}:write"
        if world.written[key] != 1:
            yield f"{key} succeeded and was written {world.written[key]} times"

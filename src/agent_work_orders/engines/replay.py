"""A run from its journal, for whoever drives or reads it."""

from __future__ import annotations

import msgspec

from agent_work_orders.errors import Conflict
from agent_work_orders.state_manager.journal import LoadedRun, Quarantined
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine import plan as plans
from agent_work_orders.workflow_engine import run as runs
from agent_work_orders.workflow_engine.machine import advance
from agent_work_orders.workflow_engine.run import Run


class Replayed(msgspec.Struct, frozen=True):
    run: Run
    seq: int


def replay(loaded: LoadedRun, cache: dict[bytes, plans.Plan]) -> Replayed:
    """From its last snapshot. Runs of one version share their plan."""
    plan = cache.get(loaded.plan)
    if plan is None:
        plan = cache[loaded.plan] = plans.decode(loaded.plan)
    if loaded.snapshot is not None:
        run, seq = runs.decode(loaded.snapshot.body, loaded.run_id, plan), loaded.snapshot.seq
    else:
        run, seq = runs.fresh(loaded.run_id, plan, ""), 0
    for row in loaded.events:
        event = on.decode(row.body)
        if isinstance(event, on.Submitted):
            run = runs.fresh(loaded.run_id, plan, event.plan_hash)
        run = advance(run, event).run
        seq = row.seq
    return Replayed(run, seq)


def set_aside(broken: Quarantined) -> Conflict:
    return Conflict(
        "run_quarantined",
        f"the journal of {broken.run_id} is damaged at event {broken.seq}: {broken.reason}",
        hint="Restore a backup; `awo doctor` lists everything that is damaged. See "
        "docs/runbook.md.",
    )

"""One attempt at one task, with all that its tool may know: what both engines give a performer."""

from __future__ import annotations

import msgspec

from agent_work_orders.tools.tool import JsonObject
from agent_work_orders.workflow_engine import effects as ask
from agent_work_orders.workflow_engine.run import Run


class TaskAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt at one task."""

    run_id: str
    path: str
    attempt: int
    key: str
    uses: str
    input: JsonObject
    timeout_s: float
    phase: str | None
    order: JsonObject
    previous_outputs: JsonObject | None = None
    spent_usd: float = 0.0
    approved: JsonObject | None = None
    lost: tuple[int, ...] = ()
    stalls: int = 0
    stalled_since_ms: int | None = None


def attempt_of(run: Run, effect: ask.Perform | ask.Undo) -> TaskAttempt:
    """What a run asks for, with all that its tool may know."""
    task = run.task(effect.path)
    return TaskAttempt(
        run_id=run.run_id,
        path=effect.path,
        attempt=effect.attempt,
        key=effect.key,
        uses=effect.uses,
        input=effect.input,
        timeout_s=effect.timeout_s,
        phase=effect.phase if isinstance(effect, ask.Perform) else None,
        approved=effect.approved if isinstance(effect, ask.Perform) else None,
        order=run.order,
        previous_outputs=task.outputs,
        spent_usd=run.usage.cost_usd,
        lost=task.lost,
        stalls=task.stalls,
        stalled_since_ms=task.stalled_ms,
    )

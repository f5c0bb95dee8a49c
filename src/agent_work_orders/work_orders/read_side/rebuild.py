"""Making the read side again from the journal: every order and every question, none invented."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from agent_work_orders.engines.replay import replay
from agent_work_orders.errors import Broken
from agent_work_orders.state_manager.approvals import Approvals
from agent_work_orders.state_manager.journal import Journal, LoadedRun, Quarantined
from agent_work_orders.state_manager.records import MAX_LIMIT, OrderRecord, Records
from agent_work_orders.work_orders.context import Context
from agent_work_orders.work_orders.read_side import open_questions, projection
from agent_work_orders.work_orders.read_side.recorder import Recorder
from agent_work_orders.workflow_engine.plan import Plan
from agent_work_orders.workflow_engine.run import Run


class Rebuilt(msgspec.Struct, frozen=True, kw_only=True):
    runs: int
    damaged: tuple[Quarantined, ...]
    """Left out: their journal does not verify."""


STATIC = (
    "repository_url", "repository", "git_branch_name", "base_branch", "sandbox_type",
    "sandbox_identifier", "workflow_type", "workflow_version", "github_issue_number",
    "initial_prompt", "title", "task_type", "priority", "agent", "created_by", "created_at_ms",
)  # fmt: skip
"""Of an order's line: what its first event fixed."""
LATE = ("updated_at_ms", "waiting_reason", "waiting_until_ms", "run_seq")
"""What also depends on the queue and the clock."""


async def differences(
    journal: Journal, records: Records, approvals: Approvals
) -> AsyncIterator[str]:
    """Where the read side says something else than the journal, in words. A line may be behind: one
    that knows fewer events is compared in what never changes. Damaged runs are not looked at: the
    journal says so itself."""
    plans, after = dict[bytes, Plan](), ""
    while page := await journal.run_ids(after):
        for run_id in page:
            loaded = await journal.load_run(run_id)
            if isinstance(loaded, LoadedRun):
                as_told = replay(loaded, plans)
                if as_told.run.parent is None:
                    if wrong := await _line(as_told.run, as_told.seq, records):
                        yield wrong
                for wrong in await _questions(as_told.run, approvals):
                    yield wrong
        after = page[-1]
    offset = 0
    while found := (await records.page(limit=MAX_LIMIT, offset=offset)).agent_work_orders:
        offset += len(found)
        for one in found:
            if await journal.load_run(one.agent_work_order_id) is None:
                yield f"{one.agent_work_order_id} is listed and has no history"


async def _line(run: Run, seq: int, records: Records) -> str | None:
    line, right = await records.get(run.run_id), projection.record(run, seq)
    if line is None:
        return f"{run.run_id} is not listed"
    if line.error_code == "row_damaged":
        return f"the line of {run.run_id} cannot be read"
    names = set(STATIC)
    if line.run_seq >= seq:
        names = set(OrderRecord.__struct_fields__) - set(LATE)
    wrong = [name for name in sorted(names) if getattr(line, name) != getattr(right, name)]
    return f"the line of {run.run_id} has another {', '.join(wrong)}" if wrong else None


async def _questions(run: Run, approvals: Approvals) -> list[str]:
    wrong = []
    for path, task, gate in open_questions.open_questions(run):
        approval_id = open_questions.approval_id_of(run.run_id, path, task.generation, gate.round)
        try:
            known = await approvals.get(approval_id)
        except Broken as error:
            wrong.append(f"approval {approval_id}: {error.message}")
            continue
        if known is None:
            continue  # it is asked a moment after its event
        asked = (known.message, known.subject, known.subject_hash, known.state, known.expires_at_ms)
        if asked != (gate.message, gate.subject, gate.subject_hash, "asked", gate.expires_ms):
            wrong.append(f"approval {approval_id} says something else")
    return wrong


async def rebuild(context: Context) -> Rebuilt:
    """For a store that nothing else uses meanwhile. A crash in the middle is mended by another
    rebuild: the journal is not touched."""
    journal = context.store.journal
    await context.store.records.truncate_projection()
    recorder, plans = Recorder(context), dict[bytes, Plan]()
    count, damaged, after = 0, list[Quarantined](), ""
    while page := await journal.run_ids(after):
        for run_id in page:
            loaded = await journal.load_run(run_id)
            if isinstance(loaded, LoadedRun):
                as_told = replay(loaded, plans)
                await recorder.renew(as_told.run, as_told.seq)
                count += 1
            elif loaded is not None:
                damaged.append(loaded)
        after = page[-1]
    return Rebuilt(runs=count, damaged=tuple(damaged))

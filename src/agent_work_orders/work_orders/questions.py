"""What is asked, and the commit that it is about.

The machine asks about a task and its input. Which commit people are shown with it is looked up
here, and told to the run as `ApprovalShown`: from then on the question can be answered. The same
happens whenever a task of the order ends and before every decision, so that a branch that moved
voids the question and has it asked anew, about what is there now.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from agent_work_orders.engines.engine import Change
from agent_work_orders.errors import AgentWorkOrdersError, Forbidden, Refused
from agent_work_orders.ids import order_of
from agent_work_orders.security.roles import Caller
from agent_work_orders.tools.order_branch import head_of
from agent_work_orders.work_orders import find
from agent_work_orders.work_orders.context import LiveContext
from agent_work_orders.work_orders.order_facts import facts_of
from agent_work_orders.work_orders.read_side.open_questions import approval_id_of, open_questions
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine.run import Run

# A mirror that cannot be read now (a full disk, a restore) may be readable soon.
AGAIN_S = 5.0
_MOVING = (on.TaskSucceeded, on.TaskFailed, on.TaskParked, on.ChildFinished, on.Undone)
"""After these the order's branch may be elsewhere."""


async def refresh(context: LiveContext, run_id: str) -> Run:
    """Look again at what the run's open questions are about; the run as it is then."""
    run = await find.run_of(context, run_id)
    asked = list(open_questions(run))
    if not asked:
        return run
    head = await head_of(context.mirrors, facts_of(run).repository, order_of(run_id))
    facts: dict[str, Any] = {"head_sha": head, "workflow_version": run.plan_hash}
    for path, task, gate in asked:
        shown: list[dict[str, Any]] = [facts]
        known = approval_id_of(run_id, path, task.generation, gate.round)
        if gate.facts is None and await context.store.approvals.get(known) is not None:
            # Put to people by a version that bound no commit: they are asked again.
            shown = [{}, facts]
        for one in shown:
            event = on.ApprovalShown(
                at_ms=context.clock.now_ms(), path=path, generation=task.generation, facts=one
            )
            if gate.facts != one:
                await context.runs.post(run_id, event)
    return await find.run_of(context, run_id)


def need_named(subject: dict[str, Any], caller: Caller) -> None:
    """Forbidden `approval_not_yours` where the workflow names others than the caller."""
    named = [str(one) for one in subject.get("approvers", ())]
    # Logins of GitHub are the same in any letters; names of keys are not.
    theirs = {one.lower() if one.startswith("github:") else one for one in named}
    name = caller.name.lower() if caller.name.startswith("github:") else caller.name
    if named and name not in theirs:
        raise Forbidden(
            "approval_not_yours",
            f"The workflow names who decides this: {', '.join(named)[:300]}; you are {caller.name}",
            hint="Ask one of them; the key in AWO_API_KEY, or the login on GitHub, says who it is.",
        )


class Questions:
    """The observer that keeps open questions bound to the order's head."""

    def __init__(self, context: LiveContext) -> None:
        self._context = context
        self._asking: dict[str, set[str]] = {}
        """By order: its runs that ask something now."""
        self._looking: set[str] = set()
        self._again: set[str] = set()

    def observe(self, change: Change) -> None:
        run_id, order_id = change.run_id, order_of(change.run_id)
        asked = list(open_questions(change.after))
        runs = self._asking.setdefault(order_id, set())
        if asked:
            runs.add(run_id)
        else:
            runs.discard(run_id)
        if not runs:
            del self._asking[order_id]
        elif isinstance(change.event, _MOVING) or any(gate.facts is None for _, _, gate in asked):
            self._look(order_id)

    async def catch_up(self, open_runs: Iterable[str]) -> None:
        """At start: complete what was asked and not shown, and see what moved meanwhile."""
        for run_id in open_runs:
            with suppress(Refused):  # quarantined
                run = await self._context.runs.run(run_id)
                if run is not None and any(open_questions(run)):
                    self._asking.setdefault(order_of(run_id), set()).add(run_id)
                    self._look(order_of(run_id))
        await self._context.backlog.settled()

    def _look(self, order_id: str) -> None:
        if order_id in self._looking:
            self._again.add(order_id)
            return
        self._looking.add(order_id)
        self._context.backlog.begin(self._refreshed(order_id))

    async def _refreshed(self, order_id: str) -> None:
        try:
            await self._refresh(order_id)
        finally:
            self._looking.discard(order_id)
        if order_id in self._again:
            self._again.discard(order_id)
            self._look(order_id)

    async def _refresh(self, order_id: str) -> None:
        for run_id in sorted(self._asking.get(order_id, ())):
            try:
                await refresh(self._context, run_id)
            except AgentWorkOrdersError as error:
                fields = {"error": str(error), "code": error.code}
                self._context.log(order_id, "approval_not_shown", "warning", fields)
                asyncio.get_running_loop().call_later(AGAIN_S, self._retry, order_id)

    def _retry(self, order_id: str) -> None:
        if order_id in self._asking:
            self._look(order_id)

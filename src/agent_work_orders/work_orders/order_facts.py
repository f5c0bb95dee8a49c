"""What an order was made with, as one typed value.

It is written once, into the run's first event, and read from there ever after. Inside we say
`prompt`, `branch`, `workflow` and `workflow_kind`; lists and the API say `initial_prompt`,
`git_branch_name`, `workflow_type` and `task_type`: read_side/projection.py is the one place that
translates.
"""

from __future__ import annotations

from typing import Any

import msgspec

from agent_work_orders.tools.tool import JsonObject, Order
from agent_work_orders.workflow_engine.run import Run

PRIORITIES = ("low", "medium", "high", "urgent")


class OrderFacts(Order, frozen=True, kw_only=True):
    """What tools may know, and what only we need."""

    priority: int = 1
    """Place in `PRIORITIES`."""
    metered: bool = True
    """Whether it counts against the rate limits."""
    pipeline_task: JsonObject | None = None
    """The task that it came as: kept as it was sent."""

    @property
    def cause(self) -> str:
        """What on the hub asked for it; empty when it did not come from there."""
        return str((self.github or {}).get("key", ""))


def facts_of(run: Run) -> OrderFacts:
    """Tolerant of what versions before and after this one put there."""
    return msgspec.convert(run.order, OrderFacts, strict=False)


def to_journal(facts: OrderFacts) -> dict[str, Any]:
    kept: dict[str, Any] = msgspec.to_builtins(facts)
    if facts.pipeline_task is None:
        del kept["pipeline_task"]
    return kept

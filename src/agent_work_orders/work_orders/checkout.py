"""An order's work as files of a person, whatever became of the order."""

from __future__ import annotations

from pathlib import Path

import msgspec

from agent_work_orders.errors import Conflict
from agent_work_orders.repositories import checkout
from agent_work_orders.security.roles import Caller
from agent_work_orders.work_orders import inspect
from agent_work_orders.work_orders.context import Context


class CheckedOut(msgspec.Struct, frozen=True, kw_only=True):
    agent_work_order_id: str
    folder: str
    branch: str
    base: str
    """The commit that the order started from."""
    commit: str
    unfinished_task: str | None
    """Whose unfinished work is the last commit."""


async def check_out(
    context: Context, wanted: str, caller: Caller, folder: Path | None
) -> CheckedOut:
    """Conflict `folder_in_use`; Conflict `nothing_to_check_out` before the first commit."""
    row, found = await inspect.work(context, wanted, caller)
    mirror = None if found is None else context.mirrors.at(row.repository)
    if found is None or mirror is None or await mirror.ref(found.ref) != found.sha:
        raise Conflict(
            "nothing_to_check_out",
            f"{row.agent_work_order_id} has made nothing that is kept",
            hint=f"`awo show {row.agent_work_order_id}` says how far it has come.",
        )
    place = (folder or Path(row.agent_work_order_id)).expanduser().absolute()
    branch = row.git_branch_name or row.agent_work_order_id
    await checkout.check_out(mirror, found.ref, branch, place, row.repository_url)
    return CheckedOut(
        agent_work_order_id=row.agent_work_order_id,
        folder=str(place),
        branch=branch,
        base=found.base,
        commit=found.sha,
        unfinished_task=found.task,
    )

"""A verdict on a commit: a check where we are an App, else a commit status.

Only an App may write checks; a status says the same in fewer words. A status has no id, so the id
of such a verdict is 0, and setting it again is harmless.
"""

from __future__ import annotations

from typing import Any

from agent_work_orders.github_integration.forge import Check, Hub, Repository

_STATES = {None: "pending", "failure": "failure", "timed_out": "error", "cancelled": "error"}


async def find(hub: Hub, repository: Repository, head_sha: str, key: str) -> int | None:
    if not await _is_app(hub):
        return None
    return await hub.find_check(repository, head_sha, key)


async def add(hub: Hub, repository: Repository, check: Check, key: str) -> int:
    if await _is_app(hub):
        return await hub.add_check(repository, check, key)
    await _set_status(hub, repository, check)
    return 0


async def edit(hub: Hub, repository: Repository, check_id: int, check: Check, key: str) -> None:
    if check_id and await _is_app(hub):
        await hub.edit_check(repository, check_id, check, key)
    else:
        await _set_status(hub, repository, check)


async def _is_app(hub: Hub) -> bool:
    return (await hub.our_login()).endswith("[bot]")


async def _set_status(hub: Hub, repository: Repository, check: Check) -> None:
    state: Any = _STATES.get(check.conclusion, "success")
    await hub.set_status(
        repository,
        check.head_sha,
        context=check.name,
        state=state,
        description=check.title,
        target_url=check.details_url,
    )

"""GitHub, where it is configured."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from agent_work_orders.clock import Clock
from agent_work_orders.github_integration.account import Account
from agent_work_orders.github_integration.quota_memory import KeptQuota
from agent_work_orders.settings import Settings
from agent_work_orders.state_manager.store import Store

if TYPE_CHECKING:
    from agent_work_orders.github_integration.connection import Connection


async def connect(
    settings: Settings,
    store: Store,
    clock: Clock,
    *,
    learn: Callable[[str], None],
    at_end: AsyncExitStack,
) -> Connection | None:
    """None without credentials. `learn` is told every token before it is used."""
    account = Account(
        api_url=settings.github.api_url,
        server_url=settings.github.server_url,
        app_id=settings.github.app_id,
        private_key=settings.github.private_key,
        installation_id=settings.github.installation_id,
        token=settings.github.token,
        timeout_s=settings.github.timeout_s,
        public_url=settings.server.public_url,
    )
    if not account.usable:
        return None
    # What speaks HTTP and signs takes time to load: only for those who need it.
    from agent_work_orders.github_integration.connection import connect

    memory = await KeptQuota.opened(store.quota)
    return await at_end.enter_async_context(connect(account, memory, clock, learn=learn))

"""GitHub, where it is configured."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from agent_work_orders.clock import Clock
from agent_work_orders.github_integration.account import Account, Need, Remark
from agent_work_orders.github_integration.quota_memory import KeptQuota, NoMemory
from agent_work_orders.settings import Settings
from agent_work_orders.state_manager.store import Store

if TYPE_CHECKING:
    from agent_work_orders.github_integration.connection import Connection
    from agent_work_orders.github_integration.identity.app_manifest import NewApp


async def connect(
    settings: Settings,
    store: Store,
    clock: Clock,
    *,
    learn: Callable[[str], None],
    at_end: AsyncExitStack,
) -> Connection | None:
    """None without credentials. `learn` is told every token before it is used."""
    account = account_of(settings)
    if not account.usable:
        return None
    # What speaks HTTP and signs takes time to load: only for those who need it.
    from agent_work_orders.github_integration.connection import connect

    memory = await KeptQuota.opened(store.quota)
    return await at_end.enter_async_context(connect(account, memory, clock, learn=learn))


def account_of(settings: Settings) -> Account:
    return Account(
        api_url=settings.github.api_url,
        server_url=settings.github.server_url,
        app_id=settings.github.app_id,
        private_key=settings.github.private_key,
        installation_id=settings.github.installation_id,
        token=settings.github.token,
        timeout_s=settings.github.timeout_s,
        webhooks=bool(settings.github.webhook_secret),
        public_url=settings.server.public_url,
        outbound=settings.outbound,
    )


async def check(settings: Settings, clock: Clock) -> list[Remark]:
    """Whether GitHub takes the credentials of these settings, and whether they suffice for the
    rules and workflows that the next server will have. Nothing without any."""
    account = account_of(settings)
    if not account.usable:
        return []
    from agent_work_orders.bootstrap.duties import needed, server_rules
    from agent_work_orders.bootstrap.looking import open_archive
    from agent_work_orders.github_integration.connection import connect
    from agent_work_orders.work_orders.incoming.rules import RulesInvalid

    found, needs = list[Remark](), list[Need]()
    try:
        async with open_archive(settings, clock) as context:
            needs = await needed(context, server_rules(settings))
    except RulesInvalid as error:
        detail, hint = error.message, error.hint
        found.append(Remark(about="AWO_GITHUB_RULES", status="error", detail=detail, hint=hint))
    async with connect(account, NoMemory(), clock, learn=lambda _: None) as connection:
        return found + await connection.check.examine(needs)


async def take_over(settings: Settings, clock: Clock, code: str) -> NewApp:
    from agent_work_orders.github_integration.connection import take_over

    return await take_over(account_of(settings), clock, code)

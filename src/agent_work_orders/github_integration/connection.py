"""GitHub put together: exchange, governor, credentials, client, forge. Decides nothing itself."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import msgspec

from agent_work_orders.clock import Clock
from agent_work_orders.errors import Refused
from agent_work_orders.github_integration.account import Account
from agent_work_orders.github_integration.client import GithubClient
from agent_work_orders.github_integration.credential import Credential
from agent_work_orders.github_integration.forge import Repository
from agent_work_orders.github_integration.github_forge import GithubForge
from agent_work_orders.github_integration.hook import Hook
from agent_work_orders.github_integration.http.governor import DurableGovernor
from agent_work_orders.github_integration.http.one_request import Exchange, HttpRequest
from agent_work_orders.github_integration.http.retrying import Retrying
from agent_work_orders.github_integration.identity.app_credentials import AppCredentials
from agent_work_orders.github_integration.identity.app_key import AppKey
from agent_work_orders.github_integration.identity.app_manifest import NewApp, read
from agent_work_orders.github_integration.identity.credentials import (
    Credentials,
    TokenCredentials,
    good,
)
from agent_work_orders.github_integration.identity.git_logins import GitLogins
from agent_work_orders.github_integration.quota import QuotaMemory
from agent_work_orders.github_integration.quota_memory import NoMemory
from agent_work_orders.github_integration.resources.app_hook import AppHook
from agent_work_orders.github_integration.self_check import SelfCheck

_CODE = re.compile(r"[A-Za-z0-9_-]{8,200}")


class Connection(msgspec.Struct, frozen=True, kw_only=True):
    forge: GithubForge
    credentials: Credentials
    governor: DurableGovernor
    logins: GitLogins
    hook: Hook | None = None
    """Of the App; a plain token has none."""
    check: SelfCheck


@asynccontextmanager
async def connect(
    account: Account, memory: QuotaMemory, clock: Clock, *, learn: Callable[[str], None]
) -> AsyncIterator[Connection]:
    """Nothing is sent before something is asked. `learn` is told every token before it is used."""
    chance = random.SystemRandom()
    governor = DurableGovernor(memory, clock, chance=chance)
    async with _exchange(account) as exchange:
        retrying = Retrying(exchange, governor, clock, api_url=account.api_url, chance=chance)
        credentials: AppCredentials | TokenCredentials
        hook: Hook | None = None
        if account.app_id:
            credentials = app = AppCredentials(
                retrying,
                AppKey(account.app_id, account.private_key),
                clock,
                learn=learn,
                installation_id=account.installation_id,
            )
            hook = AppHook(app, account.api_url)
        else:
            credentials = TokenCredentials(retrying, account.token)
        client = GithubClient(retrying, credentials, clock, sleep=asyncio.sleep)
        linked = {urlsplit(url).netloc for url in (account.server_url, account.public_url) if url}
        forge = GithubForge(client, hosts=frozenset(linked), public_url=account.public_url)
        try:
            yield Connection(
                forge=forge,
                credentials=credentials,
                governor=governor,
                logins=GitLogins(credentials, account.server_url, _names(forge)),
                hook=hook,
                check=SelfCheck(retrying, credentials, clock, webhooks=account.webhooks),
            )
        finally:
            await credentials.close()


async def take_over(account: Account, clock: Clock, code: str) -> NewApp:
    """The App that was made from a manifest. A code is good once: after a lost answer it is made
    again by a person."""
    if not _CODE.fullmatch(code):
        raise Refused(
            "github_code_invalid",
            "What came back from GitHub is no code for an App",
            hint="Begin again with `awo github setup`.",
        )
    chance = random.SystemRandom()
    governor = DurableGovernor(NoMemory(), clock, chance=chance)
    nobody = Credential(name="setup", token="")
    what = "take over the new App"
    async with _exchange(account) as exchange:
        retrying = Retrying(exchange, governor, clock, api_url=account.api_url, chance=chance)
        url = f"{account.api_url}/app-manifests/{code}/conversions"
        request = HttpRequest(method="POST", url=url, writes=True, priority="person")
        return read(good(what, await retrying.ask(what, request, nobody), nobody))


def _exchange(account: Account) -> Exchange:
    secure = account.api_url.startswith("https:")
    return Exchange(
        trusted=account.outbound.trusted() if secure else None,
        proxy=account.outbound.proxy_to(account.api_url),
        deadline_s=account.timeout_s,
    )


def _names(forge: GithubForge) -> Callable[[str], Awaitable[str]]:
    """Asks the service, which follows a former name."""

    async def present_name(full_name: str) -> str:
        facts = await forge.repository(Repository(key="", full_name=full_name))
        return facts.full_name

    return present_name

"""API keys, at the server that owns the data directory or in the directory itself."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from agent_work_orders import settings as setting
from agent_work_orders.api import views
from agent_work_orders.bootstrap import open_archive, open_upkeep
from agent_work_orders.cli.client import Json, Target, owning, remote, server_of
from agent_work_orders.cli.outcome import Told
from agent_work_orders.cli.request import repository
from agent_work_orders.security.roles import LOCAL_OPERATOR, Role
from agent_work_orders.work_orders import keys


async def create(
    home: Path | None, url: str | None, name: str, role: str, repos: list[str] | None
) -> Json:
    checked = _role(role)
    settings = setting.load(home=home)
    place = Target(home=home, url=url)
    server = server_of(place, settings)
    addresses = None if repos is None else [repository(one) for one in repos]
    if server is not None:
        async with remote(place, server, settings) as client:
            return await client.create_key(name, checked, addresses)
    async with owning(open_upkeep(settings)) as context:
        key, token = await keys.create(context, LOCAL_OPERATOR, name, checked, addresses)
        return {"key": views.key(key), "token": token}


async def every(home: Path | None, url: str | None) -> list[Json]:
    settings = setting.load(home=home)
    place = Target(home=home, url=url)
    server = server_of(place, settings)
    if server is not None:
        async with remote(place, server, settings) as client:
            return await client.keys()
    async with open_archive(settings) as context:
        return [views.key(one) for one in await context.store.keys.all()]


async def revoke(home: Path | None, url: str | None, key_id: str) -> Json:
    settings = setting.load(home=home)
    place = Target(home=home, url=url)
    server = server_of(place, settings)
    if server is not None:
        async with remote(place, server, settings) as client:
            return await client.revoke_key(key_id)
    async with owning(open_upkeep(settings)) as context:
        return views.key(await keys.revoke(context, LOCAL_OPERATOR, key_id))


def _role(given: str) -> Role:
    for role in get_args(Role):
        if given == role:
            return role  # type: ignore[no-any-return]
    raise Told(
        "role_invalid",
        f"{given!r} is not a role",
        hint=", ".join(get_args(Role)),
        field="--role",
    )

"""Deliveries, at the server that owns the data directory or in the directory itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

from agent_work_orders import settings as setting
from agent_work_orders.api import views
from agent_work_orders.bootstrap import open_archive, open_upkeep
from agent_work_orders.cli.client import Json, Target, owning, remote, server_of
from agent_work_orders.cli.outcome import Told
from agent_work_orders.security.roles import LOCAL_OPERATOR
from agent_work_orders.state_manager.deliveries import State
from agent_work_orders.work_orders import deliveries


async def page(home: Path | None, url: str | None, state: str | None, limit: int) -> list[Json]:
    checked = _state(state)
    settings = setting.load(home=home)
    place = Target(home=home, url=url)
    server = server_of(place, settings)
    if server is not None:
        async with remote(place, server, settings) as client:
            return await client.deliveries(checked, limit)
    async with open_archive(settings) as context:
        return [
            views.delivery(one)
            for one in await context.store.deliveries.page(state=checked, limit=limit)
        ]


async def find(home: Path | None, url: str | None, delivery_id: str) -> Json:
    settings = setting.load(home=home)
    place = Target(home=home, url=url)
    server = server_of(place, settings)
    if server is not None:
        async with remote(place, server, settings) as client:
            return await client.delivery(delivery_id)
    async with open_archive(settings) as context:
        return views.delivery(await deliveries.find(context, delivery_id))


async def retry(home: Path | None, url: str | None, delivery_id: str) -> Json:
    settings = setting.load(home=home)
    place = Target(home=home, url=url)
    server = server_of(place, settings)
    if server is not None:
        async with remote(place, server, settings) as client:
            return await client.delivery(delivery_id, retry=True)
    async with owning(open_upkeep(settings)) as context:
        return views.delivery(await deliveries.retry(context, LOCAL_OPERATOR, delivery_id))


def _state(given: str | None) -> Any:
    known: tuple[Literal["waiting", "handled", "ignored", "failed"], ...] = get_args(State)
    if given is None or given in known:
        return given
    raise Told("state_invalid", f"{given!r} is not a state", hint=", ".join(known), field="--state")

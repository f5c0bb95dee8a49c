"""Kept credentials, in the data directory itself: their secrets go through no server."""

from __future__ import annotations

from pathlib import Path

from agent_work_orders import settings as setting
from agent_work_orders.api.views import when
from agent_work_orders.bootstrap import open_archive, open_upkeep
from agent_work_orders.cli.client import Json
from agent_work_orders.state_manager.credentials import KeptCredential
from agent_work_orders.work_orders import credentials


async def keep(home: Path | None, name: str, secret: str) -> Json:
    settings = setting.load(home=home)
    text = setting.to_keep(name, secret)
    async with open_upkeep(settings) as context:
        return _as_json(
            await credentials.keep(context, name, text, keys=settings.storage.secret_key)
        )


async def every(home: Path | None) -> list[Json]:
    async with open_archive(setting.load(home=home)) as context:
        return [_as_json(one) for one in await context.store.credentials.all()]


async def remove(home: Path | None, name: str) -> None:
    async with open_upkeep(setting.load(home=home)) as context:
        await credentials.remove(context, name)


async def rotate(home: Path | None) -> int:
    settings = setting.load(home=home)
    async with open_upkeep(settings) as context:
        return await credentials.rotate(context, keys=settings.storage.secret_key)


def _as_json(one: KeptCredential) -> Json:
    return {"name": one.name, "last4": one.last4, "changed_at": when(one.changed_at_ms)}

"""The store of a data directory, and the settings completed by what is kept in it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from agent_work_orders.clock import Clock
from agent_work_orders.settings import Settings, with_kept
from agent_work_orders.state_manager.files import data_directory
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.state_manager.store import Store


async def open_store(settings: Settings, clock: Clock) -> SqliteStore:
    """Owned by this process until it is closed. Raises what `SqliteStore.open` raises."""
    data_directory.ignore(settings.home)
    return await asyncio.to_thread(
        lambda: SqliteStore.open(settings.home, clock, synchronous=settings.storage.synchronous)
    )


@asynccontextmanager
async def store_at(home: Path, clock: Clock) -> AsyncIterator[Store]:
    """The store in a folder that nobody knows yet, as a restore makes one."""
    store = await asyncio.to_thread(SqliteStore.open, home, clock)
    try:
        yield store
    finally:
        await store.close()


async def with_kept_credentials(settings: Settings, store: Store) -> Settings:
    kept = list(await store.credentials.all())
    if not kept:
        return with_kept(settings, {})
    # What opens them takes time to load.
    from agent_work_orders.work_orders.credentials import opened

    return with_kept(settings, opened(settings.home, kept, keys=settings.storage.secret_key))

"""The data directory with nobody at work in it: for looking, and for upkeep."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agent_work_orders.bootstrap.store import open_store
from agent_work_orders.bootstrap.surroundings import containers, surroundings
from agent_work_orders.clock import Clock, SystemClock
from agent_work_orders.engines.embedded.archive import ArchivedRuns
from agent_work_orders.errors import Conflict
from agent_work_orders.repositories.git import Git
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.sandbox_manager.factory import SandboxFactory
from agent_work_orders.sandbox_manager.local.agent_user import agent_users
from agent_work_orders.sandbox_manager.sandbox import Sandboxes
from agent_work_orders.security.redaction import Redactor
from agent_work_orders.settings import Settings
from agent_work_orders.state_manager.lock import read_owner
from agent_work_orders.state_manager.sqlite.archive import NothingYet, SqliteArchive
from agent_work_orders.state_manager.sqlite.database import DATABASE_NAME
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.state_manager.store import Store
from agent_work_orders.work_orders.context import Context

# Rows of a large journal get their checksums anew in it.
UPGRADE_S, UPGRADE_LOOKS = 20.0, 200


@asynccontextmanager
async def open_archive(settings: Settings, clock: Clock | None = None) -> AsyncIterator[Context]:
    """For looking only: no order is taken up, nothing is written, and another process may be at
    work in the directory. One that does not exist yet is not made."""
    clock = clock or SystemClock()
    with tempfile.TemporaryDirectory(prefix="awo-empty-") as empty:
        home = settings.home
        try:
            archive = await _opened(home, clock)
        except NothingYet:
            home = Path(empty)
            await SqliteStore.open(home, clock, synchronous="NORMAL").close()
            archive = await asyncio.to_thread(SqliteArchive, home, clock)
        try:
            yield _context(settings, home, archive, clock)
        finally:
            archive.close()


async def _opened(home: Path, clock: Clock) -> SqliteArchive:
    """Its owner may be upgrading it just now: that is waited for."""
    if not (home / DATABASE_NAME).exists():
        raise NothingYet
    patience = UPGRADE_S / UPGRADE_LOOKS
    for _ in range(UPGRADE_LOOKS):
        try:
            return await asyncio.to_thread(SqliteArchive, home, clock)
        except Conflict as old:
            if old.code != "schema_other" or read_owner(home) is None:
                raise
        await asyncio.sleep(patience)
    return await asyncio.to_thread(SqliteArchive, home, clock)


@asynccontextmanager
async def open_upkeep(settings: Settings, clock: Clock | None = None) -> AsyncIterator[Context]:
    """The same, owned by this process and writable; no order is taken up."""
    clock = clock or SystemClock()
    store = await open_store(settings, clock)
    try:
        yield _context(settings, settings.home, store, clock)
    finally:
        await store.close()


@asynccontextmanager
async def open_trial(settings: Settings, clock: Clock | None = None) -> AsyncIterator[Sandboxes]:
    """Sandboxes of this machine in a folder of their own, to find out what they protect."""
    with tempfile.TemporaryDirectory(prefix="awo-trial-") as folder:
        mirrors = Mirrors(Path(folder, "mirrors"), Git())
        users = agent_users(settings.agents.agent_uid)
        sandboxes = SandboxFactory(
            Path(folder),
            mirrors,
            clock or SystemClock(),
            users=users,
            containers=containers(settings),
        )
        try:
            await sandboxes.start()
            yield sandboxes
        finally:
            sandboxes.close()


def _context(settings: Settings, home: Path, store: Store, clock: Clock) -> Context:
    around = surroundings(settings, home, store, clock)
    redact = Redactor(settings.secrets).text
    return around.context(settings, store, ArchivedRuns(store.journal), clock, _unlogged, redact)


def _unlogged(order_id: str, event: str, level: str, fields: Mapping[str, Any]) -> None:
    """Whoever only looks writes no log."""

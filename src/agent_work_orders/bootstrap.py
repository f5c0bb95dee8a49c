"""Where the parts meet. Nothing here decides anything."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import structlog

from agent_work_orders import ids
from agent_work_orders.agent_executor import claude_code
from agent_work_orders.agent_executor.registry import Registry
from agent_work_orders.clock import Clock, SystemClock
from agent_work_orders.engines.embedded.archive import ArchivedRuns
from agent_work_orders.engines.embedded.engine import EmbeddedEngine
from agent_work_orders.engines.embedded.lanes import Limits, Ticket
from agent_work_orders.engines.engine import Change
from agent_work_orders.engines.perform import Desk
from agent_work_orders.github_integration.local_forge import LocalForge
from agent_work_orders.observability.logs import OrderFiles
from agent_work_orders.repositories.git import Git
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.sandbox_manager.agent_user import DEFAULT_ID, agent_user
from agent_work_orders.sandbox_manager.processes import home_tag
from agent_work_orders.sandbox_manager.sandboxes import LocalSandboxes
from agent_work_orders.security.redaction import Redactor
from agent_work_orders.settings import Settings
from agent_work_orders.state_manager.records import OrderFilter
from agent_work_orders.state_manager.sqlite.archive import SqliteArchive
from agent_work_orders.state_manager.sqlite.database import DATABASE_NAME
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.tools import toolbox
from agent_work_orders.tools.agent import Agents
from agent_work_orders.tools.workspaces import Workspaces
from agent_work_orders.work_orders.projection import PRIORITIES
from agent_work_orders.work_orders.rooms import Rooms
from agent_work_orders.work_orders.scribe import Scribe
from agent_work_orders.work_orders.shelf import Shelf
from agent_work_orders.work_orders.transcripts import Transcripts

LOCAL_KEY = "local.key"
FEED_KEEP = 50_000


class House(msgspec.Struct, frozen=True, kw_only=True):
    """A running product."""

    settings: Settings
    store: SqliteStore
    engine: EmbeddedEngine
    rooms: Rooms
    local_key: str
    """The token of the local operator."""


@asynccontextmanager
async def open_house(settings: Settings, clock: Clock | None = None) -> AsyncIterator[House]:
    """Everything from the data directory up, running; stopped in order at the end."""
    clock = clock or SystemClock()
    store = await asyncio.to_thread(
        lambda: SqliteStore.open(settings.home, clock, synchronous=settings.synchronous)
    )
    try:
        local_key = _local_key(settings.home)
        redactor = Redactor([local_key, settings.anthropic_api_key])
        files = OrderFiles(settings.home / "logs" / "agent_work_orders", clock)
        log = _Log(store, files, redactor, clock)
        mirrors = Mirrors(settings.home / "mirrors", Git(tag=home_tag(settings.home)))
        user = agent_user(settings.agent_uid or DEFAULT_ID)
        sandboxes = LocalSandboxes(settings.home, mirrors, clock, user=user)
        workspaces = Workspaces(mirrors, sandboxes)
        registry = Registry(clock, claude=_claude(settings))
        transcripts = Transcripts(settings.home / "transcripts")
        forge = LocalForge(settings.home / "reviews")
        agents = Agents(workspaces, registry, sink=transcripts.append, redact=redactor.text)
        desk = Desk(
            toolbox.make(agents, workspaces, mirrors, forge, redactor.text),
            ledger=store.ledger,
            artifacts=store.artifacts,
            clock=clock,
            log=log,
            clean=redactor,
        )
        engine = EmbeddedEngine(
            store.journal, desk, clock, limits=_limits(settings), starts=_starts(store)
        )
        rooms = Rooms(
            engine=engine,
            records=store.records,
            approvals=store.approvals,
            logbook=store.logbook,
            feed=store.feed,
            versions=store.versions,
            ledger=store.ledger,
            artifacts=store.artifacts,
            audit=store.audit,
            keys=store.keys,
            idempotency=store.idempotency,
            mirrors=mirrors,
            sandboxes=sandboxes,
            agents=registry,
            forge=forge,
            transcripts=transcripts,
            shelf=Shelf(),
            catalogue=toolbox.CATALOGUE,
            clock=clock,
            home=settings.home,
            log=log,
            redact=redactor.text,
            queue_until_ms=engine.held_until_ms,
            default_sandbox=settings.default_sandbox,
            default_agent=settings.default_agent,
            git_origins=frozenset(settings.git_origins),
        )
        scribe = Scribe(rooms)
        engine.observe(scribe.observe)
        keeper = _Housekeeper(workspaces)
        engine.observe(keeper.observe)
        await sandboxes.sweep()
        await engine.start()
        await scribe.catch_up()
        open_orders: set[str] = {ids.order_of(run_id) for run_id in engine.open_runs()}
        await sandboxes.reap(open_orders, clock.now_ms())
        await store.feed.trim(FEED_KEEP)
        try:
            yield House(
                settings=settings, store=store, engine=engine, rooms=rooms, local_key=local_key
            )
        finally:
            await engine.stop(drain_s=settings.drain_s)
            scribe.flush()
            await keeper.finish()
            sandboxes.close()
            files.close()
    finally:
        await store.close()


@asynccontextmanager
async def open_archive(settings: Settings, clock: Clock | None = None) -> AsyncIterator[Rooms]:
    """The same rooms for looking only: no order is taken up, nothing is written, and another
    process may be at work in the directory. One that does not exist yet is not made."""
    clock = clock or SystemClock()
    with tempfile.TemporaryDirectory(prefix="awo-empty-") as empty:
        home = settings.home
        if not (home / DATABASE_NAME).exists():
            home = Path(empty)
            await SqliteStore.open(home, clock, synchronous="NORMAL").close()
        archive = await asyncio.to_thread(SqliteArchive, home, clock)
        try:
            yield _archived(settings, home, archive, clock)
        finally:
            archive.close()


@asynccontextmanager
async def open_upkeep(
    settings: Settings, clock: Clock | None = None
) -> AsyncIterator[tuple[Rooms, SqliteStore]]:
    """The store alone, owned by this process and writable; no order is taken up."""
    clock = clock or SystemClock()
    store = await asyncio.to_thread(
        lambda: SqliteStore.open(settings.home, clock, synchronous=settings.synchronous)
    )
    try:
        yield _archived(settings, settings.home, store, clock), store
    finally:
        await store.close()


def _archived(
    settings: Settings, home: Path, archive: SqliteArchive | SqliteStore, clock: Clock
) -> Rooms:
    mirrors = Mirrors(home / "mirrors", Git(tag=home_tag(home)))
    user = agent_user(settings.agent_uid or DEFAULT_ID)
    return Rooms(
        engine=ArchivedRuns(archive.journal),
        records=archive.records,
        approvals=archive.approvals,
        logbook=archive.logbook,
        feed=archive.feed,
        versions=archive.versions,
        ledger=archive.ledger,
        artifacts=archive.artifacts,
        audit=archive.audit,
        keys=archive.keys,
        idempotency=archive.idempotency,
        mirrors=mirrors,
        sandboxes=LocalSandboxes(home, mirrors, clock, user=user),
        agents=Registry(clock, claude=_claude(settings)),
        forge=LocalForge(home / "reviews"),
        transcripts=Transcripts(home / "transcripts"),
        shelf=Shelf(),
        catalogue=toolbox.CATALOGUE,
        clock=clock,
        home=settings.home,
        log=lambda _order, _event, _level, _fields: None,
        redact=Redactor([settings.anthropic_api_key]).text,
        queue_until_ms=lambda _order: None,
        default_sandbox=settings.default_sandbox,
        default_agent=settings.default_agent,
        git_origins=frozenset(settings.git_origins),
    )


class _Housekeeper:
    """Removes an order's sandbox when it ends; its commits stay in the mirror."""

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces
        self._going: set[asyncio.Task[None]] = set()

    def observe(self, change: Change) -> None:
        run = change.after
        if run.parent is None and run.stage == "ended" and change.before.stage != "ended":
            task = asyncio.get_running_loop().create_task(self._workspaces.close(run.run_id))
            self._going.add(task)
            task.add_done_callback(self._going.discard)

    async def finish(self) -> None:
        if self._going:
            await asyncio.wait(self._going)


class _Log:
    """One line: to the order's file, the log table, the feed and the server's own log."""

    def __init__(
        self, store: SqliteStore, files: OrderFiles, redactor: Redactor, clock: Clock
    ) -> None:
        self._store = store
        self._files = files
        self._redactor = redactor
        self._clock = clock
        self._logger = structlog.get_logger()

    def __call__(self, order_id: str, event: str, level: str, fields: Mapping[str, Any]) -> None:
        error = fields.get("exc_info")
        plain = {name: value for name, value in fields.items() if name != "exc_info"}
        clean = self._redactor.value(plain)
        at_ms = self._clock.now_ms()
        if order_id:
            self._files.write(order_id, level, event, clean)
            self._store.logbook.add(order_id, at_ms=at_ms, level=level, event=event, fields=clean)
            line = {"level": level, "event": event, **clean}
            body = msgspec.json.encode(line, enc_hook=str)
            self._store.feed.publish(order_id, "log", at_ms, body)
        more = {"exc_info": error} if error is not None else {}
        getattr(self._logger, level)(event, agent_work_order_id=order_id or None, **clean, **more)


def _claude(settings: Settings) -> claude_code.Settings:
    return claude_code.Settings(
        binary=settings.claude_binary or None,
        base_url=settings.anthropic_base_url or None,
        api_key=settings.anthropic_api_key or None,
        other_user=os.geteuid() == 0,
    )


def _limits(settings: Settings) -> Limits:
    return Limits(
        running_tasks=settings.running_tasks,
        orders_per_repository=settings.orders_per_repository or None,
        starts_per_repository_per_hour=settings.starts_per_repository_per_hour or None,
        starts_per_minute=settings.starts_per_minute or None,
    )


def _starts(store: SqliteStore) -> Any:
    """Orders begun since a moment, from the records, for the rate limits."""

    def since(at_ms: int) -> Iterable[tuple[Ticket, int]]:
        page = store.records.page(OrderFilter(), order_by="created_at", limit=500)
        rows = [
            row
            for row in page.agent_work_orders
            if row.execution_started_at_ms is not None and row.execution_started_at_ms >= at_ms
        ]
        for row in sorted(rows, key=lambda row: row.execution_started_at_ms or 0):
            ticket = Ticket(
                order_id=row.agent_work_order_id,
                repository=row.repository,
                priority=PRIORITIES.index(row.priority),
                metered=row.created_by != "local",
            )
            yield ticket, row.execution_started_at_ms or 0

    return since


def _local_key(home: Path) -> str:
    """The local operator's token: made at the first start, readable by this user only."""
    path = home / LOCAL_KEY
    try:
        return path.read_text("ascii").strip()
    except FileNotFoundError:
        token = f"local.{ids.new_secret()}"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(token + "\n")
            file.flush()
            os.fsync(file.fileno())
        return token

"""Where the parts meet. Nothing here decides anything."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from agent_work_orders import ids
from agent_work_orders.agent_executor import claude_code
from agent_work_orders.agent_executor.registry import Registry
from agent_work_orders.clock import Clock, SystemClock
from agent_work_orders.engines.embedded.archive import ArchivedRuns
from agent_work_orders.engines.embedded.engine import EmbeddedEngine
from agent_work_orders.engines.embedded.lanes import Limits, Starts, Takes, Ticket
from agent_work_orders.engines.perform import Performer
from agent_work_orders.github_integration.account import Account
from agent_work_orders.github_integration.forges import Forges
from agent_work_orders.github_integration.local_forge import LocalForge
from agent_work_orders.github_integration.quota_memory import KeptQuota
from agent_work_orders.observability.logs import OrderFiles
from agent_work_orders.observability.order_log import OrderLog, Sink
from agent_work_orders.repositories.git import Git
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.sandbox_manager.agent_user import agent_users
from agent_work_orders.sandbox_manager.processes import home_tag
from agent_work_orders.sandbox_manager.sandboxes import LocalSandboxes
from agent_work_orders.security.links import Links
from agent_work_orders.security.redaction import Redactor
from agent_work_orders.settings import Settings, with_kept
from agent_work_orders.state_manager.files import data_directory
from agent_work_orders.state_manager.files import local_key as local_keys
from agent_work_orders.state_manager.records import MAX_LIMIT, OrderRecord
from agent_work_orders.state_manager.sqlite.archive import SqliteArchive
from agent_work_orders.state_manager.sqlite.database import DATABASE_NAME
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.tools import toolbox
from agent_work_orders.tools.agent import Agents
from agent_work_orders.tools.agent_failure import Waits
from agent_work_orders.tools.workspaces import Workspaces
from agent_work_orders.work_orders.backlog import Backlog
from agent_work_orders.work_orders.cache import Cache
from agent_work_orders.work_orders.housekeeping import Housekeeper
from agent_work_orders.work_orders.incoming import rules
from agent_work_orders.work_orders.incoming.intake import Intake
from agent_work_orders.work_orders.outgoing.progress import ProgressReporter
from agent_work_orders.work_orders.outgoing.replies import Replies
from agent_work_orders.work_orders.questions import Questions
from agent_work_orders.work_orders.read_side import projection
from agent_work_orders.work_orders.read_side.recorder import Recorder
from agent_work_orders.work_orders.rooms import Rooms
from agent_work_orders.work_orders.transcripts import Transcripts

LOCAL_KEY = local_keys.NAME
FEED_KEEP = 50_000


class House(msgspec.Struct, frozen=True, kw_only=True):
    """A running product."""

    settings: Settings
    store: SqliteStore
    engine: EmbeddedEngine
    rooms: Rooms
    local_key: str
    """The token of the local operator."""
    links: Links
    """Ways in that were offered to browsers."""
    intake: Intake
    """Takes up webhook deliveries while somebody runs it: the server does, a command does not."""


@asynccontextmanager
async def open_house(
    settings: Settings,
    clock: Clock | None = None,
    *,
    check: Callable[[SqliteStore], None] = lambda _store: None,
    takes: Takes = lambda _order_id: True,
    redactor: Redactor | None = None,
) -> AsyncIterator[House]:
    """Everything from the data directory up, running; stopped in order at the end. `check` may
    refuse before any order is taken up; open orders that `takes` leaves out stay as they are.
    A given `redactor` learns every secret that becomes known here."""
    clock = clock or SystemClock()
    async with AsyncExitStack() as at_end:
        store = await _store(settings, clock)
        at_end.push_async_callback(store.close)
        check(store)
        files = OrderFiles(settings.home / "logs" / "agent_work_orders", clock)
        at_end.callback(files.close)
        local_key = local_keys.ensure(settings.home)
        settings = _with_kept(settings, store)
        (redactor := redactor or Redactor()).remember([local_key, *settings.secrets])
        log = OrderLog(files, clock, redact=redactor.value, sink=_log_sink(store))
        sandboxes = _sandboxes(settings, settings.home, clock)
        at_end.callback(sandboxes.close)
        plain = _rooms(settings, settings.home, store, sandboxes, clock)
        looking = await _with_github(plain, settings, store, redactor, at_end)
        workspaces = Workspaces(looking.mirrors, sandboxes)
        engine = EmbeddedEngine(
            store.journal,
            _performer(looking, workspaces, log, redactor, settings),
            clock,
            limits=_limits(settings),
            starts=_starts(store),
            takes=takes,
            first=projection.first,
        )
        store.writer.on_trouble = _telling(asyncio.get_running_loop(), engine)
        rooms = msgspec.structs.replace(
            looking,
            engine=engine,
            queue_until_ms=engine.held_until_ms,
            log=log,
            redact=redactor.text,
        )
        keeper = Housekeeper(workspaces, rooms, engine.open_runs)
        recorder, progress, questions = Recorder(rooms), ProgressReporter(rooms), Questions(rooms)
        for one in (recorder, keeper, progress, questions):
            engine.observe(one.observe)
        for room in (sandboxes, looking.mirrors, rooms.forge):
            await room.sweep()
        for observer in (progress, keeper, recorder):
            at_end.push_async_callback(observer.finish)
        at_end.push_async_callback(engine.stop, drain_s=settings.drain_s)
        at_end.push_async_callback(rooms.backlog.settled)
        intake = _intake(settings, rooms, progress)
        await engine.start()
        for one in (questions, recorder):
            await one.catch_up(engine.open_runs())
        await keeper.reap(sandboxes, set(map(ids.order_of, engine.open_runs())), clock.now_ms())
        await store.feed.trim(FEED_KEEP)
        await progress.start(engine.open_runs())
        yield House(
            settings=settings,
            store=store,
            engine=engine,
            rooms=rooms,
            local_key=local_key,
            links=Links(clock),
            intake=intake,
        )


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
            yield _rooms(settings, home, archive, _sandboxes(settings, home, clock), clock)
        finally:
            archive.close()


@asynccontextmanager
async def open_upkeep(
    settings: Settings, clock: Clock | None = None
) -> AsyncIterator[tuple[Rooms, SqliteStore]]:
    """The store alone, owned by this process and writable; no order is taken up."""
    clock = clock or SystemClock()
    store = await _store(settings, clock)
    try:
        sandboxes = _sandboxes(settings, settings.home, clock)
        yield _rooms(settings, settings.home, store, sandboxes, clock), store
    finally:
        await store.close()


async def _store(settings: Settings, clock: Clock) -> SqliteStore:
    data_directory.ignore(settings.home)
    return await asyncio.to_thread(
        lambda: SqliteStore.open(settings.home, clock, synchronous=settings.synchronous)
    )


def _with_kept(settings: Settings, store: SqliteStore) -> Settings:
    kept = list(store.credentials.all())
    if not kept:
        return with_kept(settings, {})
    # What opens them takes time to load.
    from agent_work_orders.work_orders.credentials import opened

    return with_kept(settings, opened(settings.home, kept, keys=settings.secret_key))


def _sandboxes(settings: Settings, home: Path, clock: Clock) -> LocalSandboxes:
    users = agent_users(settings.agent_uid)
    mirrors = Mirrors(home / "mirrors", Git(tag=home_tag(home)))
    return LocalSandboxes(home, mirrors, clock, users=users)


def _telling(
    loop: asyncio.AbstractEventLoop, engine: EmbeddedEngine
) -> Callable[[Exception], None]:
    def tell(error: Exception) -> None:
        with suppress(RuntimeError):  # the loop was closed: nobody is left to be told
            loop.call_soon_threadsafe(engine.halt, error)

    return tell


def _performer(
    rooms: Rooms, workspaces: Workspaces, log: OrderLog, redactor: Redactor, settings: Settings
) -> Performer:
    agents = Agents(
        workspaces,
        rooms.agents,
        sink=rooms.transcripts.append,
        recall=rooms.transcripts.newest,
        redact=redactor.text,
        waits=Waits.of(settings.model_wait_floor_s, settings.model_wait_longest_s),
    )
    return Performer(
        toolbox.make(agents, workspaces, rooms.mirrors, rooms.forges, redactor),
        ledger=rooms.ledger,
        artifacts=rooms.artifacts,
        clock=rooms.clock,
        log=log,
        clean=redactor,
        before=workspaces.need_approved,
    )


def _rooms(
    settings: Settings,
    home: Path,
    store: SqliteArchive | SqliteStore,
    sandboxes: LocalSandboxes,
    clock: Clock,
) -> Rooms:
    """The rooms for looking; who works in them replaces the engine and the log."""
    local = LocalForge(home / "reviews")
    sandboxes.mirrors.branches = store.branches
    return Rooms(
        engine=ArchivedRuns(store.journal),
        records=store.records,
        approvals=store.approvals,
        logbook=store.logbook,
        feed=store.feed,
        versions=store.versions,
        ledger=store.ledger,
        artifacts=store.artifacts,
        audit=store.audit,
        keys=store.keys,
        credentials=store.credentials,
        idempotency=store.idempotency,
        deliveries=store.deliveries,
        subjects=store.subjects,
        mirrors=sandboxes.mirrors,
        sandboxes=sandboxes,
        agents=Registry(clock, claude=_claude(settings), script=_script(settings)),
        forge=local,
        forges=Forges(local),
        transcripts=Transcripts(home / "transcripts"),
        cache=Cache(),
        backlog=Backlog(),
        catalogue=toolbox.CATALOGUE,
        clock=clock,
        home=settings.home,
        log=lambda _order, _event, _level, _fields: None,
        redact=Redactor(settings.secrets).text,
        queue_until_ms=lambda _order: None,
        default_sandbox=settings.default_sandbox,
        default_agent=settings.default_agent,
        git_origins=frozenset(settings.git_origins),
        four_eyes=settings.four_eyes,
        public_url=settings.public_url,
    )


async def _with_github(
    rooms: Rooms,
    settings: Settings,
    store: SqliteStore,
    redactor: Redactor,
    at_end: AsyncExitStack,
) -> Rooms:
    """The same rooms, with GitHub where it is configured."""
    account = Account(
        api_url=settings.github_api_url,
        server_url=settings.github_server_url,
        app_id=settings.github_app_id,
        private_key=settings.github_private_key,
        installation_id=settings.github_installation_id,
        token=settings.github_token,
        timeout_s=settings.github_timeout_s,
        public_url=settings.public_url,
    )
    if not account.usable:
        return rooms
    # What speaks HTTP and signs takes time to load: only for those who need it.
    from agent_work_orders.github_integration.connection import connect

    memory = KeptQuota(store.quota)
    github = await at_end.enter_async_context(
        connect(account, memory, rooms.clock, learn=redactor.add)
    )
    rooms.mirrors.git.logins = github.logins
    forges = Forges(rooms.forge, github.forge, settings.github_server_url)
    return msgspec.structs.replace(
        rooms, forges=forges, hook=github.hook, quota_report=github.governor.report
    )


def _intake(settings: Settings, rooms: Rooms, replies: Replies) -> Intake:
    given = rules.DEFAULTS
    if settings.github_rules:
        given = rules.parse(Path(settings.github_rules).read_text("utf-8"), settings.github_rules)
    return Intake(
        rooms,
        rooms.forges.hub,
        server_url=settings.github_server_url,
        server_rules=given,
        replies=replies,
    )


def _log_sink(store: SqliteStore) -> Sink:
    """The log table and the feed of changes."""

    def keep(order_id: str, at_ms: int, level: str, event: str, fields: dict[str, Any]) -> None:
        entry = store.logbook.add(order_id, at_ms=at_ms, level=level, event=event, fields=fields)
        said = {"level": level, "event": entry.event, **entry.fields, "n": entry.n}
        body = msgspec.json.encode(said, enc_hook=str)
        store.feed.publish(order_id, "log", at_ms, body)

    return keep


def _script(settings: Settings) -> str:
    return Path(settings.agent_script).read_text("utf-8") if settings.agent_script else ""


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


def _starts(store: SqliteStore) -> Starts:
    """Orders begun since a moment, from the records, for the rate limits."""

    def since(at_ms: int) -> Iterable[tuple[Ticket, int]]:
        rows: list[OrderRecord] = []
        seen = 0
        while True:
            page = store.records.page(order_by="updated_at", limit=MAX_LIMIT, offset=seen)
            recent = [row for row in page.agent_work_orders if row.updated_at_ms >= at_ms]
            rows += [row for row in recent if (row.execution_started_at_ms or 0) >= at_ms]
            seen += len(page.agent_work_orders)
            if len(recent) < len(page.agent_work_orders) or not page.has_more:
                break
        for row in sorted(rows, key=lambda row: row.execution_started_at_ms or 0):
            ticket = Ticket(
                order_id=row.agent_work_order_id,
                repository=row.repository,
                priority=projection.PRIORITIES.index(row.priority),
                metered=row.created_by != "local",
            )
            yield ticket, row.execution_started_at_ms or 0

    return since

"""The running product: everything from the data directory up."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import msgspec

from agent_work_orders.bootstrap.duties import Duties, duties
from agent_work_orders.bootstrap.engine import embedded_engine, performer_of
from agent_work_orders.bootstrap.github import connect
from agent_work_orders.bootstrap.store import open_store, with_kept_credentials
from agent_work_orders.bootstrap.surroundings import surroundings
from agent_work_orders.clock import Clock, SystemClock
from agent_work_orders.engines.engine import Engine
from agent_work_orders.observability.logs import OrderFiles
from agent_work_orders.observability.order_log import OrderLog
from agent_work_orders.security.links import Links
from agent_work_orders.security.redaction import Redactor
from agent_work_orders.settings import Settings
from agent_work_orders.state_manager.files import local_key as local_keys
from agent_work_orders.state_manager.lock import OwnerLock
from agent_work_orders.state_manager.store import Store
from agent_work_orders.tools.workspaces import Workspaces
from agent_work_orders.work_orders import damage_report
from agent_work_orders.work_orders.context import GitHubLink, LiveContext
from agent_work_orders.work_orders.read_side.log_sink import log_sink

if TYPE_CHECKING:
    from agent_work_orders.github_integration.connection import Connection


class House(msgspec.Struct, frozen=True, kw_only=True):
    settings: Settings
    store: Store
    engine: Engine
    context: LiveContext
    duties: Duties
    lock: OwnerLock
    """That this process owns the data directory."""
    local_key: str
    """The token of the local operator."""
    links: Links
    """Ways in that were offered to browsers."""


@asynccontextmanager
async def open_house(
    settings: Settings,
    clock: Clock | None = None,
    *,
    check: Callable[[Store], Awaitable[None]] | None = None,
    takes: Callable[[str], bool] = lambda _order_id: True,
    redactor: Redactor | None = None,
) -> AsyncIterator[House]:
    """Everything, running; stopped in order at the end. `check` may refuse before any order is
    taken up; open orders that `takes` leaves out stay as they are. A given `redactor` learns every
    secret that becomes known here."""
    clock = clock or SystemClock()
    async with AsyncExitStack() as at_end:
        store = await open_store(settings, clock)
        at_end.push_async_callback(store.close)
        if check is not None:
            await check(store)
        files = OrderFiles(settings.home / "logs" / "agent_work_orders", clock)
        at_end.callback(files.close)
        local_key = local_keys.ensure(settings.home)
        settings = await with_kept_credentials(settings, store)
        (redactor := redactor or Redactor()).remember([local_key, *settings.secrets])
        log = OrderLog(files, clock, redact=redactor.value, sink=log_sink(store))
        github = await connect(settings, store, clock, learn=redactor.add, at_end=at_end)
        around = surroundings(settings, settings.home, store, clock, github)
        at_end.callback(around.sandboxes.close)
        workspaces = Workspaces(around.mirrors, around.sandboxes)
        performer = performer_of(settings, around, store, workspaces, log, clock, redactor)
        engine = embedded_engine(settings, store, performer, clock, takes)
        store.writer.on_mended = damage_report.tell(store, log)
        known = around.context(settings, store, engine, clock, log, redactor.text)
        context = LiveContext(
            **{**msgspec.structs.asdict(known), "runs": engine},
            workspaces=workspaces,
            github=None if github is None else _link(github),
        )
        background = duties(settings, context, workspaces)
        await background.before_start()
        background.observe(at_end)
        at_end.push_async_callback(engine.stop, drain_s=settings.server.drain_s)
        at_end.push_async_callback(context.backlog.settled)
        await engine.start()
        await background.catch_up()
        yield House(
            settings=settings,
            store=store,
            engine=engine,
            context=context,
            duties=background,
            lock=store.lock,
            local_key=local_key,
            links=Links(clock),
        )


def _link(github: Connection) -> GitHubLink:
    return GitHubLink(
        quota_report=github.governor.report, hook=github.hook, check=github.check.examine
    )

"""The engine with its tools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from agent_work_orders.bootstrap.surroundings import Surroundings
from agent_work_orders.clock import Clock
from agent_work_orders.engines.embedded.engine import EmbeddedEngine
from agent_work_orders.engines.embedded.lanes import Limits, Takes
from agent_work_orders.engines.perform import Performer
from agent_work_orders.observability.order_log import OrderLog
from agent_work_orders.security.redaction import Redactor
from agent_work_orders.settings import Settings
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.state_manager.store import Store
from agent_work_orders.tools import toolbox
from agent_work_orders.tools.agent import Agents
from agent_work_orders.tools.agent_failure import Waits
from agent_work_orders.tools.delivery import delivery
from agent_work_orders.tools.workspaces import Workspaces
from agent_work_orders.work_orders.read_side import projection
from agent_work_orders.work_orders.read_side.recent_starts import recent_starts


def embedded_engine(
    settings: Settings, store: SqliteStore, performer: Performer, clock: Clock, takes: Takes
) -> EmbeddedEngine:
    """It halts when the store cannot write any more."""
    engine = EmbeddedEngine(
        store.journal,
        performer,
        clock,
        limits=_limits(settings),
        starts=recent_starts(store.records),
        takes=takes,
        first=projection.first,
    )
    store.writer.on_trouble = _halting(asyncio.get_running_loop(), engine)
    return engine


def performer_of(
    settings: Settings,
    around: Surroundings,
    store: Store,
    workspaces: Workspaces,
    log: OrderLog,
    clock: Clock,
    redactor: Redactor,
) -> Performer:
    agents = Agents(
        workspaces,
        around.agents,
        sink=around.transcripts.append,
        recall=around.transcripts.newest,
        redact=redactor.text,
        waits=Waits.of(settings.agents.model_wait_floor_s, settings.agents.model_wait_longest_s),
        idle_s=settings.agents.agent_idle_s or None,
        may_deliver=delivery(around.forges),
    )
    return Performer(
        toolbox.make(agents, workspaces, around.mirrors, around.forges, redactor),
        ledger=store.ledger,
        artifacts=store.artifacts,
        clock=clock,
        log=log,
        clean=redactor,
        before=workspaces.need_approved,
    )


def _halting(
    loop: asyncio.AbstractEventLoop, engine: EmbeddedEngine
) -> Callable[[Exception], None]:
    def halt(error: Exception) -> None:
        with suppress(RuntimeError):  # the loop was closed: nobody is left to be told
            loop.call_soon_threadsafe(engine.halt, error)

    return halt


def _limits(settings: Settings) -> Limits:
    return Limits(
        running_tasks=settings.limits.running_tasks,
        orders_per_repository=settings.limits.orders_per_repository or None,
        starts_per_repository_per_hour=settings.limits.starts_per_repository_per_hour or None,
        starts_per_minute=settings.limits.starts_per_minute or None,
    )

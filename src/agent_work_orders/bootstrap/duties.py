"""What goes on in the background, all of it: who observes the engine, what is made up for at a
start, which loops run while a server serves, and what has to end before the store closes."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec

from agent_work_orders import ids
from agent_work_orders.github_integration.account import Need
from agent_work_orders.settings import Settings
from agent_work_orders.state_manager.deliveries import DAY_MS
from agent_work_orders.tools import toolbox
from agent_work_orders.tools.workspaces import Workspaces
from agent_work_orders.work_orders.context import Context, LiveContext
from agent_work_orders.work_orders.housekeeping import Housekeeper
from agent_work_orders.work_orders.incoming import rules
from agent_work_orders.work_orders.incoming.intake import Intake
from agent_work_orders.work_orders.incoming.missed_deliveries import MissedDeliveries
from agent_work_orders.work_orders.incoming.needs import needs
from agent_work_orders.work_orders.outgoing.progress import ProgressReporter
from agent_work_orders.work_orders.questions import Questions
from agent_work_orders.work_orders.read_side.recorder import Recorder

FEED_KEEP = 50_000
IDEMPOTENCY_KEEP_MS = 90 * DAY_MS
"""Longer than a delivery is kept (five weeks): what asked for an order never makes a second."""


class Duties(msgspec.Struct, frozen=True, kw_only=True):
    context: LiveContext
    recorder: Recorder
    housekeeper: Housekeeper
    progress: ProgressReporter
    questions: Questions
    intake: Intake
    """Takes up webhook deliveries while a server serves; a command does not."""
    missed: MissedDeliveries | None
    own_rules: rules.Rules
    """The server's."""

    def observe(self, at_end: AsyncExitStack) -> None:
        """See every change of a run from now on; `at_end` waits for what is under way then."""
        for one in (self.recorder, self.housekeeper, self.progress, self.questions):
            self.context.runs.observe(one.observe)
        for observer in (self.progress, self.housekeeper, self.recorder):
            at_end.push_async_callback(observer.finish)

    async def before_start(self) -> None:
        """Clear what an earlier server left half-done, before anything is tried again."""
        for part in (self.context.sandboxes, self.context.mirrors, self.context.reviews):
            await part.sweep()

    async def catch_up(self) -> None:
        """After the engine took up its runs: what was not told, asked or removed before."""
        context, open_runs = self.context, await self.context.runs.open_runs()
        now_ms = context.clock.now_ms()
        for one in (self.questions, self.recorder):
            await one.catch_up(open_runs)
        await self.housekeeper.reap(context.sandboxes, set(map(ids.order_of, open_runs)), now_ms)
        await context.store.feed.trim(FEED_KEEP)
        await context.store.idempotency.forget_before(now_ms - IDEMPOTENCY_KEEP_MS)
        await self.progress.start(open_runs)

    def while_serving(self) -> list[asyncio.Task[None]]:
        """The loops of a server. Its socket listens already: what is redelivered waits there."""
        loop = asyncio.get_running_loop()
        tasks = [loop.create_task(self.intake.run())]
        if self.missed is not None:
            tasks.append(loop.create_task(self.missed.run()))
        if self.context.github is not None:
            tasks.append(loop.create_task(credentials_checked(self.context, self.own_rules)))
        return tasks


async def credentials_checked(context: LiveContext, own_rules: rules.Rules) -> None:
    """Said in the log at a start, and not by the first order that fails."""
    check = context.github.check if context.github is not None else None
    if check is None:
        return
    for one in await check(await needed(context, own_rules)):
        if one.status != "ok":
            fields = {"about": one.about, "error": one.detail, "hint": one.hint}
            context.log("", "github_lacking", one.status, fields)


async def needed(context: Context, own_rules: rules.Rules) -> list[Need]:
    """What the operator's rules and workflows ask for beyond what every order does."""
    return await asyncio.to_thread(needs, context, own_rules, toolbox.NEEDS)


def duties(settings: Settings, context: LiveContext, workspaces: Workspaces) -> Duties:
    progress = ProgressReporter(context)
    hook = None if context.github is None else context.github.hook
    own_rules = server_rules(settings)
    asked_again = hook is not None and bool(settings.github.webhook_secret)
    return Duties(
        context=context,
        recorder=Recorder(context),
        housekeeper=Housekeeper(workspaces, context),
        progress=progress,
        questions=Questions(context),
        intake=Intake(
            context,
            context.forges.hub,
            server_url=settings.github.server_url,
            server_rules=own_rules,
            replies=progress,
        ),
        missed=MissedDeliveries(context, hook) if hook is not None and asked_again else None,
        own_rules=own_rules,
    )


def server_rules(settings: Settings) -> rules.Rules:
    """The server's own. RulesInvalid."""
    if not settings.github.rules:
        return rules.DEFAULTS
    return rules.parse(Path(settings.github.rules).read_text("utf-8"), settings.github.rules)

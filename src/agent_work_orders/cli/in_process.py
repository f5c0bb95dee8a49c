"""The seam kept by this process itself, over the same use cases that the API calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from agent_work_orders.api import views
from agent_work_orders.cli.following import needs_person
from agent_work_orders.cli.patch import Patch
from agent_work_orders.sandbox_manager.terminal import Terminal
from agent_work_orders.security.roles import LOCAL_OPERATOR as ME
from agent_work_orders.state_manager.logbook import LogFilter
from agent_work_orders.state_manager.records import OrderFilter
from agent_work_orders.work_orders import (
    approvals,
    commands,
    find,
    inspect,
    sandbox_programs,
    sandboxes,
    steer,
    submit,
    transcript_pages,
    workflows,
)
from agent_work_orders.work_orders.context import Context, LiveContext
from agent_work_orders.work_orders.read_side import projection
from agent_work_orders.workflow_engine.definition import parse

if TYPE_CHECKING:
    from agent_work_orders.cli.client import Json, Output, Verb
    from agent_work_orders.cli.door import Door
    from agent_work_orders.cli.keyboard import Keyboard

# More than run beside each other in any terminal; the rest follow when these have ended.
MOST_ORDERS = 500


class LookingInProcess:
    remote = False

    def __init__(self, context: Context) -> None:
        self._context = context

    async def find(self, wanted: str) -> str:
        """The whole id of the order that is meant."""
        return (await find.record_of(self._context, wanted, ME)).agent_work_order_id

    async def check(self, order: Json) -> None:
        await submit.check(self._context, msgspec.convert(order, submit.NewOrder), ME)

    async def orders(self, **wanted: Any) -> Json:
        limit, offset = wanted.pop("limit", 50), wanted.pop("offset", 0)
        page = await inspect.page(
            self._context, ME, OrderFilter(**wanted), limit=limit, offset=offset
        )
        return {
            "agent_work_orders": [views.summary(row) for row in page.agent_work_orders],
            "total_count": page.total_count,
            "has_more": page.has_more,
        }

    async def order(self, wanted: str) -> Json:
        shown = await inspect.show(self._context, wanted, ME)
        return views.summary(shown.record) | views.counts(shown.progress)

    async def watch(self, wanted: str) -> tuple[Json, list[Json]]:
        row = await find.record_of(self._context, wanted, ME)
        run = await find.run_of(self._context, row.agent_work_order_id)
        until = self._context.runs.held_until_ms(run.run_id)
        record = projection.record(run, row.run_seq, until)
        return views.summary(record), [views.task(one) for one in projection.tasks(run)]

    async def tasks(self, wanted: str) -> list[Json]:
        return [views.task(one) for one in await inspect.tasks(self._context, wanted, ME)]

    async def logs(self, wanted: str, *, limit: int, offset: int, level: str | None = None) -> Json:
        row = await find.record_of(self._context, wanted, ME)
        lines = LogFilter(level=level)
        page = await inspect.logs(self._context, wanted, ME, lines, limit=limit, offset=offset)
        return {
            "agent_work_order_id": row.agent_work_order_id,
            "log_entries": [views.log_entry(entry) for entry in page.log_entries],
            "total_count": page.total_count,
            "has_more": page.has_more,
        }

    async def transcript(
        self, wanted: str, task: str | None, *, after: int = 0, search: str | None = None
    ) -> Json:
        if search is None:
            page = await transcript_pages.page(self._context, wanted, ME, task=task, after=after)
        else:
            page = await transcript_pages.search(self._context, wanted, ME, search, task=task)
        return views.transcript_page(page)

    async def patch(self, wanted: str) -> Patch:
        row = await find.record_of(self._context, wanted, ME)
        made, task = await inspect.patch(self._context, row.agent_work_order_id, ME)
        return Patch(
            order_id=row.agent_work_order_id,
            content=made.text,
            truncated=made.truncated,
            unfinished_task=task,
        )

    async def artifacts(self, wanted: str) -> list[Json]:
        row = await find.record_of(self._context, wanted, ME)
        found = await inspect.artifacts(self._context, row.agent_work_order_id, ME)
        return [views.artifact(row.agent_work_order_id, one) for one in found]

    async def artifact(self, wanted: str, sha256: str) -> bytes:
        return (await inspect.artifact(self._context, wanted, sha256, ME))[1]

    async def approvals(self, wanted: str | None = None) -> list[Json]:
        if wanted is None:
            found = await approvals.asked(self._context, ME)
        else:
            every = await approvals.of_order(self._context, wanted, ME)
            found = [one for one in every if one.state == "asked"]
        return [views.approval(one) for one in found]

    async def workflows(self) -> list[Json]:
        known = workflows.known(self._context)
        return [views.workflow_summary(one) for _, one in sorted(known.items())]

    async def workflow(self, name: str) -> Json:
        found = workflows.find(self._context, name)
        compiled = workflows.compile_source(self._context, found.source, name)
        return views.workflow(found, compiled.plan, compiled.plan_hash)

    async def lint(self, source: str, file: str) -> Json:
        compiled = workflows.compile_source(self._context, source, file)
        known = workflows.Known(definition=parse(source, file), source=source, origin="user")
        return views.workflow(known, compiled.plan, compiled.plan_hash)

    async def commands(self, repository: str | None, base: str | None) -> Json:
        where = commands.Where(repository=repository, base=base)
        found: Json = msgspec.to_builtins(await commands.listing(self._context, where, ME))
        return found

    async def command(self, name: str, repository: str | None, base: str | None) -> Json:
        where = commands.Where(repository=repository, base=base)
        found: Json = msgspec.to_builtins(await commands.show(self._context, name, where, ME))
        return found

    async def tools(self) -> list[Json]:
        return [msgspec.to_builtins(info) for _, info in sorted(self._context.catalogue.items())]

    async def sandboxes(self, **wanted: Any) -> Json:
        limit, offset = wanted.pop("limit", 50), wanted.pop("offset", 0)
        if wanted.get("order_id"):
            wanted["order_id"] = await self.find(wanted["order_id"])
        asked = sandboxes.Filter(**wanted)
        return views.sandbox_page(
            await sandboxes.page(self._context, ME, asked, limit=limit, offset=offset)
        )

    async def sandbox(self, wanted: str) -> Json:
        return views.sandbox_shown(await sandboxes.show(self._context, wanted, ME))


class InProcess(LookingInProcess):
    def __init__(self, context: LiveContext) -> None:
        super().__init__(context)
        self._live = context

    async def create(self, order: Json) -> Json:
        made = await submit.submit(self._live, msgspec.convert(order, submit.NewOrder), ME)
        return views.summary(made)

    async def prompt(self, wanted: str, text: str) -> Json:
        row = await find.record_of(self._live, wanted, ME)
        prompt_id = await steer.prompt(self._live, wanted, text, ME)
        return {
            "agent_work_order_id": row.agent_work_order_id,
            "prompt_accepted": True,
            "prompt_id": prompt_id,
        }

    async def steer(self, wanted: str, verb: Verb) -> Json:
        context = self._live
        match verb:
            case "cancel":
                record = await steer.cancel(context, wanted, ME)
            case "pause":
                record = await steer.pause(context, wanted, ME)
            case "resume":
                record = await steer.resume(context, wanted, ME)
            case "rollback":
                record = await steer.rollback(context, wanted, ME)
        return views.summary(record)

    async def retry(
        self, wanted: str, task: str | None, *, text: str, agent_timeout_s: float | None
    ) -> Json:
        return views.summary(
            await steer.retry(
                self._live, wanted, ME, task, text=text, agent_timeout_s=agent_timeout_s
            )
        )

    async def override(
        self, wanted: str, task: str, action: Literal["skip", "succeed", "retry"], outputs: Json
    ) -> Json:
        record = await steer.override(
            self._live, wanted, ME, path=task, action=action, outputs=outputs
        )
        return views.summary(record)

    async def decide(
        self, approval_id: str, *, approved: bool, comment: str, subject_hash: str
    ) -> Json:
        decided = await approvals.decide(
            self._live,
            approval_id,
            ME,
            approved=approved,
            comment=comment,
            subject_hash=subject_hash,
        )
        return views.approval(decided)

    async def destroy_sandbox(self, wanted: str, *, force: bool) -> Json:
        done = await sandboxes.destroy(self._live, wanted, ME, force=force)
        return views.sandbox_destroyed(done)

    async def run_program(
        self, wanted: str, argv: list[str], timeout_s: float, output: Output
    ) -> Json:
        async with sandbox_programs.entered(self._live, wanted, ME, argv) as inside:
            done = await inside.run(argv, timeout_s, output)
        return views.program_end(inside, done)

    async def run_terminal(self, wanted: str, argv: list[str], keyboard: Keyboard) -> Json:
        argv = argv or list(sandbox_programs.SHELL)
        async with sandbox_programs.entered(self._live, wanted, ME, argv) as inside:
            terminal = Terminal(*keyboard.size(), keyboard.show)
            keyboard.connect(terminal.type, terminal.resize)
            try:
                longest_s = sandbox_programs.LONGEST_S
                done = await inside.attach(argv, terminal, keyboard.kind, longest_s)
            finally:
                terminal.close()
                keyboard.release()
        return views.program_end(inside, done)

    async def going_on(self) -> list[Json]:
        return []

    async def leave(self) -> bool:
        return True


class AtWork(InProcess):
    """The same, with somebody at work and a door at which others ask."""

    def __init__(self, context: LiveContext, door: Door) -> None:
        super().__init__(context)
        self._door = door

    async def going_on(self) -> list[Json]:
        page = await self.orders(status=("pending", "running", "waiting"), limit=MOST_ORDERS)
        return [
            order
            for order in page["agent_work_orders"]
            if self._live.runs.goes_on(order["agent_work_order_id"]) and not needs_person(order)
        ]

    async def leave(self) -> bool:
        await self._door.close()
        if not await self.going_on():
            return True
        self._door.open()
        return False

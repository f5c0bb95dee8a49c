"""Parts of the product inside this process, driven from plain functions turn by turn."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from agent_work_orders.bootstrap import House, open_house
from agent_work_orders.clock import SystemClock
from agent_work_orders.engines.engine import Change
from agent_work_orders.ids import new_id
from agent_work_orders.observability import logs
from agent_work_orders.repositories import url
from agent_work_orders.repositories.git import Git
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.sandbox_manager.local.sandboxes import LocalSandboxes
from agent_work_orders.sandbox_manager.sandbox import Spec
from agent_work_orders.security.roles import LOCAL_OPERATOR
from agent_work_orders.settings import changed, load
from agent_work_orders.work_orders import submit
from benchmarks.rounds import Unable

ORDER_LIMIT_S = 60.0


class Starter:
    """Opens git_worktree sandboxes of one repository."""

    def __init__(self, loop: asyncio.Runner, sandboxes: LocalSandboxes, spec: Spec) -> None:
        self._loop = loop
        self._sandboxes = sandboxes
        self._spec = spec

    def first_command(self, number: int) -> None:
        self._loop.run(self._first_command())

    async def _first_command(self) -> None:
        spec = msgspec.structs.replace(self._spec, order_id=new_id("wo"))
        sandbox = self._sandboxes.open(spec)
        await sandbox.setup()
        done = await sandbox.execute(["true"], timeout_s=60)
        if not done.success:
            raise Unable(f"the first command ended with {done.exit_code}")


@contextlib.contextmanager
def starter(home: Path, origin: Path) -> Iterator[Starter]:
    """A factory whose supervisor runs and whose mirror is fresh, as in a server at work."""
    with asyncio.Runner() as loop:
        mirrors = Mirrors(home / "mirrors", Git())
        sandboxes = LocalSandboxes(home, mirrors, SystemClock())
        try:
            loop.run(sandboxes.start())
            mirror = loop.run(mirrors.ensure(url.parse(str(origin))))
            base = mirror.resolve_base("main")
            yield Starter(
                loop,
                sandboxes,
                Spec(
                    order_id="",
                    sandbox_type="git_worktree",
                    repository=mirror.key,
                    base_sha=base.sha,
                    branch="work",
                ),
            )
        finally:
            sandboxes.close()


class Orders:
    """Brings work orders to their end in a running house."""

    def __init__(self, loop: asyncio.Runner, house: House) -> None:
        self._loop = loop
        self._house = house
        self._ended: dict[str, asyncio.Event] = {}
        house.engine.observe(self._observe)

    def work(self, new: submit.NewOrder) -> None:
        self._loop.run(self._work(new))

    async def _work(self, new: submit.NewOrder) -> None:
        made = await submit.submit(self._house.context, new, LOCAL_OPERATOR)
        ended = self._ended.setdefault(made.agent_work_order_id, asyncio.Event())
        async with asyncio.timeout(ORDER_LIMIT_S):
            await ended.wait()
        run = await self._house.engine.run(made.agent_work_order_id)
        if run is None or run.outcome != "completed":
            raise Unable(f"the order ended {run.outcome if run else 'nowhere'}")

    def _observe(self, change: Change) -> None:
        if change.after.stage == "ended":
            self._ended.setdefault(change.run_id, asyncio.Event()).set()


@contextlib.contextmanager
def orders(home: Path) -> Iterator[Orders]:
    """The product without HTTP, started once. Its log goes to the order's files only."""
    logs.configure(level="error", pretty=False, redact=lambda fields: fields)
    with asyncio.Runner() as loop:
        opened = open_house(changed(load({}, home=home), {"limits.orders_per_repository": 0}))
        house = loop.run(opened.__aenter__())
        try:
            yield Orders(loop, house)
        finally:
            loop.run(opened.__aexit__(None, None, None))

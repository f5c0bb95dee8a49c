"""A whole house on a folder: real git, real SQLite, real processes, scripted agents."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from agent_work_orders.bootstrap import House, open_house
from agent_work_orders.security.roles import LOCAL_OPERATOR, Caller
from agent_work_orders.settings import changed, load
from agent_work_orders.state_manager.records import OrderRecord
from agent_work_orders.state_manager.sqlite.database import DATABASE_NAME, Synchronous
from agent_work_orders.work_orders import inspect, submit
from agent_work_orders.work_orders.context import Context

SCRIPT = "default: [{write: {path: made.txt, content: made}}, {text: done}]"
IDLE = "default: [{delay: 60}]"


def git(folder: Path, *arguments: str) -> str:
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    for who in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{who}_NAME": "Ann", f"GIT_{who}_EMAIL": "ann@example.invalid"}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=env, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def make_source(folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "--quiet", "-b", "main")
    (folder / "README.md").write_text("hello\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "Begin")
    return folder


class Site:
    """`open` a house, `restart` it, and talk to it as the local operator."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.source = make_source(folder / "source")
        self.synchronous: Synchronous = "NORMAL"
        self.environ: dict[str, str] = {}
        self._stack = AsyncExitStack()
        self.house: House

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Site]:
        await self.start()
        try:
            yield self
        finally:
            await self._stack.aclose()

    async def start(self) -> None:
        environ = {"AWO_DRAIN_S": "0", "AWO_DEFAULT_AGENT": "scripted", **self.environ}
        settings = changed(load(environ, home=self.home), {"storage.synchronous": self.synchronous})
        self.house = await self._stack.enter_async_context(open_house(settings))

    async def stop(self) -> None:
        await self._stack.aclose()
        self._stack = AsyncExitStack()

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    @property
    def context(self) -> Context:
        return self.house.context

    def new(self, **given: Any) -> submit.NewOrder:
        script = given.pop("script", SCRIPT)
        whole = {
            "repository_url": str(self.source),
            "initial_prompt": "Do it",
            "workflow_type": "agent_workflow_build",
            "agent": {"name": "scripted", "script": script},
            **given,
        }
        return submit.NewOrder(**whole)

    async def submit(self, caller: Caller = LOCAL_OPERATOR, **given: Any) -> str:
        made = await submit.submit(self.context, self.new(**given), caller)
        return made.agent_work_order_id

    async def show(self, order_id: str) -> OrderRecord:
        return (await inspect.show(self.context, order_id, LOCAL_OPERATOR)).record

    async def until(self, order_id: str, *statuses: str) -> OrderRecord:
        async with asyncio.timeout(60):
            while True:
                record = await self.show(order_id)
                if record.status in statuses:
                    return record
                assert statuses == ("running",) or record.status not in _ENDED, record
                await asyncio.sleep(0.01)

    async def task(self, order_id: str, path: str) -> dict[str, Any]:
        tasks = await inspect.tasks(self.context, order_id, LOCAL_OPERATOR)
        return next(task for task in tasks if task["path"] == path)

    async def until_task(self, order_id: str, path: str, state: str) -> dict[str, Any]:
        async with asyncio.timeout(60):
            while (found := await self.task(order_id, path))["state"] != state:
                await asyncio.sleep(0.01)
            return found

    def written(self) -> dict[str, int]:
        """The same but for the read side, which follows a moment later."""
        late = ("feed", "log_entries", "orders", "approvals")
        return {name: rows for name, rows in self.counts().items() if name not in late}

    def essential_events(self) -> int:
        """All but those that only tell people of a start."""
        with sqlite3.connect(f"file:{self.home / DATABASE_NAME}?mode=ro", uri=True) as connection:
            asked = "SELECT count(*) FROM events WHERE kind != 'task_started'"
            return int(connection.execute(asked).fetchone()[0])

    def counts(self) -> dict[str, int]:
        """Rows of every table of the database."""
        with sqlite3.connect(f"file:{self.home / DATABASE_NAME}?mode=ro", uri=True) as connection:
            names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            return {
                name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
                for (name,) in names.fetchall()
            }


_ENDED = ("completed", "failed", "cancelled")

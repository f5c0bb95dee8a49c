"""All tools at a desk of their own: real git, real sandboxes, real processes; no engine.

A crash is a receipt that is never written: the tool has done its work, and the next bench on the
same folder finds the intent alone.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from agent_work_orders.agent_executor.registry import Registry
from agent_work_orders.agent_executor.transcript import decode
from agent_work_orders.clock import SystemClock
from agent_work_orders.engines.perform import Performer, TaskAnswer
from agent_work_orders.engines.task_attempt import TaskAttempt
from agent_work_orders.github_integration.forges import Forges
from agent_work_orders.github_integration.local_forge import LocalForge
from agent_work_orders.repositories.git import Git
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.repositories.refname import order_ref
from agent_work_orders.repositories.url import parse
from agent_work_orders.sandbox_manager.local.sandboxes import LocalSandboxes
from agent_work_orders.security.redaction import Redactor
from agent_work_orders.state_manager.artifacts import Artifact
from agent_work_orders.state_manager.ledger import Entry
from agent_work_orders.testing.fakes.memory_ledger import MemoryLedger
from agent_work_orders.tools import toolbox
from agent_work_orders.tools.agent import Agents
from agent_work_orders.tools.tool import Order, Prompt
from agent_work_orders.tools.workspaces import Workspaces
from agent_work_orders.workflow_engine.events import TaskFailed, TaskSucceeded, Undone

ORDER = "wo-aaaaaaaaaaaaaaaa"
BRANCH = f"feat-{ORDER}"
CANARY = "canary-0123456789/+secret"


def git(folder: Path, *arguments: str) -> str:
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    for who in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{who}_NAME": "Ann", f"GIT_{who}_EMAIL": "ann@example.invalid"}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=env, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


class Crash(BaseException):
    """The process ends here."""


class FragileLedger(MemoryLedger):
    """Ends the process instead of writing the receipt of a key that ends so."""

    def __init__(self, stored: dict[str, Entry], crash_at: str | None) -> None:
        super().__init__(stored)
        self.crash_at = crash_at

    async def receive(self, key: str, receipt: dict[str, Any], *, at_ms: int) -> Entry:
        if self.crash_at is not None and self.crash_at in key:
            raise Crash(key)
        return await super().receive(key, receipt, at_ms=at_ms)


class Shelf:
    """Artifacts in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    async def put(
        self, order_id: str, path: str, name: str, content: bytes, media_type: str, at_ms: int
    ) -> Artifact:
        self.kept[name] = content
        return Artifact(
            order_id=order_id,
            path=path,
            name=name,
            sha256=f"sha-of-{name}",
            size_bytes=len(content),
            media_type=media_type,
            created_at_ms=at_ms,
        )


class Bench:
    def __init__(self, folder: Path, source: Path) -> None:
        self.folder = folder
        self.source = source
        self.home = folder / "home"
        self.stored: dict[str, Entry] = {}
        self.lines: list[tuple[str, dict[str, Any]]] = []
        self.transcript: list[bytes] = []
        self.waiting: list[Prompt] = []
        self.redactor = Redactor([CANARY])
        self.forges: Callable[[LocalForge], Forges] = Forges
        self.git = Git()
        self.idle_s: float | None = None
        self.start()

    def start(self, *, crash_at: str | None = None) -> None:
        """A new process on the same folder."""
        clock = SystemClock()
        self.mirrors = Mirrors(self.home / "mirrors", self.git)
        self.sandboxes = LocalSandboxes(self.home, self.mirrors, clock)
        self.workspaces = Workspaces(self.mirrors, self.sandboxes)
        self.forge = LocalForge(self.home / "reviews")
        self.shelf = Shelf()
        self.ledger = FragileLedger(self.stored, crash_at)
        agents = Agents(
            self.workspaces,
            Registry(clock),
            sink=lambda _order, _path, line: self.transcript.append(line),
            recall=lambda _order, _path: list(decode(b"".join(self.transcript)).entries),
            redact=self.redactor.text,
            idle_s=self.idle_s,
        )
        forges = self.forges(self.forge)
        tools = toolbox.make(agents, self.workspaces, self.mirrors, forges, self.redactor)
        self.desk = Performer(
            tools,
            ledger=self.ledger,
            artifacts=self.shelf,
            clock=clock,
            log=lambda _order, event, _level, fields: self.lines.append((event, dict(fields))),
            clean=self.redactor,
        )

    def restart(self, *, crash_at: str | None = None) -> None:
        self.sandboxes.close()
        self.start(crash_at=crash_at)

    @property
    def order(self) -> Order:
        origin = parse(str(self.source))
        return Order(
            order_id=ORDER,
            repository_url=origin.url,
            repository=origin.key,
            base_branch=None,
            branch=BRANCH,
            sandbox_type="git_worktree",
            agent={"name": "scripted", "script": "default: [{text: nothing}]"},
            workflow="test",
            prompt="Do it",
            title="Do it",
        )

    def request(
        self, uses: str, *, path: str = "", attempt: int = 1, generation: int = 1, **given: Any
    ) -> TaskAttempt:
        name = path or uses.split(".")[1]
        order = msgspec.structs.replace(self.order, **given.pop("order", {}))
        return TaskAttempt(
            run_id=ORDER,
            path=name,
            attempt=attempt,
            key=f"{ORDER}:{name}:{generation}",
            uses=uses,
            timeout_s=given.pop("timeout_s", 60.0),
            stalls=given.pop("stalls", 0),
            stalled_since_ms=given.pop("stalled_since_ms", None),
            phase=given.pop("phase", "implementing"),
            order=msgspec.to_builtins(order),
            input=given,
        )

    async def perform(self, uses: str, **given: Any) -> TaskAnswer:
        return await self.desk.perform(self.request(uses, **given), lambda: self.waiting)

    async def do(self, uses: str, **given: Any) -> dict[str, Any]:
        """Its outputs; a failure fails the test."""
        answer = await self.perform(uses, **given)
        assert isinstance(answer, TaskSucceeded), answer
        assert set(answer.outputs) <= set(toolbox.CATALOGUE[uses].outputs["properties"])
        return answer.outputs

    async def fail(self, uses: str, **given: Any) -> TaskFailed:
        answer = await self.perform(uses, **given)
        assert isinstance(answer, TaskFailed), answer
        assert answer.failure.hint
        return answer

    async def undo(self, uses: str, **given: Any) -> Undone:
        return await self.desk.undo(self.request(uses, **given))

    async def agent(self, script: str, **given: Any) -> dict[str, Any]:
        chosen = {"agent": {"name": "scripted", "script": script}}
        return await self.do("agent.prompt", prompt="go on", order=chosen, **given)

    async def agent_titled(self, title: str) -> dict[str, Any]:
        script = "default: [{write: {path: made.txt, content: made}}]"
        order = {"agent": {"name": "scripted", "script": script}, "title": title, "prompt": title}
        return await self.do("agent.prompt", path="build", prompt="go", order=order)

    async def head(self) -> str | None:
        return await self.mirrors.at(self.order.repository).ref(order_ref(ORDER, "head"))

    async def log(self) -> list[str]:
        """Subjects of the order's commits, newest first."""
        head = await self.head()
        if head is None:
            return []
        base = self.stored[f"{ORDER}:base"].receipt
        assert base is not None
        mirror = self.mirrors.at(self.order.repository)
        return [commit.subject for commit in await mirror.log(str(base["base_sha"]), head)]

    async def files(self) -> set[str]:
        head = await self.head()
        assert head is not None
        mirror = self.mirrors.at(self.order.repository)
        out = await mirror.git.run(
            "list", ["ls-tree", "-r", "--name-only", head], repository=mirror.path
        )
        return set(out.stdout.decode().split())

    @property
    def repo(self) -> Path:
        return self.sandboxes.workspace(ORDER)

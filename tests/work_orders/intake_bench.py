"""A house whose tasks never run, a hub in memory, and deliveries as GitHub sends them."""

from __future__ import annotations

import copy
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from site_bench import git, make_source

from agent_work_orders import settings as setting
from agent_work_orders.bootstrap import House, open_house
from agent_work_orders.errors import Environmental, NotFound
from agent_work_orders.github_integration.forge import (
    Issue,
    PullRequest,
    Repository,
    RepositoryFacts,
)
from agent_work_orders.state_manager.deliveries import DeliveryRecord
from agent_work_orders.state_manager.records import OrderRecord
from agent_work_orders.work_orders.incoming.intake import Intake
from agent_work_orders.work_orders.outgoing.replies import Conversation

NOW_MS = 1_800_000_000_000
NOW = "2027-01-15T08:00:00Z"
SHA = "a" * 40
GATED = """
name: gated
tasks:
  ask:
    uses: agent.prompt
    with: {prompt: Do it}
    approval: {message: "Really?", expires: 1h}
"""
PEOPLE = {"ann": 7, "bob": 8, "eve": 9}


class FakeHub:
    """What intake asks of a hub. `trouble` is raised by every call while it is set."""

    def __init__(self) -> None:
        self.permissions = {"ann": "write", "bob": "admin", "eve": "read", "tim": "triage"}
        self.issues: dict[int, Issue] = {}
        self.pulls: dict[int, PullRequest] = {}
        self.files: dict[str, bytes] = {}
        self.calls: list[str] = []
        self.trouble: Exception | None = None
        self.out_of_reach = self.archived = False
        self.priorities: list[str] = []

    def asking(self, priority: str) -> FakeHub:
        self.priorities.append(priority)
        return self

    def _called(self, what: str) -> None:
        self.calls.append(what)
        if self.trouble is not None:
            raise self.trouble

    async def permission(self, repository: Repository, login: str) -> str:
        self._called(f"permission {login}")
        return self.permissions.get(login, "none")

    async def repository(self, repository: Repository) -> RepositoryFacts:
        self._called(f"repository {repository.full_name}")
        if self.out_of_reach:
            raise Environmental("github_access_lost", "not installed there", hint="Look.")
        return RepositoryFacts(
            repository_id=1, full_name=repository.full_name, default_branch="main",
            private=True, archived=self.archived, fork=False,
        )  # fmt: skip

    async def our_login(self) -> str:
        self._called("our_login")
        return "awo[bot]"

    async def file(self, repository: Repository, path: str, ref: str | None = None) -> bytes | None:
        self._called(f"file {path} {ref}")
        return self.files.get(path)

    async def issue(self, repository: Repository, number: int) -> Issue:
        self._called(f"issue {number}")
        if number not in self.issues:
            raise NotFound("github_not_found", "gone", hint="Look.")
        return self.issues[number]

    async def pull_request(self, repository: Repository, number: int) -> PullRequest:
        self._called(f"pull {number}")
        if number not in self.pulls:
            raise NotFound("github_not_found", "gone", hint="Look.")
        return self.pulls[number]

    def put_issue(self, number: int = 7, **given: Any) -> None:
        whole: dict[str, Any] = {
            "number": number, "title": "T", "body": "B", "author": "eve", "state": "open",
            "labels": ("awo",), "url": "", **given,
        }  # fmt: skip
        self.issues[number] = Issue(**whole)

    def put_pull(self, number: int = 9, **given: Any) -> None:
        whole: dict[str, Any] = {
            "number": number, "title": "T", "url": "", "head_branch": "main",
            "base_branch": "main", "head_sha": SHA, "state": "open", **given,
        }  # fmt: skip
        self.pulls[number] = PullRequest(**whole)


class Heard:
    """Replies that are remembered."""

    def __init__(self) -> None:
        self.said: list[tuple[int, str, str]] = []
        self.reactions: list[tuple[int, int | None, str]] = []
        self.on_lines: list[int | None] = []

    async def say(self, conversation: Conversation, key: str, text: str) -> None:
        self.said.append((conversation.number, key, text))

    async def react(
        self,
        conversation: Conversation,
        comment_id: int | None,
        reaction: Any,
        *,
        on_a_line: bool = False,
    ) -> None:
        self.reactions.append((conversation.number, comment_id, reaction))
        if on_a_line:
            self.on_lines.append(comment_id)


class Clock:
    def __init__(self) -> None:
        self.at_ms = NOW_MS

    def now_ms(self) -> int:
        return self.at_ms

    def monotonic_s(self) -> float:
        return self.at_ms / 1000


class Desk:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.server_url = str(folder / "hub")
        self.hub, self.heard, self.clock = FakeHub(), Heard(), Clock()
        self.house: House
        self.intake: Intake
        source = make_source(folder / "source")
        (folder / "hub" / "acme").mkdir(parents=True)
        git(folder, "clone", "--quiet", "--bare", str(source), "hub/acme/site.git")
        (folder / "home" / "workflows").mkdir(parents=True)
        (folder / "home" / "workflows" / "gated.yaml").write_text(GATED)

    @asynccontextmanager
    async def opened(self, **more: str) -> AsyncIterator[Desk]:
        environ = {"AWO_DRAIN_S": "0", "AWO_CLAUDE_BINARY": "/bin/true", **more}
        environ.setdefault("ANTHROPIC_API_KEY", "not-a-real-key")
        loaded = setting.load(environ, home=self.folder / "home")
        idle = {"storage.synchronous": "NORMAL", "limits.running_tasks": 0}
        settings = setting.changed(loaded, idle)
        async with open_house(settings, self.clock) as house:
            self.house = house
            self.fresh()
            yield self

    def fresh(self) -> None:
        """As after a restart: nothing is remembered but what is stored."""
        self.intake = Intake(
            self.house.context,
            self.hub,  # type: ignore[arg-type]
            server_url=self.server_url,
            replies=self.heard,
        )

    async def take(self, event: str, payload: Any, guid: str | None = None) -> str:
        body = payload if isinstance(payload, bytes) else msgspec.json.encode(payload)
        made = guid or str(
            uuid.UUID(int=len(await self.house.context.store.deliveries.page(limit=500)) + 1)
        )
        await self.house.context.store.deliveries.take(made, event, body, self.clock.at_ms)
        return made

    async def deliver(self, event: str, payload: Any, guid: str | None = None) -> DeliveryRecord:
        made = await self.take(event, payload, guid)
        await self.intake.sweep()
        found = await self.house.context.store.deliveries.find(made)
        assert found is not None
        return found

    async def orders(self) -> list[OrderRecord]:
        page = await self.house.context.store.records.page(descending=False)
        return list(page.agent_work_orders)

    async def audited(self) -> list[tuple[str, str]]:
        return [(row.who, row.what) for row in await self.house.context.store.audit.page(limit=500)]

    async def run_of(self, order_id: str) -> Any:
        run = await self.house.context.runs.run(order_id)
        assert run is not None
        return run


def person(login: str, kind: str = "User") -> dict[str, Any]:
    return {"login": login, "id": PEOPLE.get(login, 99), "type": kind}


def base(sender: str, action: str) -> dict[str, Any]:
    return {
        "action": action,
        "sender": person(sender),
        "repository": {"id": 1, "full_name": "acme/site", "default_branch": "main"},
    }


def issue(number: int = 7, **more: Any) -> dict[str, Any]:
    return {
        "number": number, "title": "Broken button", "body": "It does nothing.", "state": "open",
        "user": person("eve"), "labels": [], "updated_at": NOW, **more,
    }  # fmt: skip


def labeled(sender: str = "ann", label: str = "awo", number: int = 7, **more: Any) -> Any:
    return {**base(sender, "labeled"), "issue": issue(number, **more), "label": {"name": label}}


def comment(
    text: str, sender: str = "ann", number: int = 7, comment_id: int = 1, pull: bool = False
) -> Any:
    about = issue(number, **({"pull_request": {"url": ""}} if pull else {}))
    said = {
        "id": comment_id, "body": text, "user": person(sender), "created_at": NOW,
        "performed_via_github_app": None, "author_association": "OWNER",
    }  # fmt: skip
    return {**base(sender, "created"), "issue": about, "comment": said}


def pulled(action: str = "opened", sender: str = "ann", fork: bool = False, **more: Any) -> Any:
    found = {
        **issue(9), "draft": False,
        "head": {"sha": SHA, "ref": "topic", "repo": {"id": 2 if fork else 1}},
        "base": {"ref": "main", "repo": {"id": 1}}, **more,
    }  # fmt: skip
    return {**base(sender, action), "pull_request": found}


def changed(payload: Any, **more: Any) -> Any:
    """The payload with top-level fields replaced."""
    return {**copy.deepcopy(payload), **more}

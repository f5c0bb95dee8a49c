"""A town on a simulated GitHub, the whole product in this process, and people who interfere.

Each order has a repository of its own, so that renaming one is nobody else's matter. It stops
wherever a person is let in: at its questions, and in its second agent turn, which waits for a file.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from agent_work_orders import settings as settings_room
from agent_work_orders.bootstrap import House, open_house
from agent_work_orders.security.roles import LOCAL_OPERATOR
from agent_work_orders.state_manager.records import OrderRecord
from agent_work_orders.work_orders import approvals, inspect, steer, submit
from github_simulator.changes import founding
from github_simulator.directing import scenery
from github_simulator.outside import app_jwt
from github_simulator.server import GithubSimulator
from github_simulator.standing import EVENTS, PERMISSIONS
from github_simulator.things.conversation import Issue
from github_simulator.things.repository import Repository
from github_simulator.things.review import PullRequest

PATIENCE_S = 60.0
BETWEEN_LOOKS_S = 0.02
PLAY = """
name: play
tasks:
  plan: {uses: agent.command, phase: planning, with: {command: plan}}
  first:
    needs: [plan]
    approval: {message: "before the pull request", expires: 1h}
    uses: sandbox.exec
    with: {argv: ["true"]}
  draft: {needs: [first], uses: forge.open_pull_request, with: {draft: true}}
  second:
    needs: [draft]
    approval: {message: "draft open", expires: 1h}
    uses: sandbox.exec
    with: {argv: ["true"]}
  build: {needs: [second], uses: agent.command, with: {command: build}}
  publish: {needs: [build], uses: forge.open_pull_request}
  third:
    needs: [publish]
    approval: {message: "after publish", expires: 1h}
    uses: sandbox.exec
    with: {argv: ["true"]}
  more: {needs: [third], uses: agent.command, with: {command: test}}
  again: {needs: [more], uses: forge.open_pull_request}
"""
# The second turn works until somebody puts a file beside it.
SCRIPT = """
version: 1
commands:
  plan: [{write: {path: plan.md, content: plan}}]
  build:
    - write: {path: made.txt, content: made}
    - run: [sh, -c, "until [ -e .go-on ]; do sleep 0.05; done; rm .go-on"]
  test: [{write: {path: more.txt, content: more}}]
"""
MOMENTS = {
    "before the pull request": "first",
    "draft open": "second",
    "while the agent works": "build",
    "after publish": "third",
}
ENTRY = "from agent_work_orders.cli.main import main; main()"
ENDED = ("completed", "failed", "cancelled")


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A repository and the order that works on it."""

    town: Town
    stored: Repository
    clone_url: str
    order_id: str

    # -- the order

    async def record(self) -> OrderRecord:
        context = self.town.house.context
        return (await inspect.show(context, self.order_id, LOCAL_OPERATOR)).record

    async def until_ended(self) -> OrderRecord:
        """Says yes to whatever is asked meanwhile."""
        async with asyncio.timeout(PATIENCE_S):
            while (record := await self.record()).status not in ENDED:
                await self.go_on()
                await asyncio.sleep(BETWEEN_LOOKS_S)
        return record

    async def reach(self, moment: str) -> None:
        path = MOMENTS[moment]
        state = "running" if path == "build" else "awaiting_approval"
        async with asyncio.timeout(PATIENCE_S):
            while True:
                tasks = {one["path"]: one["state"] for one in await self.tasks()}
                record = await self.record()
                if tasks.get(path) == state and (path != "build" or self._at_work()):
                    return
                assert record.status not in ENDED, (record.error_message, tasks)
                await self.go_on(but=path)
                await asyncio.sleep(BETWEEN_LOOKS_S)

    async def tasks(self) -> list[dict[str, Any]]:
        return await inspect.tasks(self.town.house.context, self.order_id, LOCAL_OPERATOR)

    async def go_on(self, but: str = "") -> None:
        """What the order waits for, except at one place."""
        context = self.town.house.context
        for one in await approvals.of_order(context, self.order_id, LOCAL_OPERATOR):
            if one.state == "asked" and one.path != but:
                await approvals.decide(context, one.approval_id, LOCAL_OPERATOR, approved=True)
        if but != "build" and self._at_work():
            (self._workspace / ".go-on").touch()

    async def retry(self) -> OrderRecord:
        await steer.retry(self.town.house.context, self.order_id, LOCAL_OPERATOR)
        return await self.until_ended()

    async def roll_back(self) -> None:
        context = self.town.house.context
        await steer.rollback(context, self.order_id, LOCAL_OPERATOR)
        async with asyncio.timeout(PATIENCE_S):
            while (await context.runs.run(self.order_id)).stage != "ended":
                await asyncio.sleep(BETWEEN_LOOKS_S)

    @property
    def _workspace(self) -> Path:
        return self.town.house.settings.home / "workspaces" / self.order_id / "repo"

    def _at_work(self) -> bool:
        return (self._workspace / "made.txt").exists()

    # -- the world

    @property
    def pulls(self) -> list[PullRequest]:
        return list(self.stored.pulls.values())

    @property
    def pull(self) -> PullRequest:
        [only] = self.pulls
        return only

    @property
    def text(self) -> Issue:
        """Title and body of the pull request."""
        return self.stored.issues[self.pull.number]

    @property
    def branch(self) -> str:
        return f"feat-issue-1-{self.order_id}"

    @property
    def branches(self) -> dict[str, str]:
        store = self.town.github.world.git(self.stored)
        listed = store.run(
            "for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads"
        )
        return dict(line.split() for line in listed.splitlines())

    @property
    def name(self) -> str:
        return self.town.github.world.full_name(self.stored)

    def history(self) -> list[str]:
        """Of our branch."""
        return self.town.github.world.git(self.stored).log(self.branches[self.branch])

    def number_in(self, address: str | None) -> bool:
        return str(address).endswith(f"/{self.name}/pull/{self.pull.number}")

    def comments(self, number: int) -> list[str]:
        return [one.body for one in self.stored.comments.values() if one.number == number]

    async def until_said(self, number: int, words: str) -> None:
        """In our one comment there."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                [sticky] = [text for text in self.comments(number) if ":progress-comment" in text]
                if words in sticky:
                    return
                await asyncio.sleep(BETWEEN_LOOKS_S)

    def act(self, method: str, path: str, body: Any = None) -> Any:
        """A person, by hand."""
        address = path if path.startswith("/") else f"/repos/{self.name}/{path}"
        asked = scenery.Act(login="writer", method=method, path=address, body=body)
        answer = scenery.act(self.town.github, asked)
        assert answer["status"] < 300, answer
        return answer["body"]

    def move(self, change: str) -> None:
        """Renamed, or given to another owner."""
        to = f"{self.stored.name}-new" if change == "rename" else self.town.other_owner.login
        asked = scenery.Change(login="writer", repository=self.name, change=change, to=to)  # type: ignore[arg-type]  # one of these
        scenery.change_repository(self.town.github, asked)

    def push(self, files: dict[str, str | None], *, force: bool = False) -> str:
        """A person's commit on our branch; forced, in the place of ours."""
        fresh = force or self.branch not in self.branches
        parent = self.branches["main"] if fresh else None
        commit = scenery.Commit(
            login="writer",
            repository=self.name,
            branch=self.branch,
            files=files,
            message="By hand",
            parent=parent,
        )
        return str(scenery.commit(self.town.github, commit)["sha"])


class Town:
    def __init__(self, github: GithubSimulator, room: Path) -> None:
        self.github = github
        self.room = room
        self.house: House
        world = github.world
        world.lazy_mergeability = False
        for login in ("writer", "reader"):
            founding.add_account(world, login)
        self.owner = founding.add_account(world, "sample", "Organization")
        self.other_owner = founding.add_account(world, "other", "Organization")
        private, public = app_jwt.new_key_pair()
        self.app = founding.add_app(
            world,
            "agent-work-orders",
            owner=self.owner,
            public_key=public,
            permissions=PERMISSIONS,
            events=EVENTS,
        )
        for owner in (self.owner, self.other_owner):
            founding.install(world, self.app, owner)
        script = room / "script.yaml"
        script.write_text(SCRIPT)
        self._environ = {
            "AWO_DRAIN_S": "0",
            "AWO_SYNCHRONOUS": "NORMAL",
            "AWO_DEFAULT_AGENT": "scripted",
            "AWO_AGENT_SCRIPT": str(script),
            "AWO_GIT_ORIGINS": github.url,
            "GITHUB_API_URL": github.url,
            "GITHUB_SERVER_URL": github.url,
            "GITHUB_APP_ID": str(self.app.id),
            "GITHUB_PRIVATE_KEY": private,
        }
        self.settings = settings_room.load(self._environ, home=room / "home")

    async def follow(self, hint: str | None, **names: str) -> str:
        """What the one command that a hint names prints, typed in a terminal of the same person."""
        [command] = re.findall(r"`awo ([^`]*)`", str(hint))
        words = [names.get(word, word) for word in command.split()]
        own = {"AWO_HOME": str(self.room / "home"), "PYTHONPATH": os.pathsep.join(sys.path)}
        typed = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            ENTRY,
            *words,
            env={**os.environ, **self._environ, **own},
            stdout=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(PATIENCE_S):
            out, _ = await typed.communicate()
        return out.decode()

    async def order(self, name: str, workflow: str = PLAY) -> Place:
        """For an issue of a new repository."""
        world = self.github.world
        stored = founding.add_repository(
            world, self.owner, name, files={"a.txt": "a\n"}, roles={"writer": "admin"}
        )
        issue = scenery.Act(
            login="writer",
            method="POST",
            path=f"/repos/{world.full_name(stored)}/issues",
            body={"title": "Do it", "body": "Please."},
        )
        assert scenery.act(self.github, issue)["status"] == 201
        return await self.order_on(stored, workflow)

    async def order_on(self, stored: Repository, workflow: str, base: str | None = None) -> Place:
        """For the issue of a repository that there is; `base` is a branch of it."""
        world = self.github.world
        address = f"{self.github.url}/{world.full_name(stored)}.git"
        about = {"repository_id": stored.id, "full_name": world.full_name(stored), "issue": 1}
        new = submit.NewOrder(
            repository_url=address,
            workflow_source=workflow,
            github_issue_number="1",
            initial_prompt="Do it",
            base_branch=base,
            github=about,
        )
        made = await submit.submit(self.house.context, new, LOCAL_OPERATOR)
        return Place(town=self, stored=stored, clone_url=address, order_id=made.agent_work_order_id)


@asynccontextmanager
async def opened(room: Path) -> AsyncIterator[Town]:
    async with GithubSimulator(room / "github") as github:
        town = Town(github, room)
        async with open_house(town.settings) as house:
            town.house = house
            yield town

"""A small world for tests, in which every answer and every webhook is held to GitHub's
descriptions.

`octo` is an organisation with `octo/hello` (public) and `octo/secret` (private). bob is admin,
ann writes, carl reads, eve is a stranger. The App `awo` is installed on both with what it needs,
`other` is a second App there, and `weak` may read issues only.
"""

from __future__ import annotations

import copy
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from github_descriptions import validate_answer, validate_webhook
from github_simulator.call import Answer
from github_simulator.changes import founding
from github_simulator.routes import Router
from github_simulator.things.accounts import Account
from github_simulator.things.actor import EVERYTHING, NOBODY, Actor
from github_simulator.things.event import Event
from github_simulator.things.repository import Repository

EVENTS = (
    "check_run",
    "check_suite",
    "create",
    "delete",
    "issue_comment",
    "issues",
    "label",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "pull_request_review_thread",
    "push",
    "release",
    "repository",
    "status",
    "workflow_dispatch",
)
PERMISSIONS = {
    "actions": "write",
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "pull_requests": "write",
    "statuses": "write",
}
WORKFLOW = """\
on:
  workflow_dispatch:
    inputs:
      size: {required: true}
      colour: {default: red}
jobs: {}
"""
TEXT = "".join(f"line {number}\n" for number in range(1, 41))
ROUTER = Router()


class FixedClock:
    def __init__(self) -> None:
        self.at_ms = 1_790_000_000_000

    def now_ms(self) -> int:
        return self.at_ms

    def monotonic_s(self) -> float:
        return self.at_ms / 1000


class Town:
    def __init__(self, folder: Path) -> None:
        self.clock = FixedClock()
        self.world = world = founding.new_world(folder, self.clock)
        self.events: list[Event] = []
        # Operations that were granted.
        self.granted: set[str] = set()
        octo = founding.add_account(world, "octo", "Organization")
        for login in ("bob", "ann", "carl", "eve"):
            founding.add_account(world, login)
        roles = {"bob": "admin", "ann": "write", "carl": "read"}
        files = {
            "README.md": "# Hello\n",
            "src/app.txt": TEXT,
            ".github/workflows/build.yml": WORKFLOW,
            ".github/workflows/push.yml": "on: push\njobs: {}\n",
        }
        founding.add_repository(world, octo, "hello", files=files, roles=roles)
        founding.add_repository(world, octo, "secret", files=files, roles=roles, private=True)
        for slug, permissions in (
            ("awo", PERMISSIONS),
            ("other", PERMISSIONS),
            ("weak", {"issues": "read"}),
        ):
            app = founding.add_app(world, slug, owner=octo, permissions=permissions, events=EVENTS)
            founding.install(world, app, octo)
        self.listen()

    def listen(self) -> None:
        self.world.listeners[:] = [self._hear]

    def _hear(self, event: Event) -> None:
        validate_webhook(event.name, event.action, event.payload)
        self.events.append(event)

    def moved(self, folder: Path) -> Town:
        """A copy that shares nothing: a town is built once and used by many tests."""
        listeners, self.world.listeners = self.world.listeners, []
        made = copy.deepcopy(self)
        self.world.listeners = listeners
        shutil.copytree(self.world.folder, folder)
        made.world.folder = folder
        made.world._git.clear()
        made.world._diffs.clear()
        made.events.clear()
        made.listen()
        return made

    @property
    def hello(self) -> Repository:
        found = self.world.repository("octo/hello")
        assert found is not None
        return found

    def account(self, login: str) -> Account:
        found = self.world.account(login)
        assert found is not None
        return found

    def actor(self, who: str) -> Actor:
        """A person, an installation by its App's name, `app:awo`, or `nobody`."""
        if who == "nobody":
            return NOBODY
        kind, _, slug = who.partition(":")
        for app in self.world.apps.values():
            if kind == "app" and app.slug == slug:
                return Actor(kind="app", login=slug, account_id=app.bot_id, app_id=app.id)
            if app.slug == who:
                installation = next(
                    each for each in self.world.installations.values() if each.app_id == app.id
                )
                return Actor(
                    kind="installation",
                    login=f"{who}[bot]",
                    account_id=app.bot_id,
                    app_id=app.id,
                    installation_id=installation.id,
                    permissions=installation.permissions,
                )
        account = self.account(who)
        return Actor(kind="user", login=who, account_id=account.id, permissions=dict(EVERYTHING))

    def ask(
        self,
        who: str | Actor,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, str] | None = None,
        raw: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        actor = self.actor(who) if isinstance(who, str) else who
        if path.startswith("~"):
            path = "/repos/octo/hello" + path[1:]
        sent = raw if raw is not None else b"" if body is None else msgspec.json.encode(body)
        answer = ROUTER.answer(
            self.world, actor, method, path, query=query, body=sent, headers=headers
        )
        found = ROUTER.find(method, path)
        if found is not None and answer.status < 300:
            self.granted.add(found[0].operation)
        if found is not None and "content-type" not in answer.headers and path != "/graphql":
            validate_answer(method, path, answer.status, answer.body)
        return answer

    def do(self, who: str, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """Ask for something that must be granted; its body."""
        answer = self.ask(who, method, path, body, **more)
        assert answer.status < 300, (method, path, answer.body)
        return answer.body

    def graphql(self, who: str, query: str, **variables: Any) -> Any:
        answer = self.ask(who, "POST", "/graphql", {"query": query, "variables": variables})
        assert answer.status == 200, answer.body
        return answer.body

    def commit(self, branch: str, files: Mapping[str, str | bytes | None], who: str = "ann") -> str:
        """On the branch, which begins at main if it is new."""
        git = self.world.git(self.hello)
        parent = git.branch(branch) or git.branch("main")
        return founding.commit(
            self.world,
            self.hello,
            branch,
            files,
            f"Change {', '.join(files)}",
            self.account(who),
            parent=parent,
        )

    def pull(self, branch: str = "feature", who: str = "awo", **more: Any) -> int:
        """A pull request that changes lines 10 and 30 of src/app.txt."""
        text = TEXT.replace("line 10\n", "line ten\n").replace("line 30\n", "line thirty\n")
        self.commit(branch, {"src/app.txt": text})
        body = {"title": f"From {branch}", "head": branch, "base": "main", **more}
        number: int = self.do(who, "POST", "~/pulls", body)["number"]
        return number

    def heard(self, name: str, action: str | None = None, app: str = "awo") -> list[Event]:
        wanted = next(each.id for each in self.world.apps.values() if each.slug == app)
        return [
            event
            for event in self.events
            if (event.name, event.app_id) == (name, wanted) and action in (None, event.action)
        ]

"""The simulator's world as the forge's transport: no sockets, credentials, limits or waiting.

For tests of what the forge and its tools do. What the real client does with answers, limits and
lost connections is tested with the client against the whole simulator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from agent_work_orders.clock import Clock, SystemClock
from agent_work_orders.errors import Environmental, NotFound, Permanent, Unanswered
from agent_work_orders.github_integration.forge import Repository
from agent_work_orders.github_integration.github_forge import GithubForge
from github_simulator.call import Answer
from github_simulator.changes import founding
from github_simulator.routes import Router
from github_simulator.things.actor import Actor
from github_simulator.things.repository import Repository as SimulatedRepository
from github_simulator.world import World

PERMISSIONS = {
    "actions": "write",
    "administration": "write",
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "pull_requests": "write",
    "statuses": "write",
}
FULL_NAME = "acme/widgets"
Mishap = Callable[[str, str], Exception | None]
Watch = Callable[[str, str, Mapping[str, str], Any], object]


class SimulatedTransport:
    """`before` and `after` may raise instead: a request that is not sent, an answer that is lost.
    Both are called with method and path below the repository. `watch` sees every request, with
    its whole path."""

    def __init__(self, world: World, actor: Actor, login: str) -> None:
        self.world = world
        self.before: Mishap = lambda _method, _path: None
        self.after: Mishap = lambda _method, _path: None
        self.watch: Watch = lambda _method, _path, _query, _body: None
        self.sent: list[tuple[str, str, Any]] = []
        self._actor = actor
        self._login = login
        self._router = Router()

    async def get(self, repository: Repository, path: str, **more: Any) -> Any:
        return self._ask("GET", repository, path, query=more.get("query")).body

    async def pages(self, repository: Repository, path: str, **more: Any) -> list[Any]:
        found: list[Any] = []
        items, limit = more.get("items"), more.get("limit", 3_000)
        for number in range(1, 100):
            query = {**(more.get("query") or {}), "per_page": 100, "page": number}
            body = self._ask("GET", repository, path, query=query).body
            page = body if items is None else body[items]
            found += page
            if len(page) < 100 or len(found) >= limit:
                break
        return found[:limit]

    async def send(
        self, method: str, repository: Repository, path: str, body: Any = None, **_more: Any
    ) -> Any:
        return self._ask(method, repository, path, body=body).body

    async def graphql(
        self,
        repository: Repository,
        query: str,
        variables: Mapping[str, Any],
        *,
        writes: bool,
        **_more: Any,
    ) -> dict[str, Any]:
        asked = {"query": query, "variables": dict(variables)}
        body = self._answer("POST", "/graphql", "graphql", asked, None).body
        told = body.get("errors")
        if told:
            words = [str(error["message"]) for error in told]
            raise Permanent("github_refused", words[0], hint="x", status=200, said="", errors=words)
        data: dict[str, Any] = body["data"]
        return data

    async def need(self, repository: Repository, permissions: Mapping[str, str]) -> None:
        have = self._actor.permissions
        lacking = [name for name in permissions if have.get(name) != "write"]
        if lacking:
            raise Environmental("github_permission_missing", ", ".join(lacking), hint="x")

    async def account(self) -> str:
        return self._login

    def _ask(
        self,
        method: str,
        repository: Repository,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
    ) -> Answer:
        whole = f"/repos/{repository.full_name}/{path}".rstrip("/")
        return self._answer(method, whole, path, body, query)

    def _answer(
        self, method: str, whole: str, path: str, body: Any, query: Mapping[str, Any] | None
    ) -> Answer:
        self.sent.append((method, path, body))
        asked = {name: str(value) for name, value in (query or {}).items()}
        self.watch(method, whole, asked, body)
        early = self.before(method, path)
        if early is not None:
            raise early
        answer = self._router.answer(
            self.world,
            self._actor,
            method,
            whole,
            query=asked,
            body=b"" if body is None else msgspec.json.encode(body),
        )
        late = self.after(method, path)
        if late is not None:
            raise late
        if answer.status >= 400:
            raise refusal(answer)
        return answer


def refusal(answer: Answer) -> Exception:
    """The failure of the contract for a refusal of the world."""
    errors = [
        str(error.get("message") or f"{error.get('resource')}.{error.get('field')} {error['code']}")
        if isinstance(error, dict)
        else str(error)
        for error in answer.body.get("errors", [])
    ]
    said = str(answer.body["message"])
    told: dict[str, Any] = {"status": answer.status, "said": said, "errors": errors}
    if answer.status == 404:
        return NotFound("github_not_found", said, hint="x", **told)
    if answer.status == 403:
        return Environmental("github_permission_missing", said, hint="x", **told)
    return Permanent("github_refused", f"{said}: {'; '.join(errors)}", hint="x", **told)


def lost(*_: Any) -> Unanswered:
    """A mishap for `after`: it was done, and nobody was told."""
    return Unanswered("github_answer_lost", "the answer was lost", hint="It is looked up.")


class SimulatedHub:
    """A forge on a world of its own: one repository of `octocat`, our App installed on it."""

    def __init__(self, folder: Path, clock: Clock | None = None) -> None:
        self.world = founding.new_world(folder, clock or SystemClock())
        self.world.lazy_mergeability = False
        self.octocat = founding.add_account(self.world, "octocat")
        self.owner = founding.add_account(self.world, "acme", "Organization")
        app = founding.add_app(self.world, "awo", owner=self.owner, permissions=PERMISSIONS)
        self.stored: SimulatedRepository = founding.add_repository(
            self.world,
            self.owner,
            "widgets",
            files={"README.md": "one\ntwo\nthree\n"},
            roles={"octocat": "admin"},
        )
        installation = founding.install(self.world, app, self.owner)
        actor = Actor(
            kind="installation",
            login="awo[bot]",
            account_id=app.bot_id,
            app_id=app.id,
            installation_id=installation.id,
            permissions=installation.permissions,
        )
        self.transport = SimulatedTransport(self.world, actor, "awo[bot]")
        self.naps: list[float] = []
        self.forge = GithubForge(self.transport, sleep=self._nap)
        self.repository = Repository(key="widgets-1", full_name=FULL_NAME)

    def commit(self, branch: str, files: Mapping[str, str | bytes | None], message: str) -> str:
        """As if octocat had pushed; a new branch starts at the default one."""
        git = self.world.git(self.stored)
        parent = git.branch(branch) or git.branch(self.stored.default_branch)
        return founding.commit(
            self.world, self.stored, branch, files, message, self.octocat, parent=parent
        )

    def act(self, login: str, method: str, path: str, body: Any = None) -> Answer:
        """A person does something by hand; `path` begins below the repository."""
        account = self.world.account(login)
        if account is None:
            raise ValueError(f"there is no {login}")
        actor = Actor(kind="user", login=login, account_id=account.id, permissions={"*": "admin"})
        return Router().answer(
            self.world,
            actor,
            method,
            f"/repos/{FULL_NAME}/{path}".rstrip("/"),
            body=b"" if body is None else msgspec.json.encode(body),
        )

    async def _nap(self, seconds: float) -> None:
        self.naps.append(seconds)

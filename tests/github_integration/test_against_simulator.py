"""Client, credentials, governor and git against the shipped simulator, which refuses what GitHub
refuses."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_work_orders.errors import AgentWorkOrdersError, Environmental, Permanent, Unknown
from agent_work_orders.github_integration.client import GithubClient
from agent_work_orders.github_integration.forge import Repository
from agent_work_orders.github_integration.http.governor import DurableGovernor
from agent_work_orders.github_integration.http.one_request import Exchange, HttpRequest
from agent_work_orders.github_integration.http.retrying import Retrying
from agent_work_orders.github_integration.identity.app_credentials import AppCredentials
from agent_work_orders.github_integration.identity.app_key import AppKey
from agent_work_orders.github_integration.identity.git_logins import GitLogins
from agent_work_orders.github_integration.quota import QuotaHeld, QuotaState
from agent_work_orders.repositories.git import Git
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.repositories.push import push
from agent_work_orders.repositories.url import parse
from github_simulator.changes import founding
from github_simulator.outside import app_jwt
from github_simulator.outside.faults import Fault
from github_simulator.outside.limits import Rules
from github_simulator.server import GithubSimulator
from github_simulator.things.conversation import Comment

pytestmark = pytest.mark.slow

HERE = Repository(key="k", full_name="ada/engine")
PERMISSIONS = {"contents": "write", "issues": "write", "pull_requests": "write", "checks": "write"}


@cache
def key_pair() -> tuple[str, str]:
    return app_jwt.new_key_pair()


class Memory:
    def __init__(self) -> None:
        self.states: dict[str, QuotaState] = {}

    def load(self) -> list[QuotaState]:
        return list(self.states.values())

    def save(self, state: QuotaState) -> None:
        self.states[state.credential] = state

    async def settle(self) -> None:
        return None


class Stage(msgspec.Struct, kw_only=True):
    github: GithubSimulator
    client: GithubClient
    credentials: AppCredentials
    governor: DurableGovernor
    asking: Retrying
    memory: Memory
    installation: Any
    owner: Any
    learned: list[str]

    def comments(self) -> list[str]:
        world = self.github.world
        (repository,) = world.repositories.values()
        return [comment.body for comment in repository.comments.values()]


@asynccontextmanager
async def stage(
    tmp_path: Path, *, rules: Rules | None = None, deadline_s: float = 20.0
) -> AsyncIterator[Stage]:
    private, public = key_pair()
    async with GithubSimulator(tmp_path / "github", rules=rules) as github:
        world = github.world
        owner = founding.add_account(world, "ada")
        app = founding.add_app(
            world, "worker", owner=owner, public_key=public, permissions=PERMISSIONS
        )
        founding.add_repository(
            world, owner, "engine", private=True, files={"README.md": "# Engine\n"}
        )
        installation = founding.install(world, app, owner)
        memory, chance, learned = Memory(), random.Random(5), list[str]()

        async def sleep(seconds: float) -> None:
            github.clock.advance(seconds)
            await asyncio.sleep(0)

        async with Exchange(trusted=None, deadline_s=deadline_s) as exchange:
            governor = DurableGovernor(memory, github.clock, chance=chance, sleep=sleep)
            asking = Retrying(
                exchange, governor, github.clock, api_url=github.url, chance=chance, sleep=sleep
            )
            credentials = AppCredentials(
                asking, AppKey(app.id, private), github.clock, learn=learned.append
            )
            client = GithubClient(asking, credentials, github.clock, sleep=sleep)
            made = await client.send("POST", HERE, "issues", {"title": "One"})
            assert made["number"] == 1
            yield Stage(
                github=github,
                client=client,
                credentials=credentials,
                governor=governor,
                asking=asking,
                memory=memory,
                installation=installation,
                owner=owner,
                learned=learned,
            )


async def comment(it: Stage, text: str = "words") -> Any:
    return await it.client.send("POST", HERE, "issues/1/comments", {"body": text}, creates=True)


async def test_as_an_app_with_tokens_that_end(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        assert (await it.client.get(HERE, ""))["full_name"] == "ada/engine"
        assert await it.client.account() == "worker[bot]"
        minted = it.github.requests.of("apps/create-installation-access-token")
        assert len(minted) == 1
        it.github.clock.advance(56 * 60)
        await it.client.get(HERE, "")
        assert len(it.github.requests.of("apps/create-installation-access-token")) == 2
        assert all(asked.status < 400 for asked in it.github.requests.all)


@pytest.mark.fault("C12")
async def test_an_installation_that_is_suspended_or_gone(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        founding.suspend(it.github.world, it.installation, it.owner)
        with pytest.raises(Environmental) as lost:
            await comment(it)
        assert lost.value.code == "github_access_lost"
        founding.unsuspend(it.github.world, it.installation, it.owner)
        await comment(it)
        with pytest.raises(Environmental, match="is not installed there") as lost:
            await it.client.get(Repository(key="k", full_name="ada/unknown"), "")
        assert lost.value.code == "github_access_lost"


@pytest.mark.fault("D9")
async def test_a_permission_that_is_missing_is_named(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        with pytest.raises(Environmental) as missing:
            await it.client.send(
                "POST", HERE, "actions/workflows/ci.yml/dispatches", {"ref": "main"}
            )
        assert missing.value.code == "github_permission_missing"
        assert "actions=write" in missing.value.message


LOST = [
    Fault(kind=kind, applied=applied, method="POST", path="*/comments", seconds=seconds)
    for kind, applied, seconds in (
        ("hang", False, 5.0), ("hang", True, 5.0), ("drop", False, 0), ("drop", True, 0),
        ("reset", False, 0), ("reset", True, 0), ("status", False, 0), ("status", True, 0),
        ("truncated", True, 0), ("html", False, 0), ("html", True, 0), ("empty", True, 0),
        ("charset", True, 0), ("slow", True, 5.0),
    )
]  # fmt: skip


@pytest.mark.fault("D5")
@pytest.mark.fault("D6")
@pytest.mark.fault("D7")
@pytest.mark.parametrize("fault", LOST, ids=lambda fault: f"{fault.kind}-{fault.applied}")
async def test_a_lost_write_is_unknown_and_never_repeated(tmp_path: Path, fault: Fault) -> None:
    async with stage(tmp_path, deadline_s=1.0) as it:
        await comment(it, "before")
        it.github.faults.add(fault)
        with pytest.raises(Unknown) as lost:
            await comment(it)
        assert lost.value.code == "github_answer_lost"
        assert it.comments().count("words") == (1 if fault.after else 0)
        await comment(it, "after")


@pytest.mark.fault("D12")
async def test_a_renamed_repository_and_one_that_leads_away(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.github.faults.add(Fault(kind="moved", path="/repos/ada/engine/issues/1"))
        assert (await it.client.get(HERE, "issues/1"))["number"] == 1
        it.github.faults.add(
            Fault(kind="elsewhere", path="*/issues/1", location="http://127.0.0.1:9/x")
        )
        with pytest.raises(Permanent) as refused:
            await it.client.get(HERE, "issues/1")
        assert refused.value.code == "github_redirected"


@pytest.mark.fault("D10")
@pytest.mark.parametrize("loop", [False, True])
async def test_all_pages(tmp_path: Path, loop: bool) -> None:
    async with stage(tmp_path) as it:
        world, now_ms = it.github.world, it.github.clock.now_ms()
        (repository,) = world.repositories.values()
        for n in range(230):
            number = world.next_id()
            repository.comments[number] = Comment(
                id=number, number=1, body=f"comment {n}", author_id=it.owner.id,
                created_ms=now_ms, updated_ms=now_ms,
            )  # fmt: skip
        if loop:
            it.github.faults.add(Fault(kind="loop", method="GET", nth=2))
        found = await it.client.pages(HERE, "issues/1/comments")
        assert [entry["body"] for entry in found] == [f"comment {n}" for n in range(230)]


async def test_what_did_not_change_costs_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.client.get(HERE, "issues/1")
        (before,) = (s.remaining for s in it.governor.states() if "installation" in s.credential)
        for _ in range(5):
            await it.client.get(HERE, "issues/1")
        (after,) = (s.remaining for s in it.governor.states() if "installation" in s.credential)
        assert before == after
        assert [asked.status for asked in it.github.requests.all][-5:] == [304] * 5


@pytest.mark.fault("D3")
@pytest.mark.fault("D15")
async def test_no_request_is_sent_that_a_limit_forbids(tmp_path: Path) -> None:
    """A small quota, small secondary limits, many at once, restarts in between: all is done."""
    async with stage(tmp_path, rules=Rules(primary_per_hour=120)) as it:
        left = list(range(250))
        for _ in range(60):
            if not left:
                break
            governor = DurableGovernor(
                it.memory, it.github.clock, chance=random.Random(9), sleep=it.asking._sleep
            )
            it.asking._governor = governor
            done = await asyncio.gather(
                *(comment(it, f"n{n}") for n in left), return_exceptions=True
            )
            held = [error.until_ms for error in done if isinstance(error, QuotaHeld)]
            assert all(isinstance(entry, dict | QuotaHeld) for entry in done)
            left = [n for n, entry in zip(left, done, strict=True) if isinstance(entry, QuotaHeld)]
            if held:
                now_ms = it.github.clock.now_ms()
                it.github.clock.advance(max(min(held) - now_ms, 0) / 1000)
        assert sorted(it.comments()) == sorted(f"n{n}" for n in range(250))
        refused = [asked for asked in it.github.requests.all if asked.status in (403, 429)]
        assert refused == [] and it.github.sent_while_limited == []


# -- git


async def test_git_fetches_and_pushes_with_a_narrow_token(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        url = parse(f"{it.github.url}/ada/engine.git", origins=frozenset({it.github.url}))
        logins = GitLogins(it.credentials, it.github.url)
        mirrors = Mirrors(tmp_path / "mirrors", Git(logins=logins))
        mirror = await mirrors.ensure(url)
        head = mirror.resolve_base("main").sha
        assert (await push(mirror, url, "awo/one", head, expected=None)).outcome == "created"
        reading = await it.credentials.narrowed("ada/engine", {"contents": "read"})
        writing = await it.credentials.narrowed("ada/engine", {"contents": "write"})
        assert reading.token != writing.token and {reading.token, writing.token} <= set(it.learned)
        # Nothing else can be done with it.
        it.credentials._tokens.clear()
        for credential, path in ((writing, "issues/1"), (reading, "issues/1")):
            request = HttpRequest(method="GET", url=f"{it.github.url}/repos/ada/engine/{path}")
            answer = await it.asking.ask("read", request, credential)
            assert answer.status in (403, 404)


async def test_git_replaces_a_token_that_died(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        url = parse(f"{it.github.url}/ada/engine.git", origins=frozenset({it.github.url}))
        logins = GitLogins(it.credentials, it.github.url)
        mirrors = Mirrors(tmp_path / "mirrors", Git(logins=logins))
        mirror = await mirrors.ensure(url)
        head = mirror.resolve_base("main").sha
        for contents in ("read", "write"):
            dead = await it.credentials.narrowed("ada/engine", {"contents": contents})
            request = HttpRequest(method="DELETE", url=f"{it.github.url}/installation/token")
            assert (await it.asking.ask("revoke", request, dead)).status == 204
        assert (await push(mirror, url, "awo/two", head, expected=None)).outcome == "created"


async def test_git_without_an_installation_says_what_is_missing(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        founding.add_repository(
            it.github.world, founding.add_account(it.github.world, "eve"), "hidden",
            private=True, files={"a": "b"},
        )  # fmt: skip
        url = parse(f"{it.github.url}/eve/hidden", origins=frozenset({it.github.url}))
        logins = GitLogins(it.credentials, it.github.url)
        with pytest.raises(AgentWorkOrdersError, match="is not installed there"):
            await Mirrors(tmp_path / "mirrors", Git(logins=logins)).ensure(url)


async def test_other_servers_are_given_nothing() -> None:
    logins = GitLogins(None, "https://github.com")  # type: ignore[arg-type]  # never asked
    for url in (
        "https://github.com.evil.example/ada/engine", "http://github.com/ada/engine",
        "https://github.com:444/ada/engine", "https://gitlab.com/ada/engine",
        "ssh://git@github.com/ada/engine", "git@github.com:ada/engine", "/srv/github.com/a/b",
        "https://github.com/ada", "https://github.com/a/b/c",
    ):  # fmt: skip
        assert await logins.login(url, writes=True) is None

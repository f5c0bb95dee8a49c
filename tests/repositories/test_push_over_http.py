"""Pushing over HTTP when the answer is lost: curl may have sent it twice."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_work_orders.errors import Permanent
from agent_work_orders.repositories.git import Git
from agent_work_orders.repositories.login import Login
from agent_work_orders.repositories.mirror import Mirror
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.repositories.push import delete, push, remote_head
from agent_work_orders.repositories.url import RepositoryUrl, parse
from github_simulator.changes import founding
from github_simulator.outside.faults import Fault
from github_simulator.server import GithubSimulator
from github_simulator.things.repository import Protection, RequiredReviews

BRANCH = "feat-wo-abcdefgh234567ab"
CLOSED = Fault(kind="drop", applied=True, operation="git/receive-pack")


class Logins:
    def __init__(self, password: str) -> None:
        self._password = password

    async def login(self, url: str, *, writes: bool) -> Login | None:
        return Login(username="x-access-token", password=self._password)

    async def done(self, url: str) -> None:
        return None

    async def moved(self, url: str) -> bool:
        return False

    async def refused(self, url: str, login: Login) -> bool:
        return False


@dataclass
class Place:
    github: GithubSimulator
    mirror: Mirror
    origin: RepositoryUrl

    async def commit(self, message: str) -> str:
        base = self.mirror.resolve_base(None).sha
        tree = await self.mirror.tree_of(base)
        return await self.mirror.commit_tree(tree, [base], message, author="A <a@b>", at_ms=0)

    def sent(self) -> int:
        return len(self.github.requests.of("git/receive-pack"))


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with GithubSimulator(tmp_path / "github") as github:
        owner = founding.add_account(github.world, "ada")
        founding.add_repository(github.world, owner, "engine", files={"README.md": "# Engine\n"})
        origin = parse(f"{github.url}/ada/engine.git", origins=frozenset({github.url}))
        logins = Logins(github.credentials.of_person(owner).value)
        mirrors = Mirrors(tmp_path / "mirrors", Git(logins=logins))
        yield Place(github, await mirrors.ensure(origin), origin)


@pytest.mark.fault("D7")
async def test_a_push_that_curl_repeats_by_itself_is_not_refused(place: Place) -> None:
    sha = await place.commit("one\n")
    place.github.faults.add(CLOSED)
    pushed = await push(place.mirror, place.origin, BRANCH, sha, expected=None)
    assert (pushed.outcome, place.sent()) == ("created", 2)
    assert await remote_head(place.mirror, place.origin, BRANCH) == sha


@pytest.mark.fault("D7")
async def test_a_deletion_that_curl_repeats_by_itself_is_not_refused(place: Place) -> None:
    sha = await place.commit("one\n")
    await push(place.mirror, place.origin, BRANCH, sha, expected=None)
    place.github.faults.add(CLOSED)
    assert await delete(place.mirror, place.origin, BRANCH, expected=sha)
    assert place.sent() == 3
    assert await remote_head(place.mirror, place.origin, BRANCH) is None


async def test_a_refusal_of_what_is_not_there_stays_one(place: Place) -> None:
    repository = place.github.world.repository("ada/engine")
    assert repository is not None
    repository.protections["main"] = Protection(reviews=RequiredReviews(), enforce_admins=True)
    with pytest.raises(Permanent) as refused:
        await push(place.mirror, place.origin, "main", await place.commit("one\n"), expected=None)
    assert refused.value.code == "push_protected"

"""The forge of GitHub with all of its client, against the whole simulator over loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent_work_orders.clock import SystemClock
from agent_work_orders.github_integration.account import Account
from agent_work_orders.github_integration.connection import connect
from agent_work_orders.github_integration.forge import Hub, Repository
from agent_work_orders.github_integration.quota import QuotaState
from agent_work_orders.testing.conformance.forge import ForgeConformance
from agent_work_orders.testing.conformance.hub import HubConformance
from agent_work_orders.testing.fakes.simulated_transport import FULL_NAME, PERMISSIONS
from github_simulator.directing import scenery
from github_simulator.outside.faults import Fault
from github_simulator.outside.limits import Rules
from github_simulator.server import GithubSimulator

pytestmark = pytest.mark.slow


class Forgetful:
    """The governor's memory, for as long as a test."""

    def load(self) -> list[QuotaState]:
        return []

    def save(self, state: QuotaState) -> None:
        pass

    async def settle(self) -> None:
        pass


class HttpDesk:
    def __init__(self, github: GithubSimulator, forge: Hub) -> None:
        self.github = github
        self.forge = forge
        self.repository = Repository(key="widgets-1", full_name=FULL_NAME)
        self._pushed = 0

    def push(self, branch: str, *, changes: bool = True) -> tuple[str, str]:
        base = scenery.repository(self.github.world, FULL_NAME)
        at = self.github.world.git(base).branch("main")
        assert at is not None
        if not changes:
            self.act("POST", "git/refs", {"ref": f"refs/heads/{branch}", "sha": at})
            return at, at
        self._pushed += 1
        asked = scenery.Commit(
            login="octocat",
            repository=FULL_NAME,
            branch=branch,
            files={"README.md": f"one\nzwei {self._pushed}\nthree\n"},
            message="Change",
        )
        return str(scenery.commit(self.github, asked)["sha"]), at

    def act(self, method: str, path: str, body: Any = None) -> Any:
        asked = scenery.Act(
            login="octocat", method=method, path=f"/repos/{FULL_NAME}/{path}".rstrip("/"), body=body
        )
        answer = scenery.act(self.github, asked)
        assert answer["status"] < 300, answer
        return answer["body"]

    def lose_next_answer(self, method: str) -> None:
        self.github.faults.add(
            Fault(kind="drop", applied=True, method=method, path=f"/repos/{FULL_NAME}/*")
        )


class TestGithubForgeOverHttp(ForgeConformance, HubConformance):
    @pytest.fixture
    async def desk(self, tmp_path: Path) -> AsyncIterator[HttpDesk]:
        async with GithubSimulator(tmp_path, rules=Rules()) as github:
            github.world.lazy_mergeability = False
            scenery.add_account(github, scenery.NewAccount(login="octocat"))
            scenery.add_account(github, scenery.NewAccount(login="acme", kind="Organization"))
            app = scenery.add_app(
                github, scenery.NewApp(slug="awo", owner="acme", permissions=PERMISSIONS)
            )
            scenery.add_repository(
                github,
                scenery.NewRepository(
                    owner="acme",
                    name="widgets",
                    files={"README.md": "one\ntwo\nthree\n"},
                    roles={"octocat": "admin"},
                ),
            )
            scenery.install(github, scenery.NewInstallation(app_id=app["id"], account="acme"))
            account = Account(
                api_url=github.url,
                server_url=github.url,
                app_id=app["id"],
                private_key=app["private_key"],
            )
            async with connect(
                account, Forgetful(), SystemClock(), learn=lambda _token: None
            ) as made:
                made.forge._sleep = nap
                yield HttpDesk(github, made.forge)


async def nap(_seconds: float) -> None:
    """What the simulator has, it shows at once."""

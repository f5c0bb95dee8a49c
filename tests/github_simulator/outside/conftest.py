"""A simulator on a loopback port with a small cast: two people, one App, one private repository."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from github_simulator.changes import founding
from github_simulator.outside import app_jwt
from github_simulator.routes import by_name
from github_simulator.server import GithubSimulator
from github_simulator.things.accounts import Account, App, Installation
from github_simulator.things.repository import Repository
from github_simulator.things.simulated_clock import SimulatedClock

sys.path.append(str(Path(__file__).parents[2]))

from github_descriptions import validate_answer

PERMISSIONS = {
    "contents": "write",
    "issues": "write",
    "pull_requests": "write",
    "checks": "write",
    "metadata": "read",
}
EVENTS = ("issues", "issue_comment", "push", "pull_request", "check_run")


@pytest.fixture(scope="session")
def key_pair() -> tuple[str, str]:
    return app_jwt.new_key_pair()


@dataclass
class Cast:
    github: GithubSimulator
    owner: Account
    reader: Account
    app: App
    installation: Installation
    repository: Repository
    private_key: str
    http: httpx.AsyncClient
    folder: Path

    @property
    def clock(self) -> SimulatedClock:
        return self.github.clock

    @property
    def path(self) -> str:
        return f"/repos/{self.github.world.full_name(self.repository)}"

    @property
    def git_url(self) -> str:
        return f"{self.github.url}/{self.github.world.full_name(self.repository)}.git"

    def jwt(self) -> str:
        return app_jwt.fresh(self.private_key, self.app.id, self.clock.now_ms())

    def token(self, **narrowed: Any) -> str:
        return self.github.credentials.of_installation(self.installation, **narrowed).value

    async def ask(
        self, method: str, path: str, token: str | None = None, **more: Any
    ) -> httpx.Response:
        headers = dict(more.pop("headers", {}))
        if token is not None:
            headers.setdefault("authorization", f"Bearer {token}")
        answer = await self.http.request(method, path, headers=headers, **more)
        self._hold_to_description(method, answer)
        return answer

    def _hold_to_description(self, method: str, answer: httpx.Response) -> None:
        """Whatever succeeds looks as GitHub says, unless a fault has damaged it."""
        last = self.github.requests.all[-1] if len(self.github.requests) else None
        if method == "HEAD" or last is None or last.fault or not last.operation:
            return
        if last.operation.startswith(("git/info", "git/upload", "git/receive", "graphql")):
            return
        if answer.status_code in (200, 201, 202):
            path = by_name(self.github.world, last.path)
            validate_answer(method, path, answer.status_code, answer.json())

    def authorised(self, token: str) -> str:
        return self.git_url.replace("http://", f"http://x-access-token:{token}@")


@pytest.fixture
async def cast(tmp_path: Path, key_pair: tuple[str, str]) -> AsyncIterator[Cast]:
    private, public = key_pair
    async with GithubSimulator(tmp_path / "github") as github:
        world = github.world
        owner = founding.add_account(world, "ada")
        reader = founding.add_account(world, "grace")
        app = founding.add_app(
            world,
            "worker",
            owner=owner,
            public_key=public,
            permissions=PERMISSIONS,
            events=EVENTS,
            webhook_secret="a secret of the hook",
        )
        repository = founding.add_repository(
            world,
            owner,
            "engine",
            private=True,
            files={"README.md": "# Engine\n"},
            roles={"grace": "read"},
        )
        installation = founding.install(world, app, owner, [repository])
        headers = {"user-agent": "tests"}
        async with httpx.AsyncClient(
            base_url=github.url, headers=headers, trust_env=False, timeout=30
        ) as http:
            yield Cast(
                github=github,
                owner=owner,
                reader=reader,
                app=app,
                installation=installation,
                repository=repository,
                private_key=private,
                http=http,
                folder=tmp_path,
            )


class Git:
    """The real client, with nothing of this machine's configuration."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: str, ok: bool = True) -> subprocess.CompletedProcess[str]:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "/bin/false",
            "GIT_AUTHOR_NAME": "T",
            "GIT_AUTHOR_EMAIL": "t@example.com",
            "GIT_COMMITTER_NAME": "T",
            "GIT_COMMITTER_EMAIL": "t@example.com",
        }
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert not ok or done.returncode == 0, done.stderr
        return done


@pytest.fixture
def git(tmp_path: Path) -> Git:
    folder = tmp_path / "work"
    folder.mkdir()
    return Git(folder)

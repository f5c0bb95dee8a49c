"""A running house with a small repository, and clients in process."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog

from agent_work_orders.api.app import create_app
from agent_work_orders.bootstrap import House, open_house
from agent_work_orders.repositories import url
from agent_work_orders.settings import Settings, changed

SCRIPT = """
version: 1
default:
  - write: {path: plan.md, content: "# Plan\\n"}
  - text: Done.
"""
SLEEPY = "version: 1\ndefault:\n  - delay: 60\n"
FAILING = "version: 1\ndefault:\n  - fail: {kind: invalid_request, message: no}\n"
GATED = """
name: gated
tasks:
  ask:
    uses: agent.prompt
    with: {prompt: Do it}
    approval: {message: "Really?", expires: 1h}
"""


def git(folder: Path, *arguments: str) -> str:
    person = {"NAME": "Ann", "EMAIL": "ann@example.invalid"}
    env = {
        **os.environ,
        **{f"GIT_{who}_{k}": v for who in ("AUTHOR", "COMMITTER") for k, v in person.items()},
    }
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=env, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def make_repository(folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "--quiet", "-b", "main")
    (folder / "file").write_text("one\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "Begin")
    return folder


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Like pytest's own, but agents, who are another user, may pass through its parents."""
    made = Path(tempfile.mkdtemp(prefix="awo-test-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture(autouse=True)
def quiet() -> None:
    structlog.configure(processors=[lambda *_: (_ for _ in ()).throw(structlog.DropEvent)])


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo")


@pytest.fixture
def other_repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "other")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return changed(
        Settings(home=tmp_path / "home"), {"server.drain_s": 0.5, "storage.synchronous": "NORMAL"}
    )


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    async with open_house(settings) as house:
        yield house


def client_of(app: Any, token: str | None, **headers: str) -> httpx.AsyncClient:
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers)


@pytest.fixture
def app(house: House) -> Any:
    return create_app(house)


@pytest.fixture
async def client(app: Any, house: House) -> AsyncIterator[httpx.AsyncClient]:
    """The local operator."""
    async with client_of(app, house.local_key) as client:
        yield client


@pytest.fixture
def as_key(app: Any, house: House) -> Callable[..., Any]:
    """A client with a new key of a role, for all repositories or the given ones."""

    @asynccontextmanager
    async def make(
        role: Any, repositories: list[Path] | None = None
    ) -> AsyncIterator[httpx.AsyncClient]:
        keys = None if repositories is None else [url.parse(str(one)).key for one in repositories]
        _, token = await house.context.store.keys.create(f"a {role}", role, repositories=keys)
        async with client_of(app, token) as client:
            yield client

    return make


@pytest.fixture
def order_body(repository: Path) -> Callable[..., dict[str, Any]]:
    def body(script: str = SCRIPT, **more: Any) -> dict[str, Any]:
        whole = {
            "repository_url": str(repository),
            "workflow_type": "agent_workflow_plan",
            "initial_prompt": "Write a plan",
            "agent": {"name": "scripted", "script": script},
            **more,
        }
        return {name: value for name, value in whole.items() if value is not None}

    return body


async def until_status(client: httpx.AsyncClient, order_id: str, *wanted: str) -> dict[str, Any]:
    """Wait for an order to get somewhere, and for lists and counts, which follow a moment later,
    to say the same."""
    for _ in range(600):
        answer = await client.get(f"/api/agent-work-orders/{order_id}")
        order: dict[str, Any] = answer.json()["agent_work_order"]
        if order["status"] in wanted:
            listed = await client.get("/api/agent-work-orders", params={"limit": 500})
            rows = {
                row["agent_work_order_id"]: row["status"]
                for row in listed.json()["agent_work_orders"]
            }
            if rows.get(order["agent_work_order_id"]) == order["status"]:
                return order
        await asyncio.sleep(0.05)
    raise AssertionError(f"{order_id} is {order['status']}, not {wanted}: {order}")


@pytest.fixture
def reach() -> Callable[..., Any]:
    return until_status


@pytest.fixture
def scripts() -> dict[str, str]:
    return {"done": SCRIPT, "sleepy": SLEEPY, "failing": FAILING, "gated": GATED}


@pytest.fixture
def made_client() -> Callable[..., httpx.AsyncClient]:
    return client_of

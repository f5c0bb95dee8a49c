"""A simulator in a process of its own, with a ready cast: somebody who writes, somebody who only
reads, an App, and a repository that it is installed on."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from agent_work_orders import ids
from agent_work_orders.errors import Environmental, Refused
from github_simulator.changes import founding
from github_simulator.outside import app_jwt
from github_simulator.server import GithubSimulator

PERMISSIONS = {
    "actions": "write",
    "administration": "read",
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
    "statuses": "write",
}
EVENTS = (
    "check_run",
    "check_suite",
    "issue_comment",
    "issues",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "push",
    "repository",
)
FILES = {
    "README.md": "# Basket\n\nAdds up what is in a basket.\n",
    "basket.py": "def total(prices):\n    return sum(prices)\n",
    "test_basket.py": "from basket import total\n\n\ndef test_total():\n"
    "    assert total([1, 2]) == 3\n",
}
KEY_FILE = "app.private-key.pem"


class Cast(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a product needs to work with the simulator. Without an App its id is 0."""

    url: str
    folder: str
    owner: str
    app_id: int
    installation_id: int
    private_key_file: str
    webhook_secret: str
    webhook_url: str
    repository: str
    clone_url: str
    writer: str
    writer_token: str
    reader: str
    reader_token: str


def found(
    github: GithubSimulator,
    folder: Path,
    webhook_url: str,
    files: Mapping[str, str],
    *,
    with_app: bool = True,
) -> Cast:
    """Fill an empty world; `with_app` with an App that is installed."""
    world = github.world
    writer = founding.add_account(world, "writer", name="Somebody who writes")
    reader = founding.add_account(world, "reader", name="Somebody who reads")
    owner = founding.add_account(world, "sample", "Organization", name="Sample")
    repository = founding.add_repository(
        world,
        owner,
        "basket",
        private=True,
        files=dict(files),
        roles={"writer": "write", "reader": "read"},
    )
    app_id = installation_id = 0
    key_file = secret = ""
    if with_app:
        private, public = app_jwt.new_key_pair()
        secret = ids.new_secret()
        app = founding.add_app(
            world,
            "agent-work-orders",
            owner=owner,
            public_key=public,
            permissions=PERMISSIONS,
            events=EVENTS,
            webhook_secret=secret,
        )
        app_id = app.id
        installation_id = founding.install(world, app, owner, [repository]).id
        app.webhook_url = webhook_url or None
        key_file = str(_keep(folder / KEY_FILE, private))
    return Cast(
        url=github.url,
        folder=str(folder),
        owner=owner.login,
        app_id=app_id,
        installation_id=installation_id,
        private_key_file=key_file,
        webhook_secret=secret,
        webhook_url=webhook_url,
        repository=world.full_name(repository),
        clone_url=f"{github.url}/{world.full_name(repository)}.git",
        writer=writer.login,
        writer_token=github.credentials.of_person(writer).value,
        reader=reader.login,
        reader_token=github.credentials.of_person(reader).value,
    )


async def stand(
    folder: Path,
    *,
    port: int,
    webhook_url: str,
    on_ready: Callable[[Cast], None],
    files: Mapping[str, str] = FILES,
    with_app: bool = True,
) -> None:
    """Serve until SIGINT or SIGTERM. Refused `folder_not_empty`, Environmental
    `address_unusable`."""
    if folder.exists() and any(folder.iterdir()):
        raise Refused(
            "folder_not_empty",
            f"{folder} has something in it",
            hint="What the simulator knows lives in memory: give it a new folder each time.",
            field="--folder",
        )
    folder.mkdir(parents=True, exist_ok=True)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    github = GithubSimulator(folder, port=port)
    try:
        await github.open()
    except OSError as error:
        raise Environmental(
            "address_unusable",
            f"Cannot listen at 127.0.0.1:{port} ({error.strerror})",
            hint="Stop what listens there, or choose another --port.",
        ) from error
    try:
        on_ready(found(github, folder, webhook_url, files, with_app=with_app))
        await ended.wait()
    finally:
        await github.close()


def _keep(path: Path, content: str) -> Path:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(content)
    return path

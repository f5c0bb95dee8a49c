"""The demonstration on a simulated GitHub: two processes, and a person who is played by this one.

What happened is not believed but read from the simulator's records: exactly one of each.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec

from agent_work_orders.cli.demo.sample import material
from agent_work_orders.cli.outcome import FAILED, Told
from agent_work_orders.cli.screen import Screen

PROGRAM = [sys.executable, "-c", "from agent_work_orders.cli.main import main; main()"]
PATIENCE_S = 120.0
LOOK_EVERY_S = 0.2
_APPROVE = re.compile(r"/awo approve ([0-9a-f]{12,64})")
LABEL = "awo"


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """Where the play takes place, as `awo simulate github --json` says it."""

    url: str
    app_id: int
    private_key_file: str
    webhook_secret: str
    repository: str
    writer_token: str
    reader_token: str


async def play(folder: Path, screen: Screen) -> dict[str, Any]:
    """The records of the repository at the end. Raises Told when anything is not as it should."""
    async with _started(["simulate", "github", "--port", "0", "--json"], folder, {}) as said:
        stage = msgspec.convert(json.loads(await said()), Stage, strict=False)
        screen.marked("started", f"a simulated GitHub at {stage.url}")
        async with (
            _product(stage, folder, screen) as address,
            httpx.AsyncClient(base_url=stage.url, trust_env=False) as http,
        ):
            hook = {"app_id": stage.app_id, "url": f"{address}/webhook/github"}
            await _ask(http, "POST", "/_simulator/apps/webhook", json=hook)
            number = await _open_issue(http, stage, screen)
            await _approve(http, stage, number, screen)
            records = dict(await _until(lambda: _finished(http, stage)))
            deliveries = await _ask(http, "GET", "/_simulator/deliveries")
            requests = await _ask(http, "GET", "/_simulator/requests")
            return {
                **records,
                "deliveries": deliveries["items"],
                "pushes": requests["counts"].get("git/receive-pack", 0),
            }


@asynccontextmanager
async def _product(stage: Stage, folder: Path, screen: Screen) -> AsyncIterator[str]:
    given = settings(stage, folder, material("github.yaml"))
    async with _started(["up", "--port", "0", "--no-open", "--json"], folder, given) as said:
        address = str(json.loads(await said())["url"])
        screen.marked("started", f"the product at {address}")
        yield address


def settings(stage: Stage, folder: Path, workflow: str) -> dict[str, str]:
    """The environment of a product that works with the stage; its files are written."""
    home, rules, script = folder / "data", folder / "rules.yaml", folder / "script.yaml"
    (home / "workflows").mkdir(parents=True, mode=0o755)
    (home / "workflows" / "demo-github.yaml").write_text(workflow, "utf-8")
    rules.write_text(f"github:\n  labels: {{{LABEL}: demo-github}}\n", "utf-8")
    script.write_text(material("script.yaml"), "utf-8")
    return {
        "AWO_HOME": str(home),
        "AWO_DEFAULT_AGENT": "scripted",
        "AWO_AGENT_SCRIPT": str(script),
        "AWO_GITHUB_RULES": str(rules),
        "AWO_GIT_ORIGINS": stage.url,
        "GITHUB_API_URL": stage.url,
        "GITHUB_SERVER_URL": stage.url,
        "GITHUB_APP_ID": str(stage.app_id),
        "GITHUB_PRIVATE_KEY": stage.private_key_file,
        "GITHUB_WEBHOOK_SECRET": stage.webhook_secret,
    }


async def _open_issue(http: httpx.AsyncClient, stage: Stage, screen: Screen) -> int:
    title, _, body = material("issue.md").partition("\n")
    made = await _ask(
        http,
        "POST",
        f"/repos/{stage.repository}/issues",
        token=stage.writer_token,
        json={"title": title.lstrip("# "), "body": body.strip()},
    )
    number = int(made["number"])
    await _ask(
        http,
        "POST",
        f"/repos/{stage.repository}/issues/{number}/labels",
        token=stage.writer_token,
        json={"labels": [LABEL]},
    )
    screen.marked("asked", f"issue #{number} with the label {LABEL}: {title.lstrip('# ')}")
    return number


async def _approve(http: httpx.AsyncClient, stage: Stage, number: int, screen: Screen) -> None:
    """Wait for the question; somebody who may only read says yes (which counts for nothing), then
    somebody who may write."""
    path = f"/repos/{stage.repository}/issues/{number}/comments"

    async def question() -> str | None:
        for comment in await _ask(http, "GET", path, token=stage.writer_token):
            if comment["user"]["type"] != "Bot":
                continue
            if "❌" in comment["body"]:
                raise Told("demo_not_verified", comment["body"], exit_code=FAILED)
            found = _APPROVE.search(comment["body"])
            if found is not None:
                return found[0]
        return None

    command = await _until(question)
    screen.marked("question", f"in the comment on #{number}: {command}")
    for name, token in (("reader", stage.reader_token), ("writer", stage.writer_token)):
        await _ask(http, "POST", path, token=token, json={"body": command})
        screen.marked("said", f"{command}  ({name})")


async def _finished(http: httpx.AsyncClient, stage: Stage) -> dict[str, Any] | None:
    """The records, once the comment says that the order is over."""
    records = (await _ask(http, "GET", "/_simulator/records"))[stage.repository]
    ours = [one for one in records["comments"] if "<!-- awo:" in one["body"]]
    over = any(word in one["body"] for one in ours for word in ("✅ done", "❌ failed", "⛔"))
    concluded = bool(records["checks"]) and all(one["conclusion"] for one in records["checks"])
    return dict(records) if over and concluded else None


# -- processes and requests


@asynccontextmanager
async def _started(
    arguments: list[str], folder: Path, given: dict[str, str]
) -> AsyncIterator[Callable[[], Awaitable[str]]]:
    """A command of ours, ended at the end; the function reads the JSON document that it prints."""
    log = folder / f"{arguments[0]}.log"
    process = _spawn(arguments, folder, given, log)
    try:
        yield lambda: asyncio.to_thread(_document, process, log)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            await asyncio.to_thread(process.wait, 60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _spawn(
    arguments: list[str], folder: Path, given: dict[str, str], log: Path
) -> subprocess.Popen[bytes]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AWO_", "GITHUB_")) and name != "ANTHROPIC_API_KEY"
    }
    with log.open("wb") as errors:
        return subprocess.Popen(
            [*PROGRAM, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**kept, **given},
            cwd=folder,
        )


def _document(process: subprocess.Popen[bytes], log: Path) -> str:
    assert process.stdout is not None
    text = ""
    while line := process.stdout.readline():
        text += line.decode()
        try:
            json.loads(text)
        except ValueError:
            continue
        return text
    raise Told("demo_not_started", f"A process ended at once; its log is {log}", exit_code=FAILED)


async def _ask(
    http: httpx.AsyncClient, method: str, path: str, *, token: str | None = None, **more: Any
) -> Any:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = await http.request(method, path, headers=headers, **more)
    if not answer.is_success:
        raise Told(
            "demo_refused", f"{method} {path} was answered {answer.status_code}", exit_code=FAILED
        )
    return answer.json() if answer.content else None


async def _until(look: Callable[[], Awaitable[Any]]) -> Any:
    for _ in range(int(PATIENCE_S / LOOK_EVERY_S)):
        found = await look()
        if found is not None:
            return found
        await asyncio.sleep(LOOK_EVERY_S)
    raise Told(
        "demo_not_verified",
        f"After {PATIENCE_S:.0f} s what was waited for had not happened",
        hint="The logs beside the sample say what did.",
        exit_code=FAILED,
    )

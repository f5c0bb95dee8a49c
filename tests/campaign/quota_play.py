"""Many orders against a small quota: the real product as its own process, the simulator in ours."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec

from agent_work_orders.cli.demo import on_github
from agent_work_orders.work_orders.outgoing import progress
from github_simulator.directing import scenery
from github_simulator.directing.admin import records
from github_simulator.outside.records import Asked
from github_simulator.server import GithubSimulator
from github_simulator.standing import found

HOUR_S, MINUTE_S = 60, 10
TASKS = 16
AT_ONCE = TASKS + progress.AT_ONCE + 1
"""Who of the product asks, one request after the other: tasks, the reporter, and the intake."""
CHILD = str(Path(__file__).parent / "short_hours.py")
WORKFLOW = """
name: demo-github
tasks:
  make: {uses: agent.command, with: {command: build}}
  publish: {needs: [make], uses: forge.open_pull_request}
"""
SCRIPT = """
version: 1
commands:
  build: [{write: {path: made.txt, content: made}}]
"""


class QuotaPlay:
    def __init__(self, room: Path, github: GithubSimulator) -> None:
        self.github = github
        self.folder = room
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{self._port}"
        cast = found(github, room, f"{self.address}/webhook/github", {"README.md": "Empty.\n"})
        self.credential = f"installation:{cast.installation_id}"
        self.stage = msgspec.convert(msgspec.to_builtins(cast), on_github.Stage, strict=False)
        self._given = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            **on_github.settings(self.stage, room, WORKFLOW),
            "AWO_RUNNING_TASKS": str(TASKS),
            "AWO_ORDERS_PER_REPOSITORY": "0",
            "AWO_STARTS_PER_REPOSITORY_PER_HOUR": "0",
            "AWO_STARTS_PER_MINUTE": "0",
            "SHORT_HOUR_S": str(HOUR_S),
            "SHORT_MINUTE_S": str(MINUTE_S),
        }
        (room / "script.yaml").write_text(SCRIPT)
        self.process: subprocess.Popen[bytes] | None = None
        self.lives = 0

    # -- the product

    async def start(self) -> None:
        self.lives += 1
        log = self.folder / f"up-{self.lives}.log"
        with log.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, CHILD, "up", "--port", str(self._port), "--no-open", "--json"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=self._given,
                cwd=self.folder,
            )
        await asyncio.to_thread(on_github._document, self.process, log)

    def kill(self) -> None:
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)

    async def orders(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await self._get("/api/agent-work-orders?limit=200"))[
            "agent_work_orders"
        ]
        return found

    async def _get(self, path: str) -> Any:
        key = (self.folder / "data" / "local.key").read_text().strip()
        async with httpx.AsyncClient(base_url=self.address, trust_env=False) as http:
            answer = await http.get(path, headers={"Authorization": f"Bearer {key}"})
        answer.raise_for_status()
        return answer.json()

    async def parked(self) -> list[dict[str, Any]]:
        return [one for one in await self.orders() if one["waiting_reason"] == "github_quota"]

    async def status(self) -> dict[str, Any]:
        return dict(await self._get("/status"))

    def awo(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, CHILD, *arguments],
            env=self._given, cwd=self.folder, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    # -- the world

    def ask(self, number: int) -> None:
        """Somebody opens issues with the label; people are not limited here."""
        for n in range(number):
            body = {"title": f"Make {n}", "labels": [on_github.LABEL]}
            path = f"/repos/{self.stage.repository}/issues"
            made = scenery.act(
                self.github, scenery.Act(login="writer", method="POST", path=path, body=body)
            )
            assert made["status"] == 201

    def records(self) -> dict[str, Any]:
        whole: dict[str, Any] = records(self.github, None)  # type: ignore[arg-type]
        return dict(whole[self.stage.repository])

    def asked(self) -> list[Asked]:
        """What came with the credential that is limited."""
        return [one for one in self.github.requests.all if one.credential == self.credential]

    async def until(self, true: Callable[[], Any], tries: int = 1_200) -> Any:
        for _ in range(tries):
            found = true()
            if asyncio.iscoroutine(found):
                found = await found
            if found:
                return found
            await asyncio.sleep(0.1)
        raise AssertionError(self.complaints())

    def left(self) -> tuple[int, int]:
        """Of the quota, and when it is renewed."""
        shown = self.github.limits.rate_of(self.credential)
        return shown["remaining"], shown["reset"] * 1000

    async def progress(self, number: int) -> None:
        """Until there are so many more pull requests."""
        enough = len(self.records()["pull_requests"]) + number
        await self.until(lambda: len(self.records()["pull_requests"]) >= enough)

    def complaints(self) -> str:
        logs = sorted(self.folder.glob("up-*.log"))
        lines = [line for log in logs for line in log.read_text("utf-8").splitlines()]
        told = [line for line in lines if '"level": "info"' not in line]
        return "\n".join(told[-40:])[-6_000:]


def doubled(now: dict[str, Any], number: int) -> list[str]:
    """Whatever is not there exactly once for each of the issues."""
    comments = [one for one in now["comments"] if ":progress-comment -->" in one["body"]]
    found = {
        "pull requests": [one["head_ref"] for one in now["pull_requests"]],
        "comments": [one["number"] for one in comments if "⚠️ done, but unverified" in one["body"]],
        "checks": [one["head_sha"] for one in now["checks"] if one["conclusion"] == "neutral"],
        "reactions": [one["on"] for one in now["reactions"] if one["content"] == "eyes"],
        "branches": [ref for ref in now["branches"] if "wo-" in ref],
    }
    wrong = [f"{what}: {len(set(of))}" for what, of in found.items() if len(set(of)) != number]
    for what, all_of in (*found.items(), ("all comments", now["comments"])):
        if len(all_of) != number:
            wrong.append(f"{what} in all: {len(all_of)}")
    return wrong


def impolite(asked: list[Asked]) -> list[str]:
    """What was sent while a limit held that its sender knew of.

    A request that arrives after a limit was told can only have been let through before the answer
    was heard: at most one of each who can ask at once, because who is refused has heard of it.
    """
    wrong = []
    late = [one for one in asked if one.told_for_ms is not None]
    tellers = [one for one in asked if one.told_for_ms is None and _tells(one)]
    for teller in tellers:
        after = [one for one in late if abs(_told_at_ms(one) - teller.at_ms) < 1_000]
        late = [one for one in late if one not in after]
        if len(after) >= AT_ONCE:
            wrong += [f"limit told at {teller.at_ms} on {teller.connection}, and then:"]
            wrong += [_line(one) for one in after]
    return wrong + [_line(one) for one in late]


def _line(one: Asked) -> str:
    return (
        f"{one.came_ms} to {one.at_ms} on {one.connection}: {one.operation} {one.status}, "
        f"{one.remaining} left, told for {one.told_for_ms} ms"
    )


def _tells(one: Asked) -> bool:
    return one.status in (403, 429) or one.remaining == 0


def _told_at_ms(one: Asked) -> int:
    return one.came_ms - (one.told_for_ms or 0)


def paid(asked: list[Asked]) -> int:
    """Requests that cost quota: an unchanged answer is free."""
    return sum(one.status not in (304, 403, 429) for one in asked)

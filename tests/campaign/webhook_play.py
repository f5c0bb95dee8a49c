"""The real product beside the simulator, for what happens to deliveries: orders only wait."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx

from agent_work_orders.state_manager.sqlite.database import DATABASE_NAME
from github_simulator.server import GithubSimulator
from github_simulator.standing import found

PROGRAM = [sys.executable, "-c", "from agent_work_orders.cli.main import main; main()"]
WORKFLOW = """
name: waits
tasks:
  ask:
    uses: agent.prompt
    with: {prompt: Do it}
    approval: {message: "Really?", expires: 1h}
"""
RULES = "github: {labels: {awo: waits}}"
TABLES = ("orders", "events", "ledger", "order_subjects", "idempotency_keys", "approvals")


class WebhookPlay:
    def __init__(self, room: Path, github: GithubSimulator, rules: str = RULES) -> None:
        self.github = github
        self.folder = room
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.cast = found(github, room, f"{self.url}/webhook/github", {"a.txt": "a\n"})
        self.secret = self.cast.webhook_secret
        workflows = room / "data" / "workflows"
        workflows.mkdir(parents=True, mode=0o755)
        (workflows / "waits.yaml").write_text(WORKFLOW)
        (room / "rules.yaml").write_text(rules)
        (room / "script.yaml").write_text("version: 1\n")
        self.process: subprocess.Popen[bytes] | None = None
        self.lives = 0

    def _environment(self) -> dict[str, str]:
        given = {
            "AWO_HOME": str(self.folder / "data"),
            "AWO_DEFAULT_AGENT": "scripted",
            "AWO_AGENT_SCRIPT": str(self.folder / "script.yaml"),
            "AWO_GITHUB_RULES": str(self.folder / "rules.yaml"),
            "AWO_GIT_ORIGINS": self.github.url,
            "GITHUB_API_URL": self.github.url,
            "GITHUB_SERVER_URL": self.github.url,
            "GITHUB_APP_ID": str(self.cast.app_id),
            "GITHUB_PRIVATE_KEY": self.cast.private_key_file,
            "GITHUB_WEBHOOK_SECRET": self.secret,
        }
        return {**os.environ, **given}

    async def start(self) -> None:
        self.lives += 1
        arguments = ["up", "--port", str(self.port), "--no-open", "--json"]
        with (self.folder / f"up-{self.lives}.log").open("wb") as log:
            self.process = subprocess.Popen(
                [*PROGRAM, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env=self._environment(),
                cwd=self.folder,
            )
        await asyncio.to_thread(self._ready)

    def _ready(self) -> None:
        assert self.process is not None and self.process.stdout is not None
        text = ""
        while line := self.process.stdout.readline():
            text += line.decode()
            try:
                json.loads(text)
            except ValueError:
                continue
            return
        raise AssertionError("it ended at once: " + self.complaints())

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def end(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)

    async def ask(self) -> None:
        """Somebody opens an issue with the label."""
        async with httpx.AsyncClient(base_url=self.github.url, trust_env=False) as http:
            answer = await http.post(
                f"/repos/{self.cast.repository}/issues",
                headers={"Authorization": f"Bearer {self.cast.writer_token}"},
                json={"title": "Make it", "labels": ["awo"]},
            )
            assert answer.status_code == 201, answer.text

    def complaints(self) -> str:
        """What the product's own log says of trouble: for whoever reads a failure."""
        logs = sorted(self.folder.glob("up-*.log"))
        lines = [line for log in logs for line in log.read_text("utf-8").splitlines()]
        return "\n".join(line for line in lines if '"level": "info"' not in line)[-6_000:]

    def rows(self, query: str, *values: Any) -> list[Any]:
        """From the product's own file, read from outside."""
        database = sqlite3.connect(f"file:{self.folder / 'data' / DATABASE_NAME}?mode=ro", uri=True)
        try:
            return database.execute(query, values).fetchall()
        finally:
            database.close()

    def counts(self) -> dict[str, int]:
        return {name: self.rows(f"SELECT count(*) FROM {name}")[0][0] for name in TABLES}

    def orders(self) -> int:
        return int(self.rows("SELECT count(*) FROM orders")[0][0])

    async def until_orders(self, count: int) -> None:
        """Then everything that is under way has ended, and it is still that many."""
        for _ in range(1_200):
            if self.orders() >= count:
                break
            await asyncio.sleep(0.05)
        await self.quiet()
        assert self.orders() == count, self.complaints()

    async def quiet(self) -> None:
        """Until the simulator has told everything and the product has handled it."""
        await self.github.deliveries.settled()
        for _ in range(1_200):
            if not self.rows("SELECT 1 FROM deliveries WHERE outcome IS NULL"):
                return
            await asyncio.sleep(0.05)
        raise AssertionError("deliveries are still waiting: " + self.complaints())

    async def stop_the_clock(self) -> None:
        """The process is there and does nothing: what is sent to it is taken by the kernel."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGSTOP)

    def redeliveries(self) -> int:
        return sum(one.redelivery for one in self.github.deliveries.kept)


async def happened(what: Any) -> None:
    for _ in range(3_000):
        if what():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it did not happen")

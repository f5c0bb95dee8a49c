"""The real server and the real Claude Code beside a model that fails on demand."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from agent_work_orders.agent_executor import prices
from agent_work_orders.agent_executor.claude_code import find_binary, unreachable
from agent_work_orders.agent_executor.prices import Tokens
from agent_work_orders.testing.model_simulator import ModelSimulator

PROGRAM = [sys.executable, "-c", "from agent_work_orders.cli.main import main; main()"]
WORKFLOW = """
name: edits
tasks:
  work:
    uses: agent.prompt
    with: {prompt: "Make first.txt, then second.txt."}
"""


class OutagePlay:
    def __init__(self, room: Path, model: ModelSimulator, **settings: str) -> None:
        self.folder, self.model, self.settings = room, model, settings
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None
        self.source = room / "source"
        self.source.mkdir()
        (self.source / "README.md").write_text("A repository.\n")
        for words in (
            ["init", "-q", "-b", "main"],
            ["add", "."],
            ["-c", "user.name=P", "-c", "user.email=p@example.com", "commit", "-q", "-m", "start"],
        ):
            subprocess.run(["git", *words], cwd=self.source, check=True)
        workflows = room / "data" / "workflows"
        workflows.mkdir(parents=True)
        (workflows / "edits.yaml").write_text(WORKFLOW)

    def _binary(self) -> str:
        found = find_binary(None)
        assert found is not None
        if unreachable(found) is None:
            return found
        copy = self.folder / "claude"
        if not copy.exists():
            shutil.copyfile(found, copy)
            copy.chmod(0o755)
        return str(copy)

    def _environment(self) -> dict[str, str]:
        given = {
            "AWO_HOME": str(self.folder / "data"),
            "AWO_CLAUDE_BINARY": self._binary(),
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "sk-simulated-key-for-tests",
            **self.settings,
        }
        return {**os.environ, **given}

    async def start(self) -> None:
        with (self.folder / "up.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*PROGRAM, "up", "--port", str(self.port), "--no-open", "--json"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._environment(),
                cwd=self.folder,
            )
        await self.until(lambda: b'"url"' in (self.folder / "up.log").read_bytes(), 60)

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait()

    async def awo(self, *words: str) -> Any:
        done = await asyncio.to_thread(
            subprocess.run,
            [*PROGRAM, *words, "--json"],
            capture_output=True,
            env=self._environment(),
            cwd=self.folder,
            timeout=60,
        )
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    async def submit(self) -> str:
        words = ["--repo", str(self.source), "--workflow", "edits", "--agent", "claude_code"]
        told = await self.awo("run", "Do it", *words, "--detach")
        return str(told["agent_work_order"]["agent_work_order_id"])

    async def show(self, order_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """The order, and its one task."""
        told = await self.awo("show", order_id)
        return told["agent_work_order"], told["tasks"][0]

    async def until_ended(self, order_id: str, limit_s: float) -> list[str | None]:
        """The reasons for which it waited on the way."""
        reasons: list[str | None] = []
        deadline = asyncio.get_running_loop().time() + limit_s
        while True:
            order, _ = await self.show(order_id)
            if order["waiting_reason"] not in reasons:
                reasons.append(order["waiting_reason"])
            if order["status"] in ("completed", "failed", "cancelled"):
                return reasons
            assert asyncio.get_running_loop().time() < deadline, order
            await asyncio.sleep(2)

    async def until(self, wanted: Any, limit_s: float) -> None:
        deadline = asyncio.get_running_loop().time() + limit_s
        while not wanted():
            assert asyncio.get_running_loop().time() < deadline, "waited in vain"
            await asyncio.sleep(0.1)

    def content(self, order_id: str, name: str) -> str:
        """Of a file as the order's branch has it."""
        mirror = next((self.folder / "data" / "mirrors").glob("**/HEAD")).parent
        head = f"refs/awo/orders/{order_id}/head"
        words = ["git", f"--git-dir={mirror}", "show", f"{head}:{name}"]
        return subprocess.run(words, capture_output=True, check=True, text=True).stdout

    def commits(self, order_id: str) -> int:
        mirror = next((self.folder / "data" / "mirrors").glob("**/HEAD")).parent
        head = f"refs/awo/orders/{order_id}/head"
        words = ["git", f"--git-dir={mirror}", "rev-list", "--count", f"{head}"]
        return int(subprocess.run(words, capture_output=True, check=True).stdout) - 1

    @property
    def served_usd(self) -> float:
        return sum(
            prices.cost_usd(one.model, Tokens(input=one.input_tokens, output=one.output_tokens))
            or 0.0
            for one in self.model.served
        )

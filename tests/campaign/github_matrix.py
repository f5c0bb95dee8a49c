"""Driving the real product against the simulator, and killing it where it hurts.

The simulator is in the test's process, the product in another, which is killed with SIGKILL. The
moment is chosen from the world's side: the request has come and nothing was done; it was done and
not answered; it was answered.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import httpx
import msgspec

from agent_work_orders.cli.demo import on_github
from agent_work_orders.testing.github_simulator.admin import records
from agent_work_orders.testing.github_simulator.faults import Fault
from agent_work_orders.testing.github_simulator.server import GithubSimulator
from agent_work_orders.testing.github_simulator.standing import found

Moment = Literal["before it is sent", "sent, no answer", "answered"]
MOMENTS: tuple[Moment, ...] = ("before it is sent", "sent, no answer", "answered")
WORKFLOW = """
name: demo-github
tasks:
  plan: {uses: agent.command, phase: planning, with: {command: plan}}
  draft: {needs: [plan], uses: forge.open_pull_request, with: {draft: true}}
  remark: {needs: [draft], uses: github.comment, with: {body: "A remark of its own."}}
  label: {needs: [draft], uses: github.label, with: {add: [in-progress]}}
  status:
    needs: [draft]
    uses: github.status
    with: {head_sha: "{{ tasks.draft.outputs.head }}", state: success, description: "Fine."}
  check:
    needs: [draft]
    uses: github.check
    with:
      head_sha: "{{ tasks.draft.outputs.head }}"
      name: extra
      title: Looked at
      summary: All is well.
      conclusion: success
  build: {needs: [remark, label, status, check], uses: agent.command, with: {command: build}}
  publish: {needs: [build], uses: forge.open_pull_request}
"""
WRITES = {
    "git/receive-pack": "push the branch",
    "pulls/create": "open the pull request",
    "pulls/update": "update the pull request",
    "graphql": "mark it ready",
    "issues/create-comment": "write a comment",
    "issues/update-comment": "edit the progress comment",
    "checks/create": "write a check",
    "checks/update": "conclude a check",
    "issues/add-labels": "add a label",
    "repos/create-commit-status": "set a status",
    "reactions/create-for-issue": "react to the issue",
}
FAULTS: dict[str, Callable[[str], Fault]] = {
    "connection closed after it was done": lambda op: Fault(
        kind="drop", applied=True, operation=op
    ),
    "connection reset after it was done": lambda op: Fault(
        kind="reset", applied=True, operation=op
    ),
    "500 after it was done": lambda op: Fault(
        kind="status", applied=True, status=500, operation=op
    ),
    "502 after it was done": lambda op: Fault(
        kind="status", applied=True, status=502, operation=op
    ),
    "the answer is cut": lambda op: Fault(kind="truncated", operation=op),
    "a page instead of JSON": lambda op: Fault(kind="html", applied=True, operation=op),
    "an empty answer": lambda op: Fault(kind="empty", applied=True, operation=op),
    "502 before it was done": lambda op: Fault(kind="status", status=502, operation=op),
}


class Play:
    def __init__(self, room: Path, github: GithubSimulator) -> None:
        self.github = github
        self.folder = room
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        hook = f"http://127.0.0.1:{self._port}/webhook/github"
        files = {"basket.py": "def total():\n    return 1\n"}
        cast = found(github, room, hook, files)
        self.stage = msgspec.convert(msgspec.to_builtins(cast), on_github.Stage, strict=False)
        self._given = on_github.settings(self.stage, room, WORKFLOW)
        (room / "script.yaml").write_text(SCRIPT)
        self.process: subprocess.Popen[bytes] | None = None
        self.lives = 0

    async def start(self) -> None:
        self.lives += 1
        log = self.folder / f"up-{self.lives}.log"
        arguments = ["up", "--port", str(self._port), "--no-open", "--json"]
        self.process = on_github._spawn(arguments, self.folder, self._given, log)
        await asyncio.to_thread(on_github._document, self.process, log)

    def kill(self) -> None:
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)

    async def ask(self) -> None:
        """Somebody opens an issue with the label."""
        address = f"/repos/{self.stage.repository}/issues"
        async with httpx.AsyncClient(base_url=self.github.url, trust_env=False) as http:
            await on_github._ask(
                http,
                "POST",
                address,
                token=self.stage.writer_token,
                json={"title": "Make it", "labels": [on_github.LABEL]},
            )

    async def kill_at_every_write(self, moment: Moment) -> set[str]:
        """Kill at the first of each kind of write, start again, until the order is over. Returns
        the kinds at which it died."""
        if moment != "answered":
            applied = moment == "sent, no answer"
            self.github.faults.add(
                *(Fault(kind="hang", applied=applied, operation=op) for op in WRITES)
            )
        struck: set[str] = set()
        for _ in range(12_000):
            fresh = self._came(moment) - struck
            if fresh:
                struck |= fresh
                self.kill()
                await self.start()
            if self.over():
                break
            await asyncio.sleep(0.01)
        return struck

    def _came(self, moment: Moment) -> set[str]:
        if moment == "answered":
            return {one.operation for one in self.github.requests.all if one.status} & set(WRITES)
        return {hit.fault.operation for hit in self.github.faults.hits}

    def complaints(self) -> str:
        """What the product's own log says of trouble: for whoever reads a failure."""
        logs = sorted(self.folder.glob("up-*.log"))
        lines = [line for log in logs for line in log.read_text("utf-8").splitlines()]
        return "\n".join(line for line in lines if '"level": "info"' not in line)[-6_000:]

    def records(self) -> dict[str, Any]:
        whole: dict[str, Any] = records(self.github, None)  # type: ignore[arg-type]
        return dict(whole[self.stage.repository])

    def over(self) -> bool:
        ours = [one for one in self.records()["comments"] if ":progress-comment -->" in one["body"]]
        return any("✅ done" in one["body"] or "❌" in one["body"] for one in ours)

    async def finish(self) -> dict[str, Any]:
        for _ in range(1_200):
            now = self.records()
            if self.over() and now["checks"] and all(one["conclusion"] for one in now["checks"]):
                return now
            await asyncio.sleep(0.1)
        return self.records()


SCRIPT = """
version: 1
commands:
  plan: [{write: {path: plan.md, content: plan}}]
  build: [{write: {path: made.txt, content: made}}]
"""


def doubled(now: dict[str, Any]) -> list[str]:
    """Whatever is not there exactly once."""
    ours = [one["body"].split("<!-- awo:")[-1] for one in now["comments"]]
    wrong = [f"comment {key}: {n}" for key, n in Counter(ours).items() if n != 1]
    if len(ours) != 2:
        wrong.append(f"{len(ours)} comments, not the progress and the remark")
    checks = Counter((one["name"], one["head_sha"]) for one in now["checks"])
    wrong += [f"check {key}: {n}" for key, n in checks.items() if n != 1]
    reactions = Counter((one["on"], one["content"]) for one in now["reactions"])
    wrong += [f"reaction {key}: {n}" for key, n in reactions.items() if n != 1]
    branches = [ref for ref in now["branches"] if "wo-" in ref]
    if len(branches) != 1:
        wrong.append(f"{len(branches)} branches")
    pulls = now["pull_requests"]
    if len(pulls) != 1 or pulls[0]["draft"] or pulls[0]["state"] != "open":
        wrong.append(f"{len(pulls)} pull requests, or not ready")
    if not any("✅ done" in one["body"] for one in now["comments"]):
        wrong.append("the comment does not say done")
    return wrong

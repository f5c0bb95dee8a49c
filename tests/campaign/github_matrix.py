"""Driving the real product against the simulator, and killing it where it hurts.

The simulator is in the test's process, the product in another, which is killed with SIGKILL. The
moment is chosen from the world's side: the request has come and nothing was done; it was done and
not answered; it was answered. Three orders at once reach every write: one offers a change, talks
about it, administers, and is rolled back in the end; one merges; one starts a workflow.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
from github_writes import WRITES, Moment, Phase, Write

from agent_work_orders.cli import over_http
from agent_work_orders.cli.demo import on_github
from github_simulator.directing import scenery
from github_simulator.directing.admin import Nothing, records
from github_simulator.outside.faults import Fault
from github_simulator.server import GithubSimulator
from github_simulator.standing import found

FINDINGS = 60
PATIENCE_S = 240.0
LOOK_EVERY_S = 0.02
ASK_AGAIN_S = 15.0
"""A question that still stands: what the person said was lost with a process."""
OFFER = """
name: offer
tasks:
  settings:
    uses: github.settings
    with: {changes: {allow_auto_merge: true, description: changed}}
  protect:
    uses: github.protect
    with:
      branch: main
      rules: {required_status_checks: {strict: false, contexts: [gate]}}
  plan: {uses: agent.command, phase: planning, with: {command: plan}}
  draft: {needs: [plan], uses: forge.open_pull_request, with: {draft: true}}
  remark: {needs: [draft], uses: github.comment, with: {body: "A remark of its own."}}
  label: {needs: [draft], uses: github.label, with: {add: [in-progress], remove: [later]}}
  closing: {needs: [draft], uses: github.issue_state, with: {state: closed}}
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
      findings: [FINDINGS]
  review:
    needs: [draft]
    uses: github.review
    with:
      number: "{{ tasks.draft.outputs.number }}"
      body: Read.
      findings: [{path: plan.md, line: 1, severity: info, message: First}]
  resolve:
    needs: [review]
    uses: github.resolve_threads
    with: {number: "{{ tasks.draft.outputs.number }}"}
  build: {needs: [draft], uses: agent.command, with: {command: build}}
  publish: {needs: [build, review, check], uses: forge.open_pull_request}
  auto:
    needs: [publish, settings, protect]
    uses: github.auto_merge
    with: {number: "{{ tasks.publish.outputs.number }}"}
""".replace(
    "FINDINGS",
    ", ".join(
        f"{{path: plan.md, line: 1, severity: info, message: Finding {n}}}" for n in range(FINDINGS)
    ),
)
MERGE = """
name: merge
tasks:
  other: {uses: agent.command, with: {command: test}}
  publish: {needs: [other], uses: forge.open_pull_request}
  gate:
    needs: [publish]
    uses: github.status
    with:
      head_sha: "{{ tasks.publish.outputs.head }}"
      context: gate
      state: success
      description: Open.
  merge:
    needs: [gate]
    uses: github.merge
    with:
      number: "{{ tasks.publish.outputs.number }}"
      head_sha: "{{ tasks.publish.outputs.head }}"
"""
START = """
name: start
tasks:
  start: {uses: github.dispatch, with: {workflow: ci.yml, ref: main}}
"""
SCRIPT = """
version: 1
commands:
  plan: [{write: {path: plan.md, content: plan}}]
  build: [{write: {path: made.txt, content: made}}]
  test: [{write: {path: other.md, content: other}}]
"""
FILES = {
    "basket.py": "def total():\n    return 1\n",
    ".github/workflows/ci.yml": "on: workflow_dispatch\njobs: {}\n",
}
LABELS = {"awo": "offer", "awo:merge": "merge", "awo:start": "start"}
_APPROVE = re.compile(r"/awo approve ([0-9a-f]{12})")
_PROGRESS = re.compile(r"<!-- awo:(\S+):progress-comment -->")
ENDS = ("✅ done", "⚠️ done, but unverified", "❌ failed", "⛔ cancelled")


class Play:
    def __init__(self, room: Path, github: GithubSimulator) -> None:
        self.github = github
        self.folder = room
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        cast = found(github, room, f"{self.url}/webhook/github", FILES)
        for installation in github.world.installations.values():
            installation.permissions["administration"] = "write"
        self.stage = msgspec.convert(msgspec.to_builtins(cast), on_github.Stage, strict=False)
        self._given = self._settings()
        self._rows: dict[int, Write] = {}
        self._said: dict[str, float] = {}
        self._moment: Moment | None = None
        self.struck: set[str] = set()
        self.process: subprocess.Popen[bytes] | None = None
        self.lives = 0

    def _settings(self) -> dict[str, str]:
        given = on_github.settings(self.stage, self.folder, OFFER.replace("offer", "demo-github"))
        workflows = self.folder / "data" / "workflows"
        for name, text in (("offer", OFFER), ("merge", MERGE), ("start", START)):
            (workflows / f"{name}.yaml").write_text(text)
        rules = ", ".join(f'"{label}": {workflow}' for label, workflow in LABELS.items())
        (self.folder / "rules.yaml").write_text(f"github:\n  labels: {{{rules}}}\n")
        (self.folder / "script.yaml").write_text(SCRIPT)
        # Shorter than a fault lasts; long enough for a busy machine.
        return {**given, "AWO_ORDERS_PER_REPOSITORY": "0", "AWO_GITHUB_TIMEOUT_S": "5"}

    # -- the play

    async def perform(
        self, strike: Callable[[Write], Fault], moment: Moment | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The records when everything was made, and when it was undone."""
        self._moment = moment
        self._arm(strike, "making")
        await self.start()
        *most, last = LABELS
        for label in most:
            self._act("POST", "issues", {"title": f"Do {label}", "labels": [label, "later"]})
        self._act("POST", "issues", {"title": f"Do {last}", "labels": ["later"]})
        await self._until(lambda: self._made(len(most)))
        # What cannot be repeated comes alone: killed for another's write, it would not be sent.
        self._act("POST", f"issues/{len(LABELS)}/labels", {"labels": [last]})
        await self._until(lambda: self._made(len(LABELS)))
        await self._while_asking(self._feedback)
        made = self.records()
        self._arm(strike, "undoing")
        await self._while_asking(self._roll_back)
        await self._until(self._undone)
        return made, self.records()

    def _arm(self, strike: Callable[[Write], Fault], phase: Phase) -> None:
        self.github.faults.clear()
        for write in WRITES:
            if write.phase == phase:
                fault = strike(write)
                self._rows[id(fault)] = write
                self.github.faults.add(fault)

    async def _until(self, done: Callable[[], bool]) -> None:
        """Plays the person who approves and the hand that kills, until it is done."""
        loop = asyncio.get_running_loop()
        end = loop.time() + PATIENCE_S
        while loop.time() < end:
            await self._strike()
            if done():
                return
            self._approve(loop.time())
            await asyncio.sleep(LOOK_EVERY_S)

    async def _while_asking(self, ask: Callable[[httpx.AsyncClient], Any]) -> None:
        """Somebody asks the product, again and again until it has answered."""
        asking = asyncio.create_task(self._ask(ask))
        try:
            await self._until(asking.done)
        finally:
            asking.cancel()
            await asyncio.wait([asking])

    async def _ask(self, ask: Callable[[httpx.AsyncClient], Any]) -> None:
        key = over_http.api_key(self.folder / "data")
        headers = {"authorization": f"Bearer {key}"}
        async with httpx.AsyncClient(
            base_url=self.url, headers=headers, trust_env=False, timeout=30
        ) as http:
            while True:
                try:
                    answer: httpx.Response = await ask(http)
                    if answer.is_success or answer.status_code == 409:
                        return
                except httpx.HTTPError:
                    pass
                await asyncio.sleep(0.2)

    async def _feedback(self, http: httpx.AsyncClient) -> httpx.Response:
        owner, _, repo = self.stage.repository.partition("/")
        pull = self._offered()
        given = {"owner": owner, "repo": repo, "prNumber": pull.number, "sha": pull.head_sha}
        said = {"status": "success", "comment": "Feedback from outside."}
        address = "/api/integrations/github/pr-feedback"
        return await http.post(address, json={**given, **said})

    async def _roll_back(self, http: httpx.AsyncClient) -> httpx.Response:
        order_id = self._progress()[1][0]
        return await http.post(f"/api/agent-work-orders/{order_id}/rollback")

    # -- the process

    async def start(self) -> None:
        self.lives += 1
        log = self.folder / f"up-{self.lives}.log"
        arguments = ["up", "--port", str(self._port), "--no-open", "--json"]
        self.process = on_github._spawn(arguments, self.folder, self._given, log)
        await asyncio.to_thread(on_github._document, self.process, log)

    async def end(self) -> None:
        """The simulator goes on meanwhile: the product has a last word."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(self.process.wait, 60)

    async def _strike(self) -> None:
        """Kill at the first of each kind of write, and start again. Not while a webhook is on its
        way: that a delivery is lost is another test's matter."""
        faults = self.github.faults
        came = [hit.fault for hit in faults.hits]
        if self._moment == "answered":
            came = faults.answered
        fresh = {self._rows[id(one)].name for one in came if id(one) in self._rows} - self.struck
        if not fresh:
            return
        if self._moment is not None:
            if any(one.status == "pending" for one in self.github.deliveries.kept):
                return
            assert self.process is not None
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait()
            await self.start()
        self.struck |= fresh

    def complaints(self) -> str:
        """What the product's own log says of trouble: for whoever reads a failure."""
        logs = sorted(self.folder.glob("up-*.log"))
        lines = [line for log in logs for line in log.read_text("utf-8").splitlines()]
        return "\n".join(line for line in lines if '"level": "info"' not in line)[-6_000:]

    # -- the world

    def records(self) -> dict[str, Any]:
        now: dict[str, Any] = records(self.github, Nothing())[self.stage.repository]
        main = self._store.branch("main")
        return {**now, "main": self._store.log(str(main))}

    @property
    def _here(self) -> Any:
        return scenery.repository(self.github.world, self.stage.repository)

    @property
    def _store(self) -> Any:
        return self.github.world.git(self._here)

    def _act(self, method: str, path: str, body: Any) -> None:
        address = f"/repos/{self.stage.repository}/{path}"
        act = scenery.Act(login="writer", method=method, path=address, body=body)
        answer = scenery.act(self.github, act)
        assert answer["status"] < 300, answer

    def _progress(self) -> dict[int, tuple[str, str]]:
        """By issue: the order, and what its comment says."""
        shown = {}
        for comment in self._here.comments.values():
            marked = _PROGRESS.search(comment.body)
            if marked:
                shown[comment.number] = (marked[1], comment.body)
        return shown

    def _approve(self, now_s: float) -> None:
        for number, (_, body) in self._progress().items():
            for command in _APPROVE.findall(body):
                if now_s - self._said.get(command, -ASK_AGAIN_S) >= ASK_AGAIN_S:
                    self._said[command] = now_s
                    said = {"body": f"/awo approve {command}"}
                    self._act("POST", f"issues/{number}/comments", said)

    def _offered(self) -> Any:
        """The pull request of the first issue's order."""
        order_id = self._progress()[1][0]
        issues = self._here.issues
        [pull] = [one for one in self._here.pulls.values() if order_id in issues[one.number].body]
        return pull

    def _made(self, orders: int) -> bool:
        shown = [body for _, body in self._progress().values()]
        over = [any(word in body for word in ENDS) for body in shown]
        concluded = all(run.conclusion for run in self._here.check_runs.values())
        return len(over) == orders and all(over) and concluded and self._answered()

    def _answered(self) -> bool:
        """Every command of the person has its eyes and its answer."""
        comments = self._here.comments.values()
        commands = [one for one in comments if one.body.startswith("/awo ")]
        answers = [one for one in comments if "<!-- awo:say:" in one.body]
        return len(answers) >= len(commands) and all(one.reactions for one in commands)

    def _undone(self) -> bool:
        issue, pull = self._here.issues[1], self._offered()
        undoing = {write.name for write in WRITES if write.phase == "undoing"}
        return (
            undoing <= self.struck
            and self._here.issues[pull.number].state == "closed"
            and issue.state == "open"
            and self._here.description is None
            and self._store.branch(pull.head_ref) is None
        )

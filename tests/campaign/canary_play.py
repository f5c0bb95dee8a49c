"""The product on the simulated GitHub, with secrets planted wherever it has one."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import quote

import canary_probe
import httpx
import msgspec

from agent_work_orders import ids
from agent_work_orders.cli.demo import on_github
from github_simulator.changes import founding
from github_simulator.directing.admin import records
from github_simulator.outside.faults import Fault
from github_simulator.server import GithubSimulator
from github_simulator.standing import found

WORD = "quinquereme-of-nineveh"
"""No secret: stands in the issue, and is to be found where its text goes."""

WORKFLOW = """
name: demo-github
tasks:
  plan: {uses: agent.command, phase: planning, with: {command: plan}}
  test: {needs: [plan], uses: tests.run, with: {command: [sh, -c, "cat LEAK; echo WORD"]}}
  trouble:
    needs: [plan]
    on_failure: continue
    uses: sandbox.exec
    with: {argv: [sh, -c, "cat LEAK >&2; exit 1"]}
  draft:
    needs: [test, trouble]
    join: all_done
    uses: forge.open_pull_request
    with: {draft: true, body: "{{ tasks.plan.outputs.text }}"}
  remark:
    needs: [draft]
    uses: github.comment
    with: {body: "{{ tasks.plan.outputs.text }}"}
  publish:
    needs: [remark]
    approval: {message: "Ready?", expires: 1h}
    uses: forge.open_pull_request
"""


class CanaryPlay:
    """The product, in a process of its own, with a secret in every place that has one, and an
    agent that looks for them. The simulator is in the test's process."""

    def __init__(self, room: Path, github: GithubSimulator, mode: str) -> None:
        self.github, self.folder, self.mode = github, room, mode
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        hook = f"http://127.0.0.1:{self._port}/webhook/github"
        cast = found(github, room, hook, {"basket.py": "def total():\n    return 1\n"})
        self.stage = msgspec.convert(msgspec.to_builtins(cast), on_github.Stage, strict=False)
        self._given = on_github.settings(self.stage, room, WORKFLOW)
        self.process: subprocess.Popen[bytes] | None = None
        self.home = room / "data"
        self.asker = self._asker()
        self.model_key = f"sk-ant-{ids.new_secret()}"
        self.planted = {
            "key of the model": [self.model_key],
            "webhook secret": [self.stage.webhook_secret],
        }
        self._given["ANTHROPIC_API_KEY"] = self.model_key
        key = Path(self.stage.private_key_file).read_text("ascii")
        if mode == "app":
            self._given["GITHUB_PRIVATE_KEY"] = key
            self.planted["key of the App"] = [key]
        else:
            del self._given["GITHUB_APP_ID"], self._given["GITHUB_PRIVATE_KEY"]
            self._given["GITHUB_TOKEN"] = self.stage.writer_token
            self.planted["plain token"] = [self.stage.writer_token]
        if mode == "kept":
            self._keep_all()
        self._write_scripts()
        # git is looked at while it works: what it waits for is a little late.
        for operation in ("git/info-refs", "git/upload-pack", "git/receive-pack"):
            github.faults.add(Fault(kind="slow", seconds=0.4, operation=operation, times=None))

    def _keep_all(self) -> None:
        """In the vault, and no longer in the environment; the vault's own key is there."""
        sealing = base64.b64encode(os.urandom(32)).decode()
        self.planted["key of the vault"] = [sealing]
        self._given["AWO_SECRET_KEY"] = sealing
        for name in ("GITHUB_TOKEN", "GITHUB_WEBHOOK_SECRET", "ANTHROPIC_API_KEY"):
            subprocess.run(
                [*on_github.PROGRAM, "credentials", "set", name],
                input=self._given.pop(name).encode(),
                env={**os.environ, **self._given},
                capture_output=True,
                check=True,
                timeout=60,
            )

    def _asker(self) -> str:
        world = self.github.world
        account = founding.add_account(world, "asker")
        (here,) = world.repositories.values()
        founding.set_role(world, here, "asker", "write")
        return self.github.credentials.of_person(account).value

    def _write_scripts(self) -> None:
        """An agent that knows a secret (the model's key is its own) says it in every way."""
        leak, loot, probe = (self.folder / name for name in ("leak", "loot", "probe.py"))
        raw = self.model_key.encode()
        told = [
            f"plain {self.model_key}",
            f"quoted {quote(self.model_key, safe='')}",
            json.dumps({"a": self.model_key}),
            base64.b64encode(raw).decode(),
            base64.b64encode(b"user:" + raw).decode(),
            raw.hex(),
            f"https://user:{self.model_key}@127.0.0.1/x.git",
        ]
        leak.write_text("\n".join(told))
        loot.mkdir()
        loot.chmod(0o777)
        shutil.copy(canary_probe.__file__, probe)
        probe.chmod(0o644)
        script = {
            "version": 1,
            "commands": {
                "plan": [
                    {"write": {"path": "plan.md", "content": f"A plan. {WORD}"}},
                    {"run": self.probe()},
                    {"run": ["cat", str(leak)]},
                    {"text": f"{WORD}\n" + "\n".join(told)},
                    {"thinking": told[0]},
                ]
            },
        }
        (self.folder / "script.yaml").write_text(json.dumps(script))
        flow = WORKFLOW.replace("LEAK", str(leak)).replace("WORD", WORD)
        (self.home / "workflows" / "demo-github.yaml").write_text(flow)

    def probe(self) -> list[str]:
        return [
            "python3", "-I", str(self.folder / "probe.py"), str(self.folder / "loot"),
            str(self.home), str(self.folder / "server.pid"), os.readlink("/proc/self/ns/pid"),
            self.stage.private_key_file, str(self.folder / "up-1.log"),
        ]  # fmt: skip

    async def start(self) -> None:
        log = self.folder / "up-1.log"
        most = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (most, most))
        arguments = ["up", "--port", str(self._port), "--no-open", "--json"]
        self.process = on_github._spawn(arguments, self.folder, self._given, log)
        await asyncio.to_thread(on_github._document, self.process, log)
        (self.folder / "server.pid").write_text(str(self.process.pid))

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)

    def complaints(self) -> str:
        """What the product's own log says of trouble: for whoever reads a failure."""
        lines = (self.folder / "up-1.log").read_text("utf-8").splitlines()
        return "\n".join(line for line in lines if '"level": "info"' not in line)[-6_000:]

    def records(self) -> dict[str, Any]:
        whole: dict[str, Any] = records(self.github, None)  # type: ignore[arg-type]
        return dict(whole[self.stage.repository])

    def over(self) -> bool:
        said = [one["body"] for one in self.records()["comments"]]
        ours = [body for body in said if ":progress-comment -->" in body]
        return any("done, but unverified" in body for body in ours)

    @property
    def http(self) -> httpx.AsyncClient:
        key = (self.home / "local.key").read_text().strip()
        self.planted["key of the data directory"] = [key]
        return httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{self._port}",
            headers={"X-API-Key": key},
            trust_env=False,
            timeout=30,
        )

    async def ask_for_it(self) -> None:
        wanted = {"title": f"Make it: {WORD}", "body": WORD, "labels": [on_github.LABEL]}
        async with httpx.AsyncClient(base_url=self.github.url, trust_env=False) as http:
            address = f"/repos/{self.stage.repository}/issues"
            await on_github._ask(http, "POST", address, token=self.asker, json=wanted)

    def taken(self) -> bytes:
        """What the agent got, from the outside."""
        folders = sorted((self.folder / "loot").iterdir())
        assert [folder for folder in folders if not (folder / "done").exists()] == []
        return b"\n".join(one.read_bytes() for folder in folders for one in folder.iterdir())

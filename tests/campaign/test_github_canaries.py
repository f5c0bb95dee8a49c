"""Planted secrets are in no place that the product writes to, nor where an agent can look."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import quote

import canary_probe
import httpx
import pytest
from canary_forms import Search
from canary_sinks import GIT_PROGRAMS, SINKS, Answers, Processes, data_directory, repositories
from github_matrix import Play

from agent_work_orders import ids
from agent_work_orders.cli.demo import on_github
from agent_work_orders.testing.github_simulator import founding
from agent_work_orders.testing.github_simulator.faults import Fault
from agent_work_orders.testing.github_simulator.server import GithubSimulator

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


class CanaryPlay(Play):
    """The product with a secret in every place that has one, and an agent that looks for them."""

    def __init__(self, room: Path, github: GithubSimulator, mode: str) -> None:
        super().__init__(room, github)
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
        self._write_scripts()
        # git is looked at while it works: what it waits for is a little late.
        for operation in ("git/info-refs", "git/upload-pack", "git/receive-pack"):
            github.faults.add(Fault(kind="slow", seconds=0.4, operation=operation, times=None))

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
        await super().start()
        assert self.process is not None
        (self.folder / "server.pid").write_text(str(self.process.pid))

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


async def until(http: httpx.AsyncClient, path: str, key: str, status: str | None = None) -> Any:
    for _ in range(300):
        found = (await http.get(path)).json()[key]
        if found if status is None else found["status"] == status:
            return found
        await asyncio.sleep(0.1)
    raise AssertionError(f"{path}: {key} is {found!r}")


async def work(play: CanaryPlay, http: httpx.AsyncClient) -> dict[str, str]:
    """From the issue to the end. What the order and its parts are called."""
    made = await http.post("/api/keys", json={"name": "canary", "role": "admin"})
    play.planted["API key"] = [made.json()["token"]]
    http.headers["X-API-Key"] = made.json()["token"]
    await play.ask_for_it()
    (approval,) = await until(http, "/api/approvals", "approvals")
    order = approval["agent_work_order_id"]
    here = f"/api/agent-work-orders/{order}"
    agreed = await http.post(f"/api/approvals/{approval['approval_id']}/approve", json={})
    assert agreed.is_success, agreed.text
    await until(http, here, "agent_work_order", "completed")
    for _ in range(300):
        if play.over():
            break
        await asyncio.sleep(0.1)
    assert play.over()
    artifacts = (await http.get(f"{here}/artifacts")).json()["artifacts"]
    commits = (await http.get(f"{here}/commits")).json()["commits"]
    deliveries = (await http.get("/api/deliveries")).json()["deliveries"]
    return {
        "agent_work_order_id": order,
        "approval_id": approval["approval_id"],
        "sha": commits[0]["sha"],
        "sha256": artifacts[0]["sha256"],
        "delivery_id": deliveries[0]["delivery_id"],
        "commands": "plan",
        "workflows": "demo-github",
        "task_id": order,
    }


def gather(play: CanaryPlay, processes: Processes) -> dict[str, list[bytes]]:
    backup = play.folder / "backup.db"
    done = subprocess.run(
        [*on_github.PROGRAM, "backup", str(backup), "--home", str(play.home)],
        capture_output=True,
        env={**os.environ, **play._given},
        check=True,
        timeout=60,
    )
    asked = [f"{one.method} {one.path} {one.actor}".encode() for one in play.github.requests.all]
    mirrors = [path for path in (play.home / "mirrors").iterdir() if (path / "objects").is_dir()]
    return {
        "arguments of processes": sorted(processes.arguments),
        "environments of processes": sorted(processes.environments),
        "the server's own log": [(play.folder / "up-1.log").read_bytes()],
        "what was written on GitHub": [json.dumps(play.records()).encode()],
        "addresses asked of GitHub": asked,
        "a backup": [backup.read_bytes(), done.stdout, done.stderr],
        **data_directory(play.home),
        **{
            sink: content
            for sink, content in repositories(mirrors, "of mirrors").items()
            if sink != "configuration of mirrors"
        },
        **repositories((play.folder / "github" / "repositories").glob("**/*.git"), "at the origin"),
    }


@pytest.mark.slow
@pytest.mark.fault("I1")
@pytest.mark.fault("I2")
@pytest.mark.fault("I5")
@pytest.mark.timeout(300)
@pytest.mark.skipif(os.geteuid() != 0, reason="agents of a server that is not root are not apart")
@pytest.mark.parametrize("mode", ["app", "token"])
async def test_no_secret_is_in_any_sink(room: Path, mode: str) -> None:
    async with GithubSimulator(room / "github") as github:
        play = CanaryPlay(room, github, mode)
        await play.start()
        assert play.process is not None
        try:
            with Processes(play.process.pid) as processes:
                async with play.http as http:
                    names = await work(play, http)
                    answers = Answers(http)
                    await answers.ask_all(names)
                    stream = await answers.stream(b'"completed"')
                    sinks = await asyncio.to_thread(gather, play, processes)
            sinks["answers of the API"] = answers.bodies
            sinks["the stream of events"] = [stream]
            sinks["what the agent could take"] = [play.taken()]
            await asyncio.to_thread(unprotected, play)
        except AssertionError:
            print(play.complaints())
            raise
        finally:
            play.end()
    for name, content in data_directory(play.home).items():
        sinks[name] = sinks.get(name, []) + content
    play.planted["installation token"] = [
        token.value for token in github.credentials.tokens if token.installation_id
    ]
    assert answers.unanswered == {}
    assert processes.programs >= {*GIT_PROGRAMS, "python3"}, processes.programs
    assert any(b"credential.http" in one for one in processes.arguments), "git had no login"
    search = Search(play.planted)
    assert {name for name, content in sinks.items() if any(content)} == set(SINKS)
    found = {name: search.found(b"\n".join(content)) for name, content in sinks.items()}
    assert {name: secrets for name, secrets in found.items() if secrets} == {}
    word = {name for name, content in sinks.items() if WORD.encode() in b"\n".join(content)}
    assert word >= {name for name, expected in SINKS.items() if expected}
    assert bool(play.planted["installation token"]) is (mode == "app")


def unprotected(play: CanaryPlay) -> None:
    """The same probe outside of the sandbox, as the server's user, finds what there is to find:
    what the agent lacked, the sandbox kept from it."""
    shutil.rmtree(play.folder / "loot")
    (play.folder / "loot").mkdir()
    nowhere = play.folder / "nowhere"
    nowhere.mkdir()
    subprocess.run(
        play.probe(),
        check=True,
        capture_output=True,
        cwd=nowhere,
        env={"PATH": os.environ["PATH"], "HOME": str(nowhere)},
        timeout=120,
    )
    taken = Search(play.planted).found(play.taken())
    assert taken >= set(play.planted) - {"API key"}

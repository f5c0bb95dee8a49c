"""Planted secrets are in no place that the product writes to, nor where an agent can look."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from canary_forms import Search
from canary_play import WORD, CanaryPlay
from canary_sinks import GIT_PROGRAMS, SINKS, Answers, Processes, data_directory, repositories

from agent_work_orders.cli.demo import on_github
from github_simulator.server import GithubSimulator


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
        "sandbox_id": order,
        "terminal_id": "none",
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
@pytest.mark.fault("I4")
@pytest.mark.fault("I5")
@pytest.mark.fault("I6")
@pytest.mark.timeout(300)
@pytest.mark.skipif(os.geteuid() != 0, reason="agents of a server that is not root are not apart")
@pytest.mark.parametrize("mode", ["app", "token", "kept"])
async def test_no_secret_is_in_any_sink(room: Path, mode: str) -> None:
    async with GithubSimulator(room / "github") as github:
        play = CanaryPlay(room, github, mode)
        await play.start()
        assert play.process is not None
        try:
            limits = resource.prlimit(play.process.pid, resource.RLIMIT_CORE)
            assert limits == (0, 0), "a crash would write the memory to a file"
            with Processes(play.process.pid) as processes:
                async with play.http as http:
                    names = await work(play, http)
                    answers = Answers(http)
                    await answers.ask_all(names)
                    stream = await answers.stream(b'"completed"')
                    sinks = await asyncio.to_thread(gather, play, processes)
            assert gits_unrevoked(github) == []
            sinks["answers of the API"] = answers.bodies
            sinks["the stream of events"] = [stream]
            sinks["what the agent could take"] = [play.taken()]
            await asyncio.to_thread(unprotected, play)
        except AssertionError:
            print(play.complaints())
            raise
        finally:
            await asyncio.to_thread(play.end)
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
    alive = [token for token in github.credentials.tokens if token.installation_id]
    assert [token for token in alive if not token.revoked] == [], "the server stopped"


def gits_unrevoked(github: GithubSimulator) -> list[str]:
    """Tokens that git had, which outlived the order."""
    tokens = [token for token in github.credentials.tokens if token.installation_id]
    gits = [token for token in tokens if set(token.permissions) <= {"contents", "metadata"}]
    assert bool(gits) is bool(tokens)
    assert [token for token in tokens if len(token.repositories or ()) != 1] == []
    return [str(token.permissions) for token in gits if not token.revoked]


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
    hidden = {"plain token", "webhook secret", "key of the model"} if play.mode == "kept" else set()
    assert taken >= set(play.planted) - {"API key"} - hidden
    assert not taken & hidden, "what is kept was never in clear"

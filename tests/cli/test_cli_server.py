"""The same commands through a server: one seam, one shape of answers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from agent_work_orders.cli import browser


@pytest.fixture
def server(awo: Any) -> Iterator[subprocess.Popen[str]]:
    process = awo.start("up", "--port", "0", err=subprocess.DEVNULL)
    assert process.stdout is not None
    assert "listens at http://127.0.0.1:" in process.stdout.readline()
    yield process
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
    process.stdout.close()


def test_commands_talk_to_the_server_that_owns_the_directory(
    awo: Any, server: subprocess.Popen[str]
) -> None:
    awo.repository()
    second = awo("up", "--port", "0")
    assert second.code == 2
    assert f"process {server.pid}" in second.err
    agent = awo.agent("echo x >> calc.py")
    request = (
        "run",
        "--repo",
        "repo",
        "--workflow",
        "agent_workflow_build",
        "--agent-command",
        agent,
    )
    done = awo(*request, "--json", "Do it")
    assert done.code == 0, done.err
    order_id = done.json["agent_work_order"]["agent_work_order_id"]
    there = {
        "list": awo.inside("list", "--json").json,
        "show": awo.inside("show", order_id, "--json").json,
        "tools": awo.inside("tools", "--json").json,
        "workflows": awo.inside("workflow", "list", "--json").json,
        "workflow": awo.inside("workflow", "show", "test-pipeline", "--json").json,
        "diff": awo.inside("diff", order_id, "--json").json,
        "logs": awo.inside("logs", order_id, "--json").json,
    }
    assert awo.inside("run", "--repo", "ext::sh", "--agent-command", "true", "x").code == 2
    assert awo.inside("list", AWO_API_KEY="wrong").code == 2
    assert awo.inside("doctor").code == 0

    slow = awo.agent("sleep 600", "slow")
    made = awo.inside(*request[:-1], slow, "--detach", "--json", "Hang").json["agent_work_order"]
    cancelled = awo.inside("cancel", made["agent_work_order_id"], "--json").json
    assert cancelled["agent_work_order"]["status"] == "cancelled"
    refused = awo.inside("prompt", made["agent_work_order_id"], "Hello")
    assert refused.code == 2
    assert "cancelled" in refused.err

    server.send_signal(signal.SIGTERM)
    assert server.wait(60) == 0
    assert awo.left_behind() == []
    here = {
        "list": awo.inside("list", "--search", order_id, "--json").json,
        "show": awo.inside("show", order_id, "--json").json,
        "tools": awo.inside("tools", "--json").json,
        "workflows": awo.inside("workflow", "list", "--json").json,
        "workflow": awo.inside("workflow", "show", "test-pipeline", "--json").json,
        "diff": awo.inside("diff", order_id, "--json").json,
        "logs": awo.inside("logs", order_id, "--json").json,
    }
    assert json.dumps(here, sort_keys=True) == json.dumps(there, sort_keys=True)


def test_a_server_that_does_not_answer_is_said_plainly(awo: Any) -> None:
    done = awo.inside("list", "--url", "http://127.0.0.1:9")
    assert done.code == 1
    assert done.err.startswith("error: http://127.0.0.1:9 does not answer")


def test_the_data_directory_may_be_left_by_a_killed_server(
    awo: Any, server: subprocess.Popen[str]
) -> None:
    """Looking must not tidy away what the next start needs to see."""
    awo.repository()
    agent = awo.agent("sleep 600")
    awo.inside("run", "--repo", "repo", "--agent-command", agent, "--detach", "Hang")
    os.kill(server.pid, signal.SIGKILL)
    server.wait()
    [order] = awo.inside("list", "--json").json["agent_work_orders"]
    assert order["status"] in ("pending", "running")
    done = awo("cancel", order["agent_work_order_id"])
    assert done.code == 0, done.err
    assert awo.left_behind() == []


def test_the_links_that_are_printed_sign_a_browser_in(
    awo: Any, server: subprocess.Popen[str]
) -> None:
    assert server.stdout is not None
    label, first, *rest = server.stdout.readline().split()
    assert label == "dashboard"
    assert "once," in rest
    made = awo.inside("open", "--json").json
    assert set(made) == {"link", "expires_at"}
    second = awo.inside("open").out.strip()
    assert len({first, made["link"], second}) == 3
    for link in (first, made["link"], second):
        address, _, token = link.partition("#")
        base = address.removesuffix("/sign-in")
        with httpx.Client(base_url=base, trust_env=False) as client:
            assert client.get("/api/session").status_code == 401
            answer = client.post("/api/session", json={"token": token})
            assert answer.status_code == 201, answer.text
            page = {"X-AWO-Page": answer.json()["page_secret"]}
            found = client.get("/api/session", headers=page).json()
            assert found["session"]["name"] == "local"
            assert client.post("/api/session", json={"token": token}).status_code == 401


def test_without_a_server_there_is_nothing_to_open(awo: Any) -> None:
    done = awo.inside("open")
    assert done.code == 2
    assert "awo up" in done.err


def test_an_address_that_means_everywhere_becomes_one_to_go_to() -> None:
    assert browser.reachable("http://0.0.0.0:8420") == "http://127.0.0.1:8420"
    assert browser.reachable("http://[::]:1") == "http://[::1]:1"
    assert browser.reachable("http://127.0.0.1:8420") == "http://127.0.0.1:8420"


def test_a_server_that_is_stopped_is_told_from_one_that_is_gone(
    awo: Any, server: subprocess.Popen[str]
) -> None:
    """How long it is waited for is held in test_cli_patience.py."""
    server.send_signal(signal.SIGSTOP)
    try:
        told = awo("list")
    finally:
        server.send_signal(signal.SIGCONT)
    assert told.code == 1
    assert "does not answer" in told.err
    assert "may be stopped" in told.err

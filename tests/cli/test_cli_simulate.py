"""`awo simulate github` as a person starts it."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
from pathlib import Path
from typing import Any

import httpx

from agent_work_orders.clock import SystemClock
from github_simulator.outside import app_jwt


def document(process: subprocess.Popen[str]) -> Any:
    """The first JSON document on stdout; the process goes on."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line == "}\n":
            return json.loads("".join(lines))
    raise AssertionError(process.communicate())


def test_a_ready_github(awo: Any) -> None:
    process = awo.start("simulate", "github", "--port", "0", "--webhook-url", "", "--json")
    try:
        cast = document(process)
        key = Path(cast["private_key_file"])
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
        token = app_jwt.fresh(key.read_text(), cast["app_id"], SystemClock().now_ms())
        with httpx.Client(base_url=cast["url"], trust_env=False, timeout=30) as http:
            minted = http.post(
                f"/app/installations/{cast['installation_id']}/access_tokens",
                headers={"authorization": f"Bearer {token}"},
            ).json()
            here = http.get(
                f"/repos/{cast['repository']}",
                headers={"authorization": f"Bearer {minted['token']}"},
            )
            assert here.json()["clone_url"] == cast["clone_url"]
            for login, role in ((cast["writer"], "write"), (cast["reader"], "read")):
                asked = http.get(
                    f"/repos/{cast['repository']}/collaborators/{login}/permission",
                    headers={"authorization": f"Bearer {minted['token']}"},
                )
                assert asked.json()["permission"] == role
            opened = http.post(
                "/_simulator/act",
                json={
                    "login": cast["writer"],
                    "method": "POST",
                    "path": f"/repos/{cast['repository']}/issues",
                    "body": {"title": "T"},
                },
            )
            assert opened.json()["status"] == 201
        url = cast["clone_url"].replace("http://", f"http://x-access-token:{minted['token']}@")
        subprocess.run(
            ["git", "clone", "-q", url, str(awo.folder / "cloned")],
            check=True,
            env={**os.environ, "HOME": str(awo.folder)},
            timeout=60,
        )
        assert any((awo.folder / "cloned").glob("*.py"))
    finally:
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert not key.parent.exists()


def test_a_folder_with_something_in_it_is_refused(awo: Any) -> None:
    (awo.folder / "used").mkdir()
    (awo.folder / "used" / "file").write_text("x")
    done = awo("simulate", "github", "--port", "0", "--folder", str(awo.folder / "used"))
    assert done.code == 2
    assert "has something in it" in done.err


def test_a_taken_port_is_said(awo: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = awo("simulate", "github", "--port", port, "--folder", str(awo.folder / "new"))
    assert done.code == 1
    assert f"Cannot listen at 127.0.0.1:{port}" in done.err

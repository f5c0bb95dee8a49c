"""Starts a peer's server on loopback and waits until it answers."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

START_LIMIT_S = 120.0
"""Prefect migrates its database at the first start, which took 26 s on a busy machine."""

QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "TEMPORAL_TELEMETRY_DISABLED": "1",
}
"""No peer may call home while it is measured."""


def ports(home: Path, *names: str) -> dict[str, int]:
    """Free loopback ports, the same ones again after a restart in the same home."""
    kept = home / "ports.json"
    if kept.exists():
        found: dict[str, int] = json.loads(kept.read_text())
        return found
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in names]
    chosen = {name: sock.getsockname()[1] for name, sock in zip(names, sockets, strict=True)}
    for sock in sockets:
        sock.close()
    kept.write_text(json.dumps(chosen))
    return chosen


def spawn(
    argv: list[str], home: Path, env: dict[str, str] | None = None
) -> subprocess.Popen[bytes]:
    with (home / "server.log").open("ab") as log:
        return subprocess.Popen(
            argv,
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, **QUIET, **(env or {})},
        )


async def answering(url: str, server: subprocess.Popen[bytes]) -> None:
    """Return when `url` answers 2xx; give up when the server died or the limit is over."""
    limit = time.perf_counter() + START_LIMIT_S
    while time.perf_counter() < limit:
        if server.poll() is not None:
            raise SystemExit(f"the server ended with {server.returncode} before it was ready")
        if await asyncio.to_thread(_ok, url):
            return
        await asyncio.sleep(0.02)
    raise SystemExit(f"the server was not ready after {START_LIMIT_S:.0f} s")


def _ok(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=1.0) as answer:
            return bool(answer.status < 300)
    except (urllib.error.URLError, OSError):
        return False

"""The product as its users see it: the `awo` command and the server it starts."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from benchmarks.processes import Program, running
from benchmarks.rounds import Unable

READY_LIMIT_S = 30.0


class Server(msgspec.Struct, frozen=True, kw_only=True):
    url: str
    ready_s: float
    program: Program


def executable() -> str:
    """The `awo` that is installed beside this interpreter."""
    found = Path(sys.executable).parent / "awo"
    if not found.exists():
        raise Unable("awo is not installed in this environment")
    return str(found)


@contextlib.contextmanager
def server(home: Path, env: Mapping[str, str] | None = None) -> Iterator[Server]:
    """`awo up` on a free port, from the spawn to the first 200 of /readyz; killed at the end."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    argv = [executable(), "up", "--host", "127.0.0.1", "--port", str(port), "--home", str(home)]
    begin = time.perf_counter()
    with running(argv, cwd=home, env={**os.environ, **(env or {})}, log=home / "up.log") as program:
        while not _ready(url):
            if program.popen.poll() is not None:
                said = (home / "up.log").read_text(errors="replace").strip().splitlines()
                words = said[-1] if said else "it said nothing"
                raise Unable(f"`awo up` ended with {program.popen.returncode}: {words}")
            if time.perf_counter() - begin > READY_LIMIT_S:
                raise Unable(f"`awo up` was not ready after {READY_LIMIT_S:.0f} s")
            time.sleep(0.005)
        yield Server(url=url, ready_s=time.perf_counter() - begin, program=program)


def _ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=1.0) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False

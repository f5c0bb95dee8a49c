"""Everywhere that the product writes to, or that others can look at while it works.

`SINKS` is the list, and what each is expected to hold: a sink that was not searched, or that had
nothing in it, is a fault of the test and not a pass. What may hold secrets, and is therefore no
sink: the memory and the environment of the server itself, and `local.key` and `secret.key` of the
data directory, which only its owner can read.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import httpx

OWN_FILES = ("local.key", "secret.key")
OF_FOLDER = {"logs": "logs of orders", "transcripts": "transcripts", "artifacts": "artifacts"}
GIT_PROGRAMS = ("git", "git-remote-http")

# Whether the text is expected there: it shows that the search finds what is there.
SINKS = {
    "arguments of processes": False,
    "environments of processes": False,
    "what the agent could take": True,
    "the server's own log": False,
    "logs of orders": False,
    "transcripts": True,
    "artifacts": True,
    "the database": True,
    "the database's log": False,
    "the rest of the data directory": False,
    "configuration of mirrors": False,
    "references of mirrors": False,
    "objects of mirrors": True,
    "configuration at the origin": False,
    "references at the origin": False,
    "objects at the origin": True,
    "what was written on GitHub": True,
    "addresses asked of GitHub": False,
    "answers of the API": True,
    "the stream of events": True,
    "a backup": True,
}


class Processes:
    """Looks at every process of the product, over and over, until stopped: the server's children
    and theirs, and no other process of the machine. The server itself and its copies that have
    not become another program yet are passed over: that environment is its own."""

    def __init__(self, server: int) -> None:
        self._server = Path(f"/proc/{server}/cmdline").read_bytes()
        self._tree = {server}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.arguments: set[bytes] = set()
        self.environments: set[bytes] = set()
        self.rounds = 0

    def __enter__(self) -> Processes:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def programs(self) -> set[str]:
        first = (one.split(b"\0")[0].decode("utf-8", "replace") for one in self.arguments)
        return {Path(one).name for one in first}

    def _look(self) -> None:
        while not self._over.wait(0.002):
            self.rounds += 1
            for process in _descendants(self._tree):
                self._one(process)

    def _one(self, process: int) -> None:
        try:
            arguments = Path(f"/proc/{process}/cmdline").read_bytes()
            if not arguments or arguments == self._server:
                return
            self.arguments.add(arguments)
            self.environments.add(Path(f"/proc/{process}/environ").read_bytes())
        except OSError:
            return  # it ended


def _descendants(of: set[int]) -> set[int]:
    """By the kernel's own lists of children: nothing is read of other processes."""
    found: set[int] = set()
    waiting = list(of)
    while waiting:
        one = waiting.pop()
        try:
            threads = os.listdir(f"/proc/{one}/task")
            lists = [Path(f"/proc/{one}/task/{n}/children").read_text() for n in threads]
        except OSError:
            continue
        fresh = {int(word) for text in lists for word in text.split()} - found
        found |= fresh
        waiting += fresh
    return found


def below(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield str(path.relative_to(folder)), path.read_bytes()


def data_directory(home: Path) -> dict[str, list[bytes]]:
    """Every file of it belongs to exactly one sink."""
    sinks: dict[str, list[bytes]] = {}
    for name, content in below(home):
        top, last = name.split("/")[0], name.split("/")[-1]
        if name in OWN_FILES:
            assert (home / name).stat().st_mode & 0o077 == 0
            continue
        if top == "mirrors" and last == "config":
            sink = "configuration of mirrors"
        elif name.startswith("journal.") and last.endswith("-wal"):
            sink = "the database's log"
        elif name.startswith("journal."):
            sink = "the database"
        else:
            sink = OF_FOLDER.get(top, "the rest of the data directory")
        sinks.setdefault(sink, []).append(name.encode() + b"\n" + content)
    return sinks


def repositories(paths: Iterable[Path], where: str) -> dict[str, list[bytes]]:
    """Bare repositories from the inside: packed objects are compressed."""
    sinks: dict[str, list[bytes]] = {}
    for path in paths:
        git = ["git", "-c", "safe.directory=*", "--git-dir", str(path)]
        everything = [*git, "cat-file", "--batch", "--batch-all-objects", "--buffer"]
        for sink, command in (
            ("configuration", [*git, "config", "--list"]),
            ("references", [*git, "for-each-ref"]),
            ("objects", everything),
        ):
            said = subprocess.run(command, capture_output=True, check=True, timeout=60)
            sinks.setdefault(f"{sink} {where}", []).append(said.stdout)
    return sinks


class Answers:
    """Every GET that the API's own description names, as an administrator."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self.unanswered: dict[str, int] = {}
        self.bodies: list[bytes] = []

    async def ask_all(self, names: dict[str, str]) -> list[bytes]:
        description = (await self._http.get("/openapi.json")).json()
        for path, methods in description["paths"].items():
            if "get" not in methods or path == "/api/events":
                continue
            kind = path.split("/")[2] if path.count("/") > 1 else ""
            answer = await self._http.get(path.format_map({**names, "name": names.get(kind, "")}))
            if answer.status_code != 200:
                self.unanswered[path] = answer.status_code
            self.bodies.append(str(answer.headers.raw).encode() + answer.content)
        return self.bodies

    async def stream(self, until: bytes) -> bytes:
        """From the first event that is kept to the one that is named."""
        heard = b""
        async with self._http.stream("GET", "/api/events?after=0") as answer:
            async for chunk in answer.aiter_raw():
                heard += chunk
                if until in heard or len(heard) > 50_000_000:
                    break
        return heard

"""Finding processes by the tags in their environment: what a dead server left behind.

Linux only, through /proc. A process is ours when its environment carries this data directory's
tag, or when it runs as a user that is leased to one of its orders; a person's shell in a workspace
is not.
"""

from __future__ import annotations

import hashlib
import os
import signal
import time
from collections.abc import Collection
from pathlib import Path

HOME_TAG = "AWO_HOME_TAG"
ORDER_TAG = "AWO_ORDER_ID"
SANDBOX_TAG = "AWO_SANDBOX"
# In the environment of supervisor.py, which ends by itself once the server is gone, after it has
# killed what runs below it, also what carries no tag. Killing it first would set that free.
SUPERVISOR_TAG = "AWO_SUPERVISOR"
ROUNDS = 200
PATIENT_ROUNDS = 150
ROUND_S = 0.02


def home_tag(home: Path) -> str:
    return hashlib.sha256(os.fsencode(home.resolve())).hexdigest()[:20]


def tagged(tag: str) -> list[int]:
    """Processes that carry a data directory's tag, but for this one and its children."""
    return _find(tag, None)


def kill_tagged(
    tag: str, *, sandbox: str | None = None, uids: Collection[int] = frozenset()
) -> int:
    """SIGKILL until none is left; how many there were. Spares this process and its children.
    Those of `uids` too, also when they threw their environment away."""
    seen: set[int] = set()
    for turn in range(ROUNDS):
        found = _find(tag, sandbox, uids)
        if not found:
            break
        seen.update(found)
        for pid in found:
            if turn < PATIENT_ROUNDS and _is_supervisor(pid):
                continue
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        time.sleep(ROUND_S)
    return len(seen)


def _find(tag: str, sandbox: str | None, uids: Collection[int] = frozenset()) -> list[int]:
    wanted = f"{HOME_TAG}={tag}".encode()
    inside = f"{SANDBOX_TAG}={sandbox}".encode()
    spared = set() if sandbox is not None else _own()
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) in spared or int(name) == os.getpid():
            continue
        variables = _environment(name)
        if variables is None or _is_zombie(name):
            continue
        tagged = wanted in variables and (sandbox is None or inside in variables)
        if tagged or (uids and _runs_as(name, uids)):
            found.append(int(name))
    return found


def _runs_as(name: str, uids: Collection[int]) -> bool:
    """By its real user. Not in a container, whose users have numbers of their own."""
    try:
        with open(f"/proc/{name}/status", "rb") as file:
            for line in file:
                if line.startswith(b"Uid:"):
                    theirs = int(line.split()[1]) in uids
                    return theirs and os.path.samefile(f"/proc/{name}/root", "/")
    except OSError:
        return False
    return False


def _is_supervisor(pid: int) -> bool:
    return f"{SUPERVISOR_TAG}=1".encode() in (_environment(str(pid)) or [])


def _environment(name: str) -> list[bytes] | None:
    try:
        with open(f"/proc/{name}/environ", "rb") as file:
            return file.read(1_048_576).split(b"\0")
    except OSError:
        return None


def _stat(name: str) -> list[bytes] | None:
    try:
        with open(f"/proc/{name}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return None


def _is_zombie(name: str) -> bool:
    fields = _stat(name)
    return fields is None or fields[0] in (b"Z", b"X")


def _own() -> set[int]:
    """This process and everything below it: the living server's executions are not leftovers."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            fields = _stat(name)
            if fields is not None:
                parents[int(name)] = int(fields[1])
    own = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in own} - own:
        own |= more
    return own

"""Lock files that a git left behind when it was killed.

Git writes no owner into them. But whoever owns one was there when it was made: a lock that is older
than every living git of its repository belongs to a dead one. A living one's is never removed.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

POLL_S = 0.05
# A living owner of a reference's lock is done within milliseconds.
POLLS = 20
# The kernel tells the moment of its own start in whole seconds.
SLACK_S = 2.0


async def clear(repository: Path, lock: Path) -> bool:
    """Remove a lock inside the repository once nobody can own it; waits a little for one that may.
    True when it is gone."""
    if not lock.is_relative_to(repository) or lock.suffix != ".lock":
        return False
    for _ in range(POLLS):
        try:
            found = lock.stat()
        except FileNotFoundError:
            return True
        if not await asyncio.to_thread(_owned, repository, found.st_mtime):
            _remove(lock, found)
            return True
        await asyncio.sleep(POLL_S)
    return False


def _remove(lock: Path, seen: os.stat_result) -> None:
    """Only the one that was judged, not one that a living git has made since."""
    try:
        if os.path.samestat(lock.stat(), seen):
            lock.unlink(missing_ok=True)
    except FileNotFoundError:
        return


def _owned(repository: Path, made_s: float) -> bool:
    """Whether a git lives that works on the repository and was there when the lock was made."""
    booted_s = _booted_s()
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            process = Path(entry.path)
            if _works_on(process, repository) and (
                booted_s + _started_s(process) <= made_s + SLACK_S
            ):
                return True
        except OSError:
            continue  # it has ended
    return False


def _works_on(process: Path, repository: Path) -> bool:
    command = (process / "cmdline").read_bytes()
    if b"git" not in command:
        return False
    return os.fsencode(repository) in command or Path(os.readlink(process / "cwd")).is_relative_to(
        repository
    )


def _booted_s() -> float:
    for line in Path("/proc/stat").read_text().splitlines():
        if line.startswith("btime "):
            return float(line.split()[1])
    return 0.0  # then every living git counts as an owner


def _started_s(process: Path) -> float:
    """Since the machine's start. A program's name may hold anything but its last parenthesis."""
    fields = (process / "stat").read_text().rpartition(")")[2].split()
    return int(fields[19]) / os.sysconf("SC_CLK_TCK")

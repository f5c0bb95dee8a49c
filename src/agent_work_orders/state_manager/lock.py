"""One process per data directory.

The lock is an flock on `<home>/owner.lock`: the kernel drops it when the process dies, however it
dies. The file's content tells others whom to talk to; it means nothing while nobody holds the lock.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

import msgspec

from agent_work_orders.clock import iso
from agent_work_orders.errors import Conflict
from agent_work_orders.state_manager.files import data_directory

LOCK_NAME = "owner.lock"
_CONTENT_LIMIT_BYTES = 4096
# Who only asks for the owner is in the way for microseconds.
_TRIES = 26
_BETWEEN_TRIES_S = 0.02


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    pid: int = 0
    url: str = ""
    """Where it listens; empty until it does."""
    started_at: str = ""


class OwnerLock:
    """Held from `acquire` until `release` or the end of the process."""

    def __init__(self, descriptor: int, owner: Owner) -> None:
        self._descriptor = descriptor
        self.owner = owner
        self._write()

    @classmethod
    def acquire(cls, home: Path, *, started_at_ms: int, url: str = "") -> OwnerLock:
        """Raises Conflict `data_directory_in_use`, naming the holder; Environmental
        `data_directory_unusable`."""
        try:
            home.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(home / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise data_directory.unusable(home, error) from error
        if not _lock(descriptor):
            holder = _content(descriptor)
            os.close(descriptor)
            raise Conflict(
                "data_directory_in_use",
                f"{home} is used by process {holder.pid or 'unknown'}"
                + (f" at {holder.url}" if holder.url else ""),
                hint="See what it does with `awo list`; wait until it ends, stop it, or choose "
                "another AWO_HOME.",
                pid=holder.pid,
                url=holder.url,
            )
        owner = Owner(pid=os.getpid(), url=url, started_at=iso(started_at_ms))
        return cls(descriptor, owner)

    def announce(self, url: str) -> None:
        """Tell others where the owner listens."""
        self.owner = msgspec.structs.replace(self.owner, url=url)
        self._write()

    def release(self) -> None:
        """May be called twice. The file stays: without it two processes could lock two files."""
        if self._descriptor >= 0:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = -1

    def _write(self) -> None:
        content = msgspec.json.encode(self.owner)
        os.pwrite(self._descriptor, content, 0)
        os.ftruncate(self._descriptor, len(content))


def read_owner(home: Path) -> Owner | None:
    """Who holds the directory now, or None. Takes nothing."""
    try:
        descriptor = os.open(home / LOCK_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _content(descriptor)
    finally:
        os.close(descriptor)
    return None


def _lock(descriptor: int) -> bool:
    for number in range(_TRIES):
        if number:
            time.sleep(_BETWEEN_TRIES_S)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        return True
    return False


def _content(descriptor: int) -> Owner:
    try:
        return msgspec.json.decode(os.pread(descriptor, _CONTENT_LIMIT_BYTES, 0), type=Owner)
    except msgspec.DecodeError:
        return Owner()

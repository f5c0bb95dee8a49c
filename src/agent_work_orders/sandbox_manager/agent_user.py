"""Whom agents run as, and what that protects."""

from __future__ import annotations

import contextlib
import os
import pwd
from pathlib import Path

import msgspec

# Above system and ordinary accounts, below the `nobody` range; needs no entry in /etc/passwd.
DEFAULT_ID = 64_500


class AgentUser(msgspec.Struct, frozen=True, kw_only=True):
    uid: int
    gid: int


def agent_user(uid: int = DEFAULT_ID, gid: int = DEFAULT_ID) -> AgentUser:
    """The given user when the server is root, else the server's own: only root can change it."""
    if os.geteuid() == 0:
        return AgentUser(uid=uid, gid=gid)
    return AgentUser(uid=os.geteuid(), gid=os.getegid())


def homes_to_guard(user: AgentUser) -> list[str]:
    """The server's own home, when agents are the same user: shells and tools run what is written
    there. Not where everybody writes, which some service users have as their home."""
    if user.uid != os.geteuid():
        return []
    found = [os.environ.get("HOME", "")]
    with contextlib.suppress(KeyError):
        found.append(pwd.getpwuid(user.uid).pw_dir)
    homes = {os.path.realpath(home) for home in found if home and os.path.isdir(home)}
    return sorted(homes - {"/", "/tmp", "/var/tmp", "/dev/shm"})


def first_closed_folder(path: Path, user: AgentUser) -> Path | None:
    """The topmost folder on the way to `path` that the user may not enter."""
    for folder in [*reversed(path.resolve().parents), path.resolve()]:
        found = folder.stat()
        if found.st_uid == user.uid:
            bit = 0o100
        elif found.st_gid == user.gid:
            bit = 0o010
        else:
            bit = 0o001
        if user.uid != 0 and not found.st_mode & bit:
            return folder
    return None

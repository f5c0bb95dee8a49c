"""Whom agents run as, and what that protects."""

from __future__ import annotations

import contextlib
import os
import pwd
from pathlib import Path

import msgspec

from agent_work_orders.errors import Environmental

# Used by no convention that we know of: systemd's and Debian's ranges and those for containers end
# far below. No number here needs an entry in /etc/passwd.
FIRST_ID, LAST_ID = 1_900_000_000, 1_900_065_535
# In a container that has only the usual 65,536: what Debian leaves unused.
FIRST_SMALL_ID, LAST_SMALL_ID = 40_000, 59_999


class AgentUser(msgspec.Struct, frozen=True, kw_only=True):
    uid: int
    gid: int


class AgentUsers(msgspec.Struct, frozen=True, kw_only=True):
    """Whom agents may run as. A single one is shared by all orders."""

    first: int
    last: int

    @property
    def shared(self) -> bool:
        return self.first == self.last

    @property
    def own(self) -> bool:
        """Whether agents are the server's own user: only root can change it."""
        return os.geteuid() != 0

    def __contains__(self, uid: int) -> bool:
        return self.first <= uid <= self.last

    def user(self, uid: int) -> AgentUser:
        return AgentUser(uid=uid, gid=os.getegid() if self.own else uid)

    def words(self) -> str:
        return f"uid {self.first}" if self.shared else f"uids {self.first} to {self.last}"


def agent_users(given: str = "") -> AgentUsers:
    """Of a root server those given (`first-last`, or one number), else a range that this machine,
    or the container that it is, has. Environmental `sandbox_setup_failed` if it has none."""
    if os.geteuid() != 0:
        return AgentUsers(first=os.geteuid(), last=os.geteuid())
    if given not in ("", "0"):
        first, _, last = given.partition("-")
        ranges = [AgentUsers(first=int(first), last=int(last or first))]
    else:
        ranges = [
            AgentUsers(first=FIRST_ID, last=LAST_ID),
            AgentUsers(first=FIRST_SMALL_ID, last=LAST_SMALL_ID),
        ]
    for users in ranges:
        if all(_is_mapped(users, Path(f"/proc/self/{kind}_map")) for kind in ("uid", "gid")):
            return users
    raise Environmental(
        "sandbox_setup_failed",
        f"This container has no users for agents: {ranges[-1].words()} do not exist in it",
        hint="Set AWO_AGENT_UID to a range of /proc/self/uid_map, or give the container more.",
    )


def _is_mapped(users: AgentUsers, path: Path) -> bool:
    """Whether the user namespace that we are in knows all of them."""
    for line in path.read_text().splitlines():
        first, _, count = (int(word) for word in line.split())
        if first <= users.first and users.last < first + count:
            return True
    return False


def homes_to_guard() -> list[str]:
    """The server's own home, when agents are the same user: shells and tools run what is written
    there. Not where everybody writes, which some service users have as their home."""
    if os.geteuid() == 0:
        return []
    found = [os.environ.get("HOME", "")]
    with contextlib.suppress(KeyError):
        found.append(pwd.getpwuid(os.geteuid()).pw_dir)
    homes = {os.path.realpath(home) for home in found if home and os.path.isdir(home)}
    return sorted(homes - {"/", "/tmp", "/var/tmp", "/dev/shm"})


def first_closed_folder(path: Path, users: AgentUsers) -> Path | None:
    """The topmost folder on the way to `path` that these users may not enter."""
    for folder in [*reversed(path.resolve().parents), path.resolve()]:
        found = folder.stat()
        if users.shared and found.st_uid == users.first:
            bit = 0o100
        elif users.shared and found.st_gid == users.user(users.first).gid:
            bit = 0o010
        else:
            bit = 0o001
        if users.first != 0 and not found.st_mode & bit:
            return folder
    return None

"""Which order has which user of this machine, for all data directories on it.

    /var/lib/agent-work-orders/uids/1900012345 -> /srv/awo/workspaces/wo-…
                                    lock

A lease is a link, which is made in one step, to the folder that the user may enter, whose group it
is. It holds as long as that folder is there: whatever happens to its server (kill, reboot, a data
directory deleted, moved or copied), nobody else gets the user of files that exist, and nobody has
to remember to give it back. Where leases are lost, an order takes its own again at its next setup,
or is made anew if another has it by then. All functions block for a moment.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from agent_work_orders.errors import Environmental
from agent_work_orders.sandbox_manager.local.agent_user import AgentUsers

FOLDER = Path("/var/lib/agent-work-orders/uids")


class Leases:
    def __init__(self, users: AgentUsers, folder: Path = FOLDER) -> None:
        self.users = users
        self._folder = folder

    def hold(self, order: Path, known: int | None = None) -> int:
        """A user for the order's folder, which exists: the known one, unless another has it."""
        if self.users.own or self.users.shared:
            return self.users.first
        with self._locked():
            if known is not None and known in self.users and self._take(known, order):
                return known
            count = self.users.last - self.users.first + 1
            start = int.from_bytes(hashlib.sha256(os.fsencode(order)).digest()[:8])
            for offset in range(count):
                uid = self.users.first + (start + offset) % count
                if self._take(uid, order):
                    return uid
        raise Environmental(
            "sandbox_setup_failed",
            f"All {count} users for agents are in use ({self.users.words()})",
            hint="Delete data directories that are not needed, or widen AWO_AGENT_UID.",
        )

    def release(self, order: Path, uid: int) -> None:
        """After its folder and its processes are gone."""
        if self.users.own or self.users.shared:
            return
        with self._locked():
            if self._holder(uid) == str(order):
                self._path(uid).unlink()

    def has(self, order: Path, uid: int) -> bool:
        """Whether the user is the order's, and nobody else's."""
        return not (self.users.own or self.users.shared) and self._holder(uid) == str(order)

    def held_below(self, folder: Path) -> set[int]:
        """The users of a data directory's orders; none that anybody else has."""
        if self.users.own or self.users.shared:
            return set()
        return {uid for uid, holder in self._all() if Path(holder).parent == folder}

    def sweep(self) -> int:
        """Forget leases whose folders are gone; how many there were."""
        if self.users.own or self.users.shared:
            return 0
        with self._locked():
            dead = [uid for uid, holder in self._all() if not _lives(holder, uid)]
            for uid in dead:
                self._path(uid).unlink(missing_ok=True)
        return len(dead)

    def _take(self, uid: int, order: Path) -> bool:
        holder = self._holder(uid)
        if holder == str(order):
            return True
        if holder is not None and _lives(holder, uid):
            return False
        self._path(uid).unlink(missing_ok=True)
        os.symlink(order, self._path(uid))
        return True

    def _all(self) -> list[tuple[int, str]]:
        try:
            names = os.listdir(self._folder)
        except FileNotFoundError:
            return []
        found = [(int(name), self._holder(int(name))) for name in names if name.isdigit()]
        return [(uid, holder) for uid, holder in found if holder is not None]

    def _holder(self, uid: int) -> str | None:
        try:
            return os.readlink(self._path(uid))
        except OSError:
            return None

    def _path(self, uid: int) -> Path:
        return self._folder / str(uid)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """The kernel unlocks it when we die."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise Environmental(
                "sandbox_setup_failed",
                f"Users for agents cannot be leased: {error}",
                hint=f"Let the server write {self._folder}, or set AWO_AGENT_UID to one number.",
            ) from error
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)


def _lives(holder: str, uid: int) -> bool:
    """Whether the folder is there and this user's, or about to be."""
    try:
        return os.lstat(holder).st_gid in (uid, 0)
    except OSError:
        return False

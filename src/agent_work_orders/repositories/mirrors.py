"""The shelf of mirrors: made, fetched, and made anew when damaged.

One writer at a time per mirror: an asyncio lock inside the process and a file lock between
processes. The kernel drops the file lock of a dead process; those that a dead git left are cleared
by whoever meets them (stale_lock.py).
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from agent_work_orders.errors import Conflict, Environmental, Failed, NotFound
from agent_work_orders.repositories.git import Git
from agent_work_orders.repositories.history import RemoteHeads
from agent_work_orders.repositories.mirror import Mirror
from agent_work_orders.repositories.origin import list_heads, remote, serving, transport
from agent_work_orders.repositories.url import RepositoryUrl
from agent_work_orders.state_manager.branches import Branches

FETCH_TIMEOUT_S = 900.0
LOCK_TIMEOUT_S = 120.0
LOCK_POLL_S = 0.05
_REFSPECS = ("+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")


class Mirrors:
    """All mirrors below a folder. Safe to use from many tasks at once."""

    def __init__(self, folder: Path, git: Git, branches: Branches | None = None) -> None:
        self.folder = folder
        self.git = git
        self.branches = branches
        """What orders' branches must have here, where somebody knows."""
        self._locks: dict[str, asyncio.Lock] = {}
        self._known: dict[str, dict[str, str]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        # Sandboxes borrow objects from here as another user; they need to pass, not to list.
        folder.chmod(0o711)

    def path(self, key: str) -> Path:
        if "/" in key or key.startswith(".") or not key:
            raise NotFound(
                "mirror_missing",
                f"Not the key of a stored repository: {key[:80]!r}",
                hint="It is fetched when an order for this repository is made.",
            )
        return self.folder / f"{key}.git"

    def stored(self, key: str) -> bool:
        """Whether there is a mirror on disk."""
        return (self.path(key) / "HEAD").exists()

    def at(self, key: str) -> Mirror:
        """The mirror as it is on disk, without asking the origin. NotFound `mirror_missing`."""
        path = self.path(key)
        if not self.stored(key):
            raise NotFound(
                "mirror_missing",
                f"There is no stored copy of the repository {key}",
                hint="It is fetched when an order for this repository is made.",
            )
        return Mirror(self.git, path, None, None)

    async def sweep(self) -> None:
        """Remove what a git that was killed, or had no room, left half-written. Only at start:
        nothing else may be writing."""
        await asyncio.to_thread(self._sweep)

    def _sweep(self) -> None:
        for pattern in ("*.git/objects/pack/tmp_*", "*.git/objects/??/tmp_*"):
            for draft in self.folder.glob(pattern):
                draft.unlink(missing_ok=True)

    async def ensure(self, origin: RepositoryUrl) -> Mirror:
        """The mirror, with everything the origin's branches and tags have now.

        A damaged mirror is fetched anew once. Raises `repository_not_found`, `not_a_repository`,
        `repository_auth_needed`, `repository_unreachable`, `git_timeout`, `disk_full`.
        """
        path = self.path(origin.key)
        async with self._alone(origin.key):
            heads = await list_heads(self.git, origin, "HEAD", "refs/heads/*", "refs/tags/*")
            try:
                await self._bring(origin, path, heads)
            except Environmental as failure:
                if failure.code != "mirror_corrupt":
                    raise
                await self._renew(origin, path, heads)
            self._known[origin.key] = dict(heads.refs)
        return Mirror(self.git, path, origin, heads)

    async def _bring(self, origin: RepositoryUrl, path: Path, heads: RemoteHeads) -> None:
        if not (path / "HEAD").exists():
            shutil.rmtree(path, ignore_errors=True)
            await self.create(path)
            self._known.pop(origin.key, None)
        if self._known.get(origin.key) != heads.refs:
            await self._fetch(origin, path)
        await self._complete(path, heads)

    async def _complete(self, path: Path, heads: RemoteHeads) -> None:
        """Every branch's commit and tree can be read, or `mirror_corrupt`."""
        wanted = "".join(f"{sha}^{{tree}}\n" for sha in sorted(set(heads.branches.values())))
        if not wanted:
            return
        answer = await self.git.run(
            "check the stored copy",
            ["cat-file", "--batch-check"],
            repository=path,
            stdin=wanted.encode(),
        )
        if b" missing" in answer.stdout or b"error" in answer.stderr:
            raise Environmental(
                "mirror_corrupt",
                "The stored copy of the repository lacks objects",
                hint="It is fetched anew once by itself; if that fails too, check the disk.",
            )

    async def create(self, path: Path) -> None:
        """An empty mirror."""
        making = path.with_name(path.name + ".making")
        shutil.rmtree(making, ignore_errors=True)
        # 0644: readable for the agent's user whatever the server's umask is, writable for us alone.
        await self.git.run(
            "make the stored copy",
            ["init", "--quiet", "--bare", "--template=", "--shared=0644", str(making)],
        )
        os.rename(making, path)

    async def _fetch(self, origin: RepositoryUrl, path: Path) -> None:
        arguments = [
            "fetch",
            "--quiet",
            "--prune",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--update-shallow",
            *serving(self.git, origin, "git-upload-pack"),
            "--end-of-options",
            origin.url,
            *_REFSPECS,
        ]
        await self.git.run(
            "fetch the repository",
            arguments,
            repository=path,
            transport=transport(origin),
            remote=remote(origin),
            timeout_s=FETCH_TIMEOUT_S,
        )

    async def _renew(self, origin: RepositoryUrl, path: Path, heads: RemoteHeads) -> None:
        """A new copy beside the damaged one; then what orders made, as far as it can be read."""
        fresh = path.with_name(path.name + ".renewed")
        damaged = path.with_name(path.name + ".damaged")
        for left in (fresh, damaged):
            shutil.rmtree(left, ignore_errors=True)
        await self.create(fresh)
        await self._fetch(origin, fresh)
        await self._complete(fresh, heads)
        lost = await self._salvage(path, fresh)
        os.rename(path, damaged)
        os.rename(fresh, path)
        if not lost:
            shutil.rmtree(damaged, ignore_errors=True)

    async def _salvage(self, old: Path, new: Path) -> list[str]:
        try:
            names = await Mirror(self.git, old, None, None).refs("refs/awo")
        except Failed:
            return ["refs/awo"]
        lost = []
        for name in names:
            try:
                await self.git.run(
                    "save an order's commits",
                    [
                        "fetch",
                        "--quiet",
                        "--no-tags",
                        "--no-write-fetch-head",
                        str(old),
                        f"+{name}:{name}",
                    ],
                    repository=new,
                    transport="file",
                )
            except Failed:
                lost.append(name)
        return lost

    @asynccontextmanager
    async def _alone(self, key: str) -> AsyncIterator[None]:
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            fd = os.open(self.folder / f"{key}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                await _flock(fd, key)
                yield
            finally:
                os.close(fd)


async def _flock(fd: int, key: str) -> None:
    for _ in range(int(LOCK_TIMEOUT_S / LOCK_POLL_S)):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            await asyncio.sleep(LOCK_POLL_S)
    raise Conflict(
        "mirror_busy",
        f"Another process has held the stored copy {key} for {LOCK_TIMEOUT_S:.0f} s",
        hint="Only one server may use a data directory; look for a second one.",
    )

"""The folders of one order, and the git steps made in them.

    <home>/workspaces/<order>/repo    the work tree and the agent's own `.git`
                             /home    HOME of every execution, kept between calls
                             /tmp     TMPDIR
                             /import  the private git directory while a commit is made

The parent folder belongs to the server, the four to the agent's user. Rules:
- The host never runs git here. A checkout or a tree is made inside, as the agent's user, with a
  git directory that the host wrote a moment before; objects come back as one pack, checked.
- The commit itself is made by the host in its mirror: parent, author, date and message are never
  the agent's, and whatever it did to `.git` or history does not matter.
"""

from __future__ import annotations

import asyncio
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import msgspec

from agent_work_orders.clock import Clock
from agent_work_orders.errors import Environmental, Failed, Permanent, Transient
from agent_work_orders.repositories import origin as origins
from agent_work_orders.repositories.failure import said
from agent_work_orders.repositories.mirror import MAX_IMPORT_BYTES, Mirror
from agent_work_orders.repositories.refname import is_sha
from agent_work_orders.sandbox_manager import (
    commit_size,
    files,
    git_directory,
    inside,
    leftovers,
    processes,
)
from agent_work_orders.sandbox_manager.agent_user import AgentUser
from agent_work_orders.sandbox_manager.execution import execute
from agent_work_orders.sandbox_manager.leftovers import LeftOut
from agent_work_orders.sandbox_manager.nursery import Nursery, Request
from agent_work_orders.sandbox_manager.sandbox import Execution, Output, Spec

INSIDE_OUTPUT_BYTES = 65_536
# How git says that it left something out. It cuts a line at 4 KiB, which loses the reason of a path
# beyond PATH_MAX, and it does not count it as a failure.
_UNREADABLE = (b"Permission denied", b"File name too long", b"could not open directory")


# SIGKILL and SIGTERM, as a shell tells them of its child, or a git of its helper.
_KILLED_EXITS = (137, 143)
_FULL = re.compile(rb"No space left|Disk quota exceeded")
_KILLED = re.compile(rb"^Killed$|died of signal (?:9|15)\b", re.MULTILINE)


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """What all workspaces of a server share. `path` is PATH for what runs inside."""

    nursery: Nursery
    clock: Clock
    user: AgentUser
    tag: str
    path: str
    git: str


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """A tree that the mirror has now. `clean`: the workspace holds nothing else."""

    tree: str
    clean: bool
    changed: bool
    left_out: LeftOut


class Workspace:
    """Not safe for two tasks at once: the caller keeps them apart."""

    def __init__(
        self, place: Place, spec: Spec, mirror: Mirror, folder: Path, index_path: Path
    ) -> None:
        self.place = place
        self.mirror = mirror
        self.folder = folder
        self.repo = folder / "repo"
        self._spec = spec
        self._copies = spec.sandbox_type == "git_branch"
        self._index_path = index_path

    def make_folders(self) -> None:
        files.remove(self.folder)
        files.make_folder(self.folder, None, 0o711)
        for name in ("repo", "home", "tmp"):
            files.make_folder(self.folder / name, self.place.user)
        # So that an agent, or a test it runs, can commit in repositories of its own.
        files.write(self.folder / "home", ".gitconfig", git_directory.IDENTITY, self.place.user)

    async def reset(self, sha: str) -> None:
        """As `materialise`, but only what differs is written. The index that says so is ours, and
        what the agent changed has another time of change, which no program can set."""
        git = self.repo / ".git"
        if self._copies or not await asyncio.to_thread(self._renew_git, git, sha):
            await self.materialise(sha)
            return
        done = await self._inside(inside.argv(inside.RESET, sha), directory=git)
        if done.success:
            await asyncio.to_thread(self._keep_index, self.repo, ".git/index")
        else:
            # Folders whose rights the agent took away, for example: the thorough way has means.
            await self.materialise(sha)

    async def materialise(self, sha: str) -> None:
        """The files of a commit and a new `.git`, instead of everything that was there.

        Environmental `sandbox_setup_failed`, `sandbox_lost`, `disk_full`.
        """
        git = self.repo / ".git"
        await asyncio.to_thread(self._clear, git, sha)
        argv = inside.checkout(sha)
        if self._copies:
            argv = inside.argv(inside.CHECKOUT_COPY, sha)
        done = await self._inside(argv, directory=git)
        if not done.success:
            _need_not_killed(done)
            raise setup_failed(done.stderr)
        await asyncio.to_thread(self._keep_index, self.repo, ".git/index")

    async def import_tree(self, parent: str) -> Imported:
        """Bring the files as they are now to the mirror, unless they are the parent's.

        Ignored files and what builds leave behind stay out, links stay links, nested repositories
        become plain files.
        """
        private = self.folder / "import"
        await asyncio.to_thread(self._write_private, private, parent)
        later_s = self.place.clock.now_ms() // 1000 + 2
        sizes = (str(commit_size.LIMIT_BYTES), str(commit_size.large_bytes()))
        argv = inside.argv(inside.TREE, parent, str(private / "pack"), str(later_s), *sizes)
        done = await self._inside(argv, directory=private)
        try:
            imported = _read_tree(done)
            if imported.changed:
                with await asyncio.to_thread(_open_pack, private / "pack") as pack:
                    await self.mirror.import_pack(pack)
        except Failed:
            # It is of no use to anybody, and may be what fills the disk.
            await asyncio.to_thread(files.remove, private)
            raise
        return imported

    async def adopt(self, sha: str) -> None:
        """Let the agent's own `.git` stand at a commit that was just made of its files."""
        private, git = self.folder / "import", self.repo / ".git"
        await asyncio.to_thread(self._replace_git, private, git, sha)
        if self._copies:
            done = await self._inside(inside.argv(inside.COPY), directory=git)
            if not done.success:
                _need_not_killed(done)
                raise setup_failed(done.stderr)

    def stand_at(self, sha: str) -> None:
        """Let the agent's own `.git` stand at a commit, its files and index staying what they are:
        it sees what differs as changes."""
        reference = f"refs/heads/{self._spec.branch}"
        files.write(self.repo / ".git", reference, f"{sha}\n".encode(), self.place.user)

    async def run(
        self,
        argv: list[str],
        *,
        stdin: bytes,
        env: Mapping[str, str],
        timeout_s: float,
        idle_s: float | None,
        on_output: Output | None,
        cwd: str,
    ) -> Execution:
        """A program of the order, in `cwd` below the work tree."""
        folder = self.repo if cwd == "." else self.repo.joinpath(*files.components(cwd))
        request = Request(
            argv=argv,
            env={
                "PATH": self.place.path,
                "HOME": str(self.folder / "home"),
                "LANG": "C.UTF-8",
                "TMPDIR": str(self.folder / "tmp"),
                **env,
                **self._tags(),
            },
            cwd=str(folder),
            shown=self._shown(borrowing=not self._copies),
            guarded=self._guarded(),
        )
        return await execute(
            self.place.nursery,
            request,
            clock=self.place.clock,
            stdin=stdin,
            timeout_s=timeout_s,
            idle_s=idle_s,
            on_output=on_output,
        )

    async def _inside(self, argv: list[str], *, directory: Path) -> Execution:
        temporary = str(self.folder / "tmp")
        env = inside.environment(self.place.git, str(directory), str(self.repo), temporary)
        shown = self._shown(borrowing=True)
        if not directory.is_relative_to(self.repo):
            shown.append((str(directory), True))
        return await execute(
            self.place.nursery,
            Request(
                argv=argv,
                env={**env, **self._tags()},
                cwd=str(self.repo),
                shown=shown,
                guarded=self._guarded(),
            ),
            clock=self.place.clock,
            timeout_s=inside.TIMEOUT_S,
            limit_bytes=INSIDE_OUTPUT_BYTES,
        )

    def _tags(self) -> dict[str, str]:
        return {processes.ORDER_TAG: self._spec.order_id, processes.HOME_TAG: self.place.tag}

    def _shown(self, *, borrowing: bool) -> list[tuple[str, bool]]:
        shown = [(str(self.folder / name), True) for name in ("repo", "home", "tmp")]
        return [*shown, (str(self.mirror.path), False)] if borrowing else shown

    def _guarded(self) -> list[str]:
        return origins.folders_of(self._spec.origin) if self._spec.origin else []

    def _clear(self, git: Path, sha: str) -> None:
        if not self.repo.is_dir():
            raise files.lost(self.repo)
        files.empty(self.repo)
        self._write_git(git, sha, None)

    def _renew_git(self, git: Path, sha: str) -> bool:
        """A new `.git` with the kept index; False when there is none."""
        if not self.repo.is_dir():
            raise files.lost(self.repo)
        index = self._kept_index()
        if index is None:
            return False
        files.remove(git)
        self._write_git(git, sha, index)
        return True

    def _replace_git(self, private: Path, git: Path, sha: str) -> None:
        """The private one becomes the agent's: it has the index, and no program saw it."""
        self._keep_index(private, "index")
        os.unlink(private / "pack")
        reference = f"refs/heads/{self._spec.branch}"
        files.write(private, reference, f"{sha}\n".encode(), self.place.user)
        files.remove(git)
        os.rename(private, git)

    def _write_private(self, private: Path, parent: str) -> None:
        if not self.repo.is_dir():
            raise files.lost(self.repo)
        files.remove(private)
        self._write_git(private, parent, self._kept_index())

    def _write_git(self, path: Path, sha: str, index: git_directory.Index | None) -> None:
        content = git_directory.GitDirectory(
            mirror=self.mirror.path, branch=self._spec.branch, sha=sha, index=index
        )
        git_directory.write(path, content, self.place.user)

    def _kept_index(self) -> git_directory.Index | None:
        if not self._index_path.exists():
            return None
        at_ns = self._index_path.stat().st_mtime_ns
        return git_directory.Index(data=self._index_path.read_bytes(), at_ns=at_ns)

    def _keep_index(self, folder: Path, name: str) -> git_directory.Index:
        """Copy the index out of the agent's reach: later it says which files are unchanged."""
        data = files.read(folder, name, git_directory.INDEX_LIMIT_BYTES, self.place.user)
        # Never a moment to come: git would believe every file that is changed until then.
        now_ns = self.place.clock.now_ms() * 1_000_000
        at_ns = min(os.stat(folder / name, follow_symlinks=False).st_mtime_ns, now_ns)
        making = self._index_path.with_suffix(".index-making")
        making.write_bytes(data)
        os.utime(making, ns=(at_ns, at_ns))
        os.replace(making, self._index_path)
        return git_directory.Index(data=data, at_ns=at_ns)


def _open_pack(path: Path) -> IO[bytes]:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_IMPORT_BYTES:
        os.close(fd)
        raise commit_size.refusal(commit_size.Larger(found.st_size, ()))
    return os.fdopen(fd, "rb")


def _read_tree(done: Execution) -> Imported:
    """What inside.TREE said. Paths that git refuses (look-alikes of `.git`) are left out."""
    if any(sign in done.stderr for sign in _UNREADABLE):
        raise Permanent(
            "changes_unreadable",
            f"Some of the agent's changes cannot be read: {said(done.stderr)}",
            hint="Retry, and tell the agent not to make such files.",
        )
    lines = done.stdout.decode("utf-8", "replace").splitlines() or [""]
    if done.success and (larger := commit_size.read(lines)) is not None:
        raise commit_size.refusal(larger)
    words = lines[0].split()
    full = _FULL.search(done.stderr) is not None
    refused = full or b"unable to write" in done.stderr
    if not done.success or refused or len(words) != 4 or not is_sha(words[0]):
        _need_not_killed(done)
        if full:
            raise Environmental(
                "disk_full",
                "No space left to commit the agent's changes",
                hint="Free space on the data directory's disk; the work continues by itself.",
            )
        raise Environmental(
            "sandbox_commit_failed",
            f"The agent's changes could not be committed: {said(done.stderr)}",
            hint="The workspace is kept; look at the files that git names.",
        )
    return Imported(
        tree=words[0],
        clean=words[2:] == ["0", "clean"],
        changed=words[1] != "same",
        left_out=leftovers.read(lines[1:]),
    )


def _need_not_killed(done: Execution) -> None:
    """Transient `sandbox_step_killed`: from outside, since our own limit is no exit."""
    code = done.exit_code if done.exit_code is not None else 128 + (done.signal or 0)
    if done.ended == "exited" and (code in _KILLED_EXITS or _KILLED.search(done.stderr)):
        raise Transient(
            "sandbox_step_killed",
            "git was killed from outside while it worked in the sandbox",
            hint="It is tried again. If that goes on, the machine has too little memory.",
        )


def setup_failed(stderr: bytes) -> Environmental:
    if _FULL.search(stderr):
        return Environmental(
            "disk_full",
            "No space left to set up the sandbox",
            hint="Free space on the data directory's disk.",
        )
    return Environmental(
        "sandbox_setup_failed",
        f"The sandbox could not be set up: {said(stderr)}",
        hint="The words of git above say what it missed.",
    )

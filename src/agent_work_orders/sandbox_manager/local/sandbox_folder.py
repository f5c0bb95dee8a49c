"""The folders of one order, and the git steps made in them.

    <home>/workspaces/<order>/repo    the work tree and the agent's own `.git`
                             /home    HOME of every execution, kept between calls
                             /tmp     TMPDIR
                             /import  the private git directory while a commit is made
                             /staging where the host makes what it puts into the others

The parent folder and the last belong to the server, the four to the agent's user. Rules:
- The host never runs git here. A checkout or a tree is made inside, as the agent's user, with a
  git directory that the host wrote a moment before; objects come back as one pack, checked.
- The commit itself is made by the host in its mirror: parent, author, date and message are never
  the agent's, and whatever it did to `.git` or history does not matter.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import msgspec

from agent_work_orders.clock import Clock
from agent_work_orders.errors import Failed
from agent_work_orders.repositories.mirror import MAX_IMPORT_BYTES, Mirror
from agent_work_orders.sandbox_manager import commit_size, git_steps, step_results
from agent_work_orders.sandbox_manager.local import (
    descriptor_files,
    descriptor_trees,
    files,
    git_directory,
    processes,
    references,
)
from agent_work_orders.sandbox_manager.local.agent_user import AgentUser
from agent_work_orders.sandbox_manager.local.execution import execute
from agent_work_orders.sandbox_manager.local.leases import Leases
from agent_work_orders.sandbox_manager.local.programs import OrderFolder, Program, Programs
from agent_work_orders.sandbox_manager.local.supervisor_client import SupervisorClient
from agent_work_orders.sandbox_manager.sandbox import Execution, Output

INSIDE_OUTPUT_BYTES = 65_536


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """What all sandboxes of a server share. `path` is PATH for what runs git_steps."""

    supervisor: SupervisorClient
    clock: Clock
    leases: Leases
    tag: str
    path: str
    git: str


class SandboxFolder:
    """Not safe for two tasks at once: the caller keeps them apart."""

    def __init__(
        self, host: Host, folder: OrderFolder, mirror: Mirror, index_path: Path, programs: Programs
    ) -> None:
        self.host = host
        self.mirror = mirror
        self.programs = programs
        self.path = folder.path
        self.repo = folder.repo
        self.staging = descriptor_files.Staging(folder.path / "staging")
        self._folder = folder
        self._spec = folder.spec
        self._copies = folder.spec.sandbox_type == "git_branch"
        self._index_path = index_path
        self._references = references.References(mirror, folder.spec)

    def make_folders(self) -> None:
        descriptor_trees.remove(self.path)
        descriptor_files.make_folder(self.path, None)
        user = self.host.leases.users.user(self.host.leases.hold(self.path))
        self.staging.empty()
        for name in ("home", "tmp", "repo"):
            descriptor_files.make_folder(self.path / name, user)
        descriptor_files.let_pass(self.path, user)
        self._settle()

    def empty_private(self) -> None:
        for name in ("home", "tmp"):
            descriptor_trees.empty(self.path / name)
        self._settle()

    def _settle(self) -> None:
        """So that an agent, or a test it runs, can commit in repositories of its own."""
        self.put_private(".gitconfig", git_steps.IDENTITY, 0o644)

    @property
    def user(self) -> AgentUser:
        return self._folder.user

    @property
    def leased(self) -> int | None:
        """The user that no other order has, if there is one."""
        uid = descriptor_files.owner(self.repo)
        return uid if uid is not None and self.host.leases.has(self.path, uid) else None

    def adopt(self) -> bool:
        """Whether what is there can be gone on with, by the user that it belongs to."""
        uid = descriptor_files.owner(self.repo)
        leases = self.host.leases
        if uid is None or uid not in leases.users or leases.hold(self.path, uid) != uid:
            return False
        descriptor_files.let_pass(self.path, leases.users.user(uid))
        self.staging.empty()
        return True

    def remove(self) -> None:
        """And give its user back."""
        uid = descriptor_files.owner(self.repo)
        descriptor_trees.remove(self.path)
        if uid is not None:
            self.host.leases.release(self.path, uid)

    def put_private(self, name: str, content: bytes, mode: int = 0o600) -> str:
        home = self.path / "home"
        files.write(self.staging, home, name, content, self.user, mode)
        return self.programs.seen(home / name)

    def write_file(self, path: str, content: bytes) -> None:
        files.write(self.staging, self.repo, path, content, self.user)

    def read_file(self, path: str, limit_bytes: int) -> bytes:
        return files.read(self.repo, path, limit_bytes, self.user)

    async def reset(self, sha: str) -> None:
        """As `materialise`, but only what differs is written. The index that says so is ours, and
        what the agent changed has another time of change, which no program can set."""
        git = self.repo / ".git"
        await self._references.look()
        if self._copies or not await asyncio.to_thread(self._renew_git, sha):
            await self.materialise(sha)
            return
        done = await self._inside(git_steps.argv(git_steps.RESET, sha), directory=git)
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
        await self._references.look()
        await asyncio.to_thread(self._clear, sha)
        argv = git_steps.checkout(sha)
        if self._copies:
            argv = git_steps.argv(git_steps.CHECKOUT_COPY, sha)
        done = await self._inside(argv, directory=git)
        if not done.success:
            step_results.need_not_killed(done)
            raise step_results.setup_failed(done.stderr)
        await asyncio.to_thread(self._keep_index, self.repo, ".git/index")

    async def import_tree(self, parent: str) -> step_results.Imported:
        """Bring the files as they are now to the mirror, unless they are the parent's.

        Ignored files and what builds leave behind stay out, links stay links, nested repositories
        become plain files.
        """
        private = self.path / "import"
        await self._references.need()
        await asyncio.to_thread(self._write_private, parent)
        later_s = self.host.clock.now_ms() // 1000 + 2
        sizes = (str(commit_size.LIMIT_BYTES), str(commit_size.large_bytes()))
        pack_path = self.programs.seen(private / "pack")
        argv = git_steps.argv(git_steps.TREE, parent, pack_path, str(later_s), *sizes)
        done = await self._inside(argv, directory=private)
        try:
            imported = step_results.read_tree(done)
            if imported.changed:
                with await asyncio.to_thread(self._open_pack, private) as pack:
                    await self.mirror.import_pack(pack)
        except Failed:
            # It is of no use to anybody, and may be what fills the disk.
            await asyncio.to_thread(descriptor_trees.remove, self.path / "import")
            raise
        return imported

    async def stand_on(self, sha: str) -> None:
        """Let the agent's own `.git` stand at a commit that was just made of its files."""
        await asyncio.to_thread(self._replace_git, self.path / "import", sha)
        if self._copies:
            done = await self._inside(git_steps.argv(git_steps.COPY), directory=self.repo / ".git")
            if not done.success:
                step_results.need_not_killed(done)
                raise step_results.setup_failed(done.stderr)

    def stand_at(self, sha: str) -> None:
        """Let the agent's own `.git` stand at a commit, its files and index staying what they are:
        it sees what differs as changes."""
        reference = f"refs/heads/{self._spec.branch}"
        self.write_file(f".git/{reference}", f"{sha}\n".encode())

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
        terminal: int | None = None,
    ) -> Execution:
        """A program of the order, in `cwd` below the work tree."""
        way_out = self.programs.way_out
        program = Program(
            argv=argv,
            env={
                "PATH": self.programs.path,
                "HOME": self.programs.seen(self.path / "home"),
                "LANG": "C.UTF-8",
                "TMPDIR": self.programs.seen(self.path / "tmp"),
                **(way_out.environment if way_out is not None else {}),
                **env,
                **self._tags(),
            },
            cwd=self.repo,
            below=() if cwd == "." else files.components(cwd),
            borrowing=not self._copies,
        )
        return await execute(
            self.programs,
            program,
            clock=self.host.clock,
            stdin=stdin,
            timeout_s=timeout_s,
            idle_s=idle_s,
            on_output=on_output,
            terminal=terminal,
        )

    async def _inside(self, argv: list[str], *, directory: Path) -> Execution:
        env = git_steps.environment(
            self.host.git,
            *(self.programs.seen(place) for place in (directory, self.repo, self.path / "tmp")),
        )
        return await execute(
            self.programs,
            Program(
                argv=argv,
                env={**env, **self._tags()},
                cwd=self.repo,
                directory=directory,
                borrowing=True,
            ),
            clock=self.host.clock,
            timeout_s=git_steps.TIMEOUT_S,
            limit_bytes=INSIDE_OUTPUT_BYTES,
        )

    def _tags(self) -> dict[str, str]:
        return {
            processes.ORDER_TAG: self._spec.order_id,
            processes.SANDBOX_TAG: self._spec.name,
            processes.HOME_TAG: self.host.tag,
        }

    def _clear(self, sha: str) -> None:
        """A new folder takes the host of the work tree: who holds the old one has nothing."""
        with self._opened() as folder:
            self._write_git(folder, "repo", sha, None, below=".git/")

    def _renew_git(self, sha: str) -> bool:
        """A new `.git` with the kept index; False when there is none."""
        with self._opened():
            index = self._kept_index()
        if index is None:
            return False
        with descriptor_files.opened(self.repo) as repo:
            self._write_git(repo, ".git", sha, index)
        return True

    def _replace_git(self, private: Path, sha: str) -> None:
        """The private one becomes the agent's: it has the index, and no program saw it."""
        self._keep_index(private, "index")
        reference = f"refs/heads/{self._spec.branch}"
        files.write(self.staging, private, reference, f"{sha}\n".encode(), self.user)
        with self._opened() as folder, descriptor_files.opened(self.repo) as repo:
            with descriptor_files.opened(private) as own:
                os.unlink("pack", dir_fd=own)
            self.staging.move(folder, "import", repo, ".git")

    def _write_private(self, parent: str) -> None:
        with self._opened() as folder:
            self._write_git(folder, "import", parent, self._kept_index())

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """The order's folder, in which the work tree is."""
        if not descriptor_files.is_folder(self.repo):
            raise files.lost(self.repo)
        with descriptor_files.opened(self.path) as fd:
            yield fd

    def _write_git(
        self,
        folder: int,
        name: str,
        sha: str,
        index: git_directory.Index | None,
        *,
        below: str = "",
    ) -> None:
        content = git_directory.GitDirectory(
            mirror=self.mirror.path,
            objects=self.programs.seen(self.mirror.path / "objects"),
            branch=self._spec.branch,
            sha=sha,
            index=index,
            references=self._references.packed,
        )
        git_directory.write(self.staging, folder, name, content, self.user, below=below)

    def _kept_index(self) -> git_directory.Index | None:
        if not self._index_path.exists():
            return None
        at_ns = self._index_path.stat().st_mtime_ns
        return git_directory.Index(data=self._index_path.read_bytes(), at_ns=at_ns)

    def _keep_index(self, folder: Path, name: str) -> None:
        """Copy the index out of the agent's reach: later it says which files are unchanged."""
        with files.opened(folder, name, self.user) as fd:
            data = files.content(fd, name, git_directory.INDEX_LIMIT_BYTES)
            changed_ns = os.fstat(fd).st_mtime_ns
        # Never a moment to come: git would believe every file that is changed until then.
        at_ns = min(changed_ns, self.host.clock.now_ms() * 1_000_000)
        making = self._index_path.with_suffix(".index-making")
        making.write_bytes(data)
        os.utime(making, ns=(at_ns, at_ns))
        os.replace(making, self._index_path)

    def _open_pack(self, private: Path) -> IO[bytes]:
        with files.opened(private, "pack", self.user) as fd:
            size = os.fstat(fd).st_size
            if size <= MAX_IMPORT_BYTES:
                return os.fdopen(os.dup(fd), "rb")
        raise commit_size.refusal(commit_size.Larger(size, ()))

"""`git_branch` and `git_worktree`: a sandbox on this machine's file system."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from agent_work_orders.errors import Failed
from agent_work_orders.repositories.refname import check_label, check_sha, order_ref
from agent_work_orders.sandbox_manager.local import (
    descriptor_files,
    descriptor_trees,
    files,
    processes,
)
from agent_work_orders.sandbox_manager.local.register import Entry, Register
from agent_work_orders.sandbox_manager.local.sandbox_folder import SandboxFolder
from agent_work_orders.sandbox_manager.sandbox import (
    Execution,
    LeftOut,
    Output,
    Record,
    Spec,
    State,
    Status,
    WayOut,
)
from agent_work_orders.sandbox_manager.sandbox_types import SandboxType
from agent_work_orders.sandbox_manager.step_results import setup_failed

# SB4's default; every use moves it, so that only abandoned sandboxes expire.
LIFETIME_MS = 30 * 60 * 1000
SNAPSHOT_AUTHOR = "agent <agent@localhost>"


class LocalSandbox:
    """See sandbox.Sandbox for the contract. `commit` moves the parent of the next one."""

    def __init__(self, folder: SandboxFolder, spec: Spec, register: Register) -> None:
        self.sandbox_identifier = identifier(spec)
        self.sandbox_type: SandboxType = spec.sandbox_type
        self._folder = folder
        self._spec = spec
        self._register = register
        self._untouched_at: str | None = None

    @property
    def way_out(self) -> WayOut | None:
        return self._folder.programs.way_out

    async def setup(self) -> None:
        entry = self._register.get(self._spec.name)
        adoptable = entry is not None and entry.record.status == "ACTIVE"
        if entry is not None and adoptable and await asyncio.to_thread(self._folder.adopt):
            self._use(entry)
            return
        try:
            self._record("PROVISIONING", None)
            await self._folder.programs.close()
            await asyncio.to_thread(self._folder.make_folders)
            await self._folder.materialise(self._spec.base_sha)
        except (Failed, OSError) as failure:
            await self._folder.programs.close()
            await asyncio.to_thread(self._folder.remove)
            self._record("FAILED", None)
            if isinstance(failure, Failed):
                raise
            raise setup_failed(str(failure).encode()) from failure
        self._record("ACTIVE", self._spec.base_sha)
        self._untouched_at = self._spec.base_sha

    async def checkout(self, sha: str, *, files: str | None = None) -> None:
        check_sha(sha)
        entry = self._active()
        if self._untouched_at == sha and files is None:
            if entry.holder:
                self._register.put(msgspec.structs.replace(entry, holder=""))
            return
        self._untouched_at = None
        if entry.holder:
            # Before the first file changes: whoever is killed here leaves nobody's work.
            entry = msgspec.structs.replace(entry, holder="")
            self._register.put(entry)
        await self._folder.reset(sha if files is None else check_sha(files))
        if files is not None:
            await asyncio.to_thread(self._folder.stand_at, sha)
        self._register.put(msgspec.structs.replace(entry, head_sha=sha))
        self._untouched_at = sha if files is None else None

    async def hold(self, work: str) -> None:
        self._register.put(msgspec.structs.replace(self._active(), holder=work))

    async def holder(self) -> str:
        entry = self._register.get(self._spec.name)
        return entry.holder if entry is not None else ""

    async def head(self) -> str | None:
        entry = self._register.get(self._spec.name)
        return entry.head_sha if entry is not None else None

    async def execute(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        timeout_s: float = 300.0,
        idle_s: float | None = None,
        on_output: Output | None = None,
        cwd: str = ".",
    ) -> Execution:
        self._use(self._active())
        self._untouched_at = None
        return await self._folder.run(
            list(argv),
            stdin=stdin,
            env=env or {},
            timeout_s=timeout_s,
            idle_s=idle_s,
            on_output=on_output,
            cwd=cwd,
        )

    async def attach(
        self,
        argv: Sequence[str],
        terminal: int,
        *,
        env: Mapping[str, str] | None = None,
        timeout_s: float,
    ) -> Execution:
        self._use(self._active())
        self._untouched_at = None
        with contextlib.suppress(PermissionError):  # whoever is not root has one user for all
            os.fchown(terminal, self._folder.user.uid, -1)
        return await self._folder.run(
            # What starts it leads a session already, without a terminal: a new one takes it.
            ["setsid", "--ctty", "--wait", *argv],
            stdin=b"",
            env=env or {},
            timeout_s=timeout_s,
            idle_s=None,
            on_output=None,
            cwd=".",
            terminal=terminal,
        )

    async def read_file(self, path: str, *, limit_bytes: int = 1_048_576) -> bytes:
        return await asyncio.to_thread(self._folder.read_file, path, limit_bytes)

    async def write_file(self, path: str, content: bytes) -> None:
        self._untouched_at = None
        await asyncio.to_thread(self._folder.write_file, path, content)

    async def put_private(self, name: str, content: bytes) -> str:
        if len(files.components(name)) != 1:
            raise files.outside(name)
        return await asyncio.to_thread(self._folder.put_private, name, content)

    async def empty_private(self) -> None:
        self._active()
        await asyncio.to_thread(self._folder.empty_private)

    async def commit(
        self,
        message: str,
        *,
        author: str,
        at_ms: int,
        left_out: Callable[[LeftOut], None] = lambda _found: None,
    ) -> str | None:
        entry = self._active()
        parent = entry.head_sha or self._spec.base_sha
        if self._untouched_at == parent:
            return None
        imported = await self._folder.import_tree(parent)
        left_out(imported.left_out)
        if not imported.changed:
            return None
        mirror = self._folder.mirror
        sha = await mirror.commit_tree(imported.tree, [parent], message, author=author, at_ms=at_ms)
        await mirror.keep(order_ref(self._spec.order_id, "commits", sha), sha)
        await self._folder.stand_on(sha)
        self._register.put(msgspec.structs.replace(entry, head_sha=sha))
        self._untouched_at = sha if imported.clean else None
        return sha

    async def snapshot(self, name: str) -> str:
        check_label(name)
        mirror = self._folder.mirror
        parent = self._active().head_sha or self._spec.base_sha
        imported = await self._folder.import_tree(parent)
        sha = await mirror.commit_tree(
            imported.tree if imported.changed else await mirror.tree_of(parent),
            [parent],
            f"Snapshot {name}\n",
            author=SNAPSHOT_AUTHOR,
            at_ms=self._folder.host.clock.now_ms(),
        )
        await mirror.keep(order_ref(self._spec.order_id, "snapshots", name), sha)
        return sha

    async def state(self) -> State:
        found = found_state(self._register.get(self._spec.name), self._folder.repo)
        if not found.exists:
            return found
        size = await asyncio.to_thread(descriptor_trees.size_bytes, self._folder.path)
        return msgspec.structs.replace(found, disk_bytes=size)

    async def interrupt(self) -> None:
        host = self._folder.host
        await self._folder.programs.close()
        # With namespaces of their own all processes of an order are dead already.
        alone = None if host.supervisor.namespaces else self._folder.leased
        await asyncio.to_thread(
            processes.kill_tagged,
            host.tag,
            sandbox=self._spec.name,
            uids=set() if alone is None else {alone},
        )

    async def cleanup(self) -> None:
        await self.interrupt()
        self._untouched_at = None
        await asyncio.to_thread(self._folder.remove)
        self._register.index_path(self._spec.name).unlink(missing_ok=True)
        entry = self._register.get(self._spec.name)
        if entry is not None and entry.record.status != "TERMINATED":
            self._record("TERMINATED", None)

    def _active(self) -> Entry:
        entry = self._register.get(self._spec.name)
        if entry is None or not found_state(entry, self._folder.repo).exists:
            raise files.lost(self._folder.repo)
        return entry

    def _use(self, entry: Entry) -> None:
        """Push the expiry away; written only when half of the time is over."""
        now = self._folder.host.clock.now_ms()
        if entry.record.expires_at_ms - now < LIFETIME_MS // 2:
            record = msgspec.structs.replace(entry.record, expires_at_ms=now + LIFETIME_MS)
            self._register.put(msgspec.structs.replace(entry, record=record))

    def _record(self, status: Status, head_sha: str | None) -> None:
        now = self._folder.host.clock.now_ms()
        before = self._register.get(self._spec.name)
        anew = status == "PROVISIONING" or before is None
        expires = self._spec.expires_at_ms or now + LIFETIME_MS
        record = Record(
            sandbox_identifier=self.sandbox_identifier,
            order_id=self._spec.order_id,
            part=self._spec.part,
            sandbox_type=self.sandbox_type,
            status=status,
            connection={
                "kind": "local",
                "workspace": str(self._folder.repo),
                "uid": descriptor_files.owner(self._folder.repo),
            },
            created_at_ms=now if anew or before is None else before.record.created_at_ms,
            expires_at_ms=now if status in ("TERMINATED", "FAILED") else expires,
        )
        self._register.put(Entry(record=record, spec=self._spec, head_sha=head_sha))


def identifier(spec: Spec) -> str:
    return f"{spec.sandbox_type}-{spec.name}"


def found_state(entry: Entry | None, repo: Path) -> State:
    """What is there, without its size: made to its end, and not removed by anybody since."""
    if entry is None or entry.record.status != "ACTIVE" or not descriptor_files.is_folder(repo):
        return State(exists=False, workspace=None, head_sha=None, disk_bytes=None)
    return State(exists=True, workspace=str(repo), head_sha=entry.head_sha, disk_bytes=None)

"""Colluding agents exchange files, folders and links while the host works: nothing outside of
their workspaces is read, written or given away. The control shows that the attack is one."""

from __future__ import annotations

import contextlib
import inspect
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.sandbox_manager import colluders

from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.sandbox_manager.local import descriptor_files, descriptor_trees, files
from agent_work_orders.sandbox_manager.local.agent_user import AgentUser
from agent_work_orders.sandbox_manager.local.sandbox_folder import SandboxFolder
from agent_work_orders.testing.conformance.sandbox import order

# TEST_RACE_S=600 for a long one.
BUDGET_S = float(os.environ.get("TEST_RACE_S", "12"))
LEAST_SWAPS = 10_000
SECRET = b"only root may read this\n"


@pytest.fixture
def canary(folder: Path) -> Path:
    """Root's own, with every name that the links lead to; closed to all others."""
    top = folder / "canary"
    top.mkdir(mode=0o711)
    for name in colluders.NAMES:
        if name in ("new", "index", "HEAD", "config", "key", "README.md", "alternates", "exclude"):
            (top / name).write_bytes(SECRET)
            (top / name).chmod(0o600)
            continue
        (top / name).mkdir()
        for inner in colluders.NAMES:
            (top / name / inner).write_bytes(SECRET)
            (top / name / inner).chmod(0o600)
        (top / name).chmod(0o700)
    return top


def fingerprint(top: Path) -> dict[str, tuple[Any, ...]]:
    """Everything that a write, a removal, a mode or an owner would change."""
    found = {}
    for path in (top, *sorted(top.rglob("*"))):
        state = path.lstat()
        content = path.read_bytes() if path.is_file() else sorted(os.listdir(path))
        found[str(path.relative_to(top))] = (
            state.st_mode, state.st_uid, state.st_gid, state.st_nlink, state.st_size,
            state.st_mtime_ns, state.st_ctime_ns, content,
        )  # fmt: skip
    return found


@contextmanager
def attacked(
    folder: Path, workspace: Path, canary: Path, uid: int, *chosen: str
) -> Iterator[Callable[[], int]]:
    """Yields how many swaps there were until now."""
    counts = {role: folder / f"count-{role}" for role in ("second", "first")}
    for count in counts.values():
        count.write_text("0")
        count.chmod(0o666)
    where = f"awo-race-{folder.name}"
    program = str(Path(colluders.__file__))
    users = {"second": uid + 1 if os.geteuid() == 0 else uid, "first": uid}
    running = [
        subprocess.Popen(
            [
                sys.executable,
                program,
                where,
                str(count),
                str(workspace),
                str(canary),
                role,
                str(who),
            ]
        )
        for role, who in users.items()
    ]
    try:
        yield lambda: sum(int(count.read_text() or 0) for count in counts.values())
        assert [process.poll() for process in running] == [None, None], "the attackers died"
    finally:
        for process in running:
            process.kill()
            process.wait()


def deeds(workspace: Any, sha: str) -> dict[str, Callable[[], Any]]:
    """Every place where the host writes, reads, measures or removes in an agent's tree."""
    folder, branch = workspace.path, workspace._spec.branch

    def remove_inner() -> None:
        with descriptor_files.opened(folder / "tmp") as tmp:
            workspace.staging.take(tmp, "deep")

    def remake() -> None:
        workspace.make_folders()
        workspace._clear(sha)

    return {
        "write": lambda: workspace.write_file("a/b/new", b"new\n"),
        "overwrite": lambda: workspace.write_file("README.md", b"new\n"),
        "make folders": lambda: workspace.write_file("tmp-of/a/b/c/new", b"new\n"),
        "private": lambda: workspace.put_private("key", b"key\n"),
        "stand at": lambda: workspace.stand_at(sha),
        "private git": lambda: workspace._write_private(sha),
        "keep index": lambda: workspace._keep_index(workspace.repo, ".git/index"),
        "pack": lambda: workspace._open_pack(folder / "import").read(),
        "renew git": lambda: workspace._renew_git(sha),
        "replace git": lambda: workspace._replace_git(folder / "import", sha),
        "read": lambda: workspace.read_file("README.md", 1_000_000),
        "read deep": lambda: workspace.read_file(f".git/refs/heads/{branch}", 1_000),
        "read index": lambda: workspace.read_file(".git/index", 1_000_000),
        "measure": lambda: descriptor_trees.size_bytes(folder),
        "remove": remove_inner,
        "clear": lambda: workspace._clear(sha),
        "adopt": workspace.adopt,
        "empty private": workspace.empty_private,
        "remove a tree": lambda: descriptor_trees.remove(folder / "tmp" / "deep"),
        "remake": remake,
    }


DONE_BY = {
    "write_file": "write",
    "put_private": "private",
    "stand_at": "stand at",
    "_write_private": "private git",
    "_keep_index": "keep index",
    "_open_pack": "pack",
    "_renew_git": "renew git",
    "_replace_git": "replace git",
    "read_file": "read",
    "_clear": "clear",
    "adopt": "adopt",
    "make_folders": "remake",
    "empty_private": "empty private",
    "remove": "remove a tree",
    # By way of others: each step of these that touches the tree is a deed.
    "_settle": "private",
    "_opened": "private git",
    "_write_git": "private git",
    "_kept_index": "keep index",
    "reset": "clear",
    "materialise": "private git",
    "import_tree": "pack",
    "stand_on": "stand at",
}
INSIDE = {"__init__", "user", "leased", "run", "_inside", "_tags"}
"""Nothing of the tree, or a program of the order's own user."""


def test_every_way_into_the_tree_is_raced() -> None:
    known = {
        name
        for name, one in vars(SandboxFolder).items()
        if callable(one) or isinstance(one, property | staticmethod)
    }
    assert known == set(DONE_BY) | INSIDE
    made = inspect.getsource(deeds)
    assert all(f'"{deed}":' in made for deed in DONE_BY.values())


def filled(workspace: Any) -> None:
    """What the deeds need, put there by the agents' own user."""
    with contextlib.suppress(OSError), descriptor_files.opened(workspace.path) as top:
        for name in ("tmp/deep/er", "repo/a/b"):
            with contextlib.suppress(OSError):
                fd = descriptor_files.descend(
                    top, name.split("/"), workspace.staging.step(workspace.user)
                )
                os.close(fd)
        with contextlib.suppress(OSError, AgentWorkOrdersError):
            workspace.write_file(".git/index", b"index")
        for name in ("pack", "index"):
            with contextlib.suppress(OSError, AgentWorkOrdersError):
                place = workspace.path / "import"
                files.write(workspace.staging, place, name, b"data", workspace.user)


@pytest.mark.slow
@pytest.mark.fault("N4")
@pytest.mark.timeout(900 + BUDGET_S)
async def test_nothing_outside_is_touched(bench: Any, folder: Path, canary: Path) -> None:
    spec = order(bench)
    sandbox = bench.sandboxes.open(spec)
    await sandbox.setup()
    workspace = sandbox._folder
    before = fingerprint(canary)
    leaked = []
    rounds: dict[str, int] = {}
    ends_at = time.monotonic() + BUDGET_S
    with attacked(folder, workspace.path, canary, workspace.user.uid) as swaps:
        while time.monotonic() < ends_at or swaps() < LEAST_SWAPS:
            for name, deed in deeds(workspace, bench.base_sha).items():
                filled(workspace)
                with contextlib.suppress(OSError, AgentWorkOrdersError):
                    found = deed()
                    rounds[name] = rounds.get(name, 0) + 1
                    if isinstance(found, bytes) and SECRET in found:
                        leaked.append(name)
                index = workspace._index_path
                if index.exists() and SECRET in index.read_bytes():
                    leaked.append(f"index by {name}")
                if not workspace.path.exists() or not descriptor_files.is_folder(workspace.repo):
                    workspace.make_folders()
            assert fingerprint(canary) == before, "touched"
        print(swaps(), "swaps;", rounds)
    assert leaked == []
    assert set(rounds) == set(deeds(workspace, "")), "each succeeded at times"
    await sandbox.cleanup()
    assert fingerprint(canary) == before
    assert not workspace.path.exists()


def naive_git(path: Path, user: AgentUser) -> None:
    """As it was written once: by path."""
    for name in ("", "refs", "refs/heads", "objects", "objects/pack", "info"):
        os.mkdir(path / name, 0o700)
        # As when the kernel lets another process run here: it takes seconds to show, not minutes.
        time.sleep(0.001)
        os.chmod(path / name, 0o700)
        os.chown(path / name, user.uid, user.gid)
    for name in ("HEAD", "config", "info/exclude"):
        with open(path / name, "xb") as file:
            os.fchown(file.fileno(), user.uid, user.gid)


@pytest.mark.slow
@pytest.mark.fault("N4")
@pytest.mark.timeout(300)
async def test_by_path_it_would_be(bench: Any, folder: Path, canary: Path) -> None:
    """The control: the same agents against a host that names things by path."""
    sandbox = bench.sandboxes.open(order(bench))
    await sandbox.setup()
    workspace = sandbox._folder
    before = fingerprint(canary)
    ends_at = time.monotonic() + 120
    chosen = ("repo/.git", "repo/.git/refs", "repo/.git/objects")
    with attacked(folder, workspace.path, canary, workspace.user.uid, *chosen):
        while fingerprint(canary) == before and time.monotonic() < ends_at:
            with contextlib.suppress(OSError, AgentWorkOrdersError):
                with descriptor_files.opened(workspace.repo) as repo:
                    workspace.staging.take(repo, ".git")
                naive_git(workspace.repo / ".git", workspace.user)
    assert fingerprint(canary) != before

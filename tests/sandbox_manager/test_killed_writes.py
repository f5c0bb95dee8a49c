"""A server killed at any step of a write into a workspace: the work goes on, and nothing strange is
committed with it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_work_orders.testing.conformance.sandbox import AT_MS, AUTHOR, order

STEPS = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.chown",
         "os.utime", "os.scandir", "ctypes.dlsym")  # fmt: skip
MOST = 400


def killed_at(step: int, deed: Callable[[], None]) -> bool:
    """Do it in a process of its own that dies before its n-th step; False if it had fewer."""
    pid = os.fork()
    if pid == 0:
        left = step

        def hook(event: str, _arguments: Any) -> None:
            nonlocal left
            if event in STEPS:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.addaudithook(hook)
            deed()
            os._exit(0)
        finally:
            os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status in (0, -signal.SIGKILL)
    return status != 0


def names(folder: Path) -> set[str]:
    """Of files and folders below, but for what git keeps for itself."""
    found = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    return {name for name in found if name.partition("/")[0] != ".git"}


BASE = {"README.md", "run.sh", ".gitignore"}


@pytest.mark.fault("A4")
async def test_killed_while_it_writes_a_file(bench: Any) -> None:
    spec = order(bench)
    await bench.sandboxes.open(spec).setup()
    root = bench.sandboxes.workspace(spec.order_id)
    for step in range(1, MOST):
        content = f"{step}\n".encode()
        workspace = bench.sandboxes.open(spec)._folder
        cut = killed_at(step, lambda: workspace.write_file("a/b/new", content))  # noqa: B023
        assert names(root) <= BASE | {"a", "a/b", "a/b/new"}
        sandbox = bench.sandboxes.open(spec)
        await sandbox.setup()
        assert list((root.parent / "staging").iterdir()) == []
        sha = await sandbox.commit(f"Try {step}\n", author=AUTHOR, at_ms=AT_MS)
        if sha is not None:
            entries = await bench.entries(sha)
            assert set(entries) == BASE | {"a/b/new"}
            assert entries["a/b/new"][0] == "100644"
        if not cut:
            assert sha is not None and entries["a/b/new"] == ("100644", content)
            assert step > 8
            return
        await sandbox.execute(["rm", "-rf", "a"])
    raise AssertionError("never written")


@pytest.mark.fault("A4")
async def test_killed_while_it_writes_a_private_file(bench: Any) -> None:
    spec = order(bench)
    await bench.sandboxes.open(spec).setup()
    home = bench.sandboxes.workspace(spec.order_id).parent / "home"
    for step in range(1, MOST):
        workspace = bench.sandboxes.open(spec)._folder
        if not killed_at(step, lambda: workspace.put_private("key", b"whole")):  # noqa: B023
            break
        assert names(home) <= {".gitconfig", "key"}
    assert (home / "key").read_bytes() == b"whole"
    assert (home / "key").stat().st_mode & 0o777 == 0o600


@pytest.mark.fault("A4")
async def test_killed_while_it_empties_the_private_folders(bench: Any) -> None:
    """Programs start again, and home and temporary files can be emptied and used."""
    spec = order(bench)
    sandbox = bench.sandboxes.open(spec)
    await sandbox.setup()
    use = 'for d in "$HOME" "$TMPDIR"; do mkdir -p "$d/a/b" && echo > "$d/a/b/c" || exit 1; done'
    for step in range(1, MOST):
        assert (await sandbox.execute(["/bin/sh", "-c", use])).success, step
        cut = killed_at(step, sandbox._folder.empty_private)
        sandbox = bench.sandboxes.open(spec)
        await sandbox.setup()
        assert (await sandbox.execute(["true"])).success, step
        if not cut:
            assert step > 8
            return
        await sandbox.empty_private()
    raise AssertionError("never emptied")


@pytest.mark.fault("A4")
async def test_killed_in_a_checkout_it_is_nobodys_work(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = order(bench)
    sandbox = bench.sandboxes.open(spec)
    await sandbox.setup()
    await sandbox.hold("build")
    assert await sandbox.holder() == "build"

    async def killed(_sha: str) -> None:
        raise SystemExit("kill -9")

    monkeypatch.setattr(sandbox._folder, "reset", killed)
    await sandbox.execute(["true"])
    with pytest.raises(SystemExit):
        await sandbox.checkout(spec.base_sha)
    assert await bench.sandboxes.open(spec).holder() == ""


@pytest.mark.slow
@pytest.mark.fault("A4")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("deed", ["clear", "renew", "private", "adopt"])
async def test_killed_while_it_writes_a_git_directory(bench: Any, deed: str) -> None:
    spec = order(bench)
    root = bench.sandboxes.workspace(spec.order_id)
    await bench.sandboxes.open(spec).setup()
    for step in range(1, MOST, 4):
        workspace = bench.sandboxes.open(spec)._folder
        if deed == "adopt":
            await workspace.import_tree(bench.base_sha)
            (root.parent / "import" / "pack").touch()
        deeds: dict[str, Callable[[], Any]] = {
            "clear": lambda: workspace._clear(bench.base_sha),  # noqa: B023
            "renew": lambda: workspace._renew_git(bench.base_sha),  # noqa: B023
            "private": lambda: workspace._write_private(bench.base_sha),  # noqa: B023
            "adopt": lambda: workspace._replace_git(  # noqa: B023
                root.parent / "import", bench.base_sha
            ),
        }
        cut = killed_at(step, deeds[deed])
        assert names(root) in (BASE, set())
        sandbox = bench.sandboxes.open(spec)
        await sandbox.setup()
        await sandbox.checkout(bench.base_sha)
        assert names(root) == BASE and list((root.parent / "staging").iterdir()) == []
        clean = await sandbox.execute(["git", "status", "--porcelain", "--ignored"])
        assert clean.success and clean.stdout == b""
        await sandbox.write_file("new", str(step).encode())
        sha = await sandbox.commit("Work\n", author=AUTHOR, at_ms=AT_MS)
        assert sha is not None and set(await bench.entries(sha)) == BASE | {"new"}
        await sandbox.checkout(bench.base_sha)
        if not cut:
            return
    raise AssertionError("never done")

"""What an agent cannot write, as a server's own user and as another; and that what is said of it is
true, also where the machine gives no namespaces."""

from __future__ import annotations

import os
import subprocess
import textwrap
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.sandbox_manager.test_without_root import NOBODY, as_nobody, interpreter, put_libraries

from agent_work_orders.ids import new_order_id
from agent_work_orders.repositories.origin import folders_of
from agent_work_orders.sandbox_manager.local.protection import Case, describe
from agent_work_orders.sandbox_manager.sandbox import Spec

# A hostile agent: what it tries to write, and how the shell is told to go on.
ATTEMPTS = """
echo evil >> {origin}/README.md
echo evil > {origin}/.git/hooks/post-checkout
echo evil > {origin}/new
rm {origin}/run.sh
mv {origin}/.gitignore {origin}/moved
ln -sf /etc/passwd {origin}/link
git --git-dir={origin}/.git config core.hooksPath /tmp
echo evil >> {house}/.bashrc
mkdir {house}/bin
touch {house}/deep/er/file
unshare -Urm sh -c 'mount -o remount,bind,rw {origin} && echo evil > {origin}/nested'
unshare -Urm sh -c 'umount {origin}; echo evil > {origin}/nested'
echo mine > here && cp {origin}/README.md copied
"""
PROGRAM = textwrap.dedent(
    """
    import asyncio, json, os, sys
    from pathlib import Path
    from agent_work_orders.cli import checkup
    from agent_work_orders.clock import SystemClock
    from agent_work_orders.ids import new_order_id
    from agent_work_orders.repositories.git import Git
    from agent_work_orders.repositories.mirrors import Mirrors
    from agent_work_orders.repositories.url import parse
    from agent_work_orders.sandbox_manager.sandbox import Spec
    from agent_work_orders.sandbox_manager.local.sandboxes import LocalSandboxes
    from agent_work_orders.settings import Settings

    async def main(home, source, script):
        mirrors = Mirrors(Path(home) / "mirrors", Git())
        mirror = await mirrors.ensure(parse(source))
        factory = LocalSandboxes(Path(home), mirrors, SystemClock())
        order_id = new_order_id()
        sandbox = factory.open(Spec(order_id=order_id, sandbox_type="git_worktree", origin=source,
            branch="feat-" + order_id, repository=mirror.key,
            base_sha=mirror.resolve_base(None).sha))
        await sandbox.setup()
        done = await sandbox.execute(["/bin/sh", "-c", script])
        sha = await sandbox.commit("work", author="A <a@b>", at_ms=0)
        assert await mirror.show(sha, "here") == b"mine\\n", done
        assert (await mirror.show(sha, "copied")).startswith(b"hello"), "it can be read"
        factory.close()
        finding = await checkup._protection(Settings(home=Path(home)))
        print(json.dumps({"status": finding.status, "detail": finding.detail}))

    asyncio.run(main(*sys.argv[1:]))
    """
)
# In a user namespace of its own: no further ones, a limit of the system and not a switch of ours.
LIMITED = textwrap.dedent(
    """
    import ctypes, os, sys
    uid, gid = os.geteuid(), os.getegid()
    assert ctypes.CDLL(None).unshare(0x10000000) == 0
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"),
                       ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    with open("/proc/sys/user/max_user_namespaces", "w") as file:
        file.write("0")
    os.execv(sys.argv[1], sys.argv[1:])
    """
)


class Stage:
    """A house, a data directory and an origin of a user that is not root, and what is in them."""

    def __init__(self, folder: Path, source: Path) -> None:
        self.folder, self.source = folder, source
        self.libraries = folder / "libraries"
        put_libraries(self.libraries)
        self.house, self.home = folder / "house", folder / "their-home"
        for made in (self.house, self.home, self.house / "deep", self.house / "deep" / "er"):
            made.mkdir()
        (self.house / ".bashrc").write_text("# mine\n")
        if os.geteuid() == 0:
            for path in (self.home, self.house, *self.house.rglob("*"), source, *source.rglob("*")):
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)

    def contents(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for top in (self.house, self.source):
            for path in sorted(top.rglob("*")):
                if path.is_symlink():
                    found[str(path)] = os.readlink(path)
                elif path.is_file():
                    found[str(path)] = path.read_bytes()
                else:
                    found[str(path)] = None
        return found

    def run(self, *before: str) -> Any:
        python = interpreter(self.libraries)
        if python is None:
            pytest.fail("no interpreter that another user may start: apt-get install python3")
        script = ATTEMPTS.format(origin=self.source, house=self.house)
        environment = f"HOME={self.house}"
        whole = ["env", environment, *([python, *before] if before else []), python]
        done = as_nobody(
            [*whole, "-c", PROGRAM, str(self.home), str(self.source), script], self.libraries
        )
        assert done is not None and done.returncode == 0, done
        return msgspec.json.decode(done.stdout)


@pytest.fixture
def stage(folder: Path, source: Path) -> Stage:
    return Stage(folder, source)


@pytest.mark.fault("H4")
def test_without_root_the_origin_and_the_home_are_not_written(stage: Stage) -> None:
    before = stage.contents()
    found = stage.run()
    assert found["status"] == "warning" and found["detail"].startswith("PARTLY PROTECTED")
    assert "Read-only: a local repository" in found["detail"]
    after = stage.contents()
    assert {name for name in after if after[name] != before.get(name, "")} == set()
    assert after == before


@pytest.mark.fault("H4")
def test_without_namespaces_it_is_said_in_plain_words(stage: Stage) -> None:
    found = stage.run("-c", LIMITED)
    assert found["status"] == "warning" and found["detail"].startswith("UNPROTECTED")
    for said in ("overwrite a local repository", "plant hooks", "~/.bashrc", "no user namespaces"):
        assert said in found["detail"]
    assert "evil" in (stage.house / ".bashrc").read_text(), "and it is true"
    assert (stage.source / ".git" / "hooks" / "post-checkout").exists()


@pytest.mark.fault("H4")
async def test_with_another_user_an_open_origin_is_not_written(bench: Any, source: Path) -> None:
    for path in (source, *source.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    order = new_order_id()
    sandbox = bench.sandboxes.open(
        Spec(
            order_id=order,
            sandbox_type="git_worktree",
            repository=bench.repository,
            base_sha=bench.base_sha,
            branch=f"feat-{order}",
            origin=str(source),
        )
    )
    await sandbox.setup()
    tried = f"echo evil > {source}/README.md; echo evil > {source}/.git/hooks/pre-commit"
    done = await sandbox.execute(["/bin/sh", "-c", tried])
    assert done.stderr.count(b"Read-only file system") == 2, done
    assert (source / "README.md").read_text() == "hello\n"
    seen = await sandbox.execute(["cat", f"{source}/README.md"])
    assert seen.stdout == b"hello\n"


async def test_a_data_directory_in_the_repository_still_works(
    folder: Path, source: Path, bench: Any
) -> None:
    """`.awo` beside the code, which is the default: the origin is around the workspace."""
    order = new_order_id()
    sandbox = bench.sandboxes.open(
        Spec(
            order_id=order,
            sandbox_type="git_branch",
            repository=bench.repository,
            base_sha=bench.base_sha,
            branch=f"feat-{order}",
            origin=str(folder),
        )
    )
    await sandbox.setup()
    done = await sandbox.execute(["/bin/sh", "-c", f"echo a > made; echo b > {folder}/made"])
    assert b"Read-only" in done.stderr and not (folder / "made").exists()
    assert await sandbox.commit("x", author="A <a@b>", at_ms=0) is not None


def test_a_linked_work_tree_has_its_git_elsewhere(folder: Path, source: Path, in_git: Any) -> None:
    linked = folder / "linked"
    in_git(source, "worktree", "add", "-q", str(linked))
    assert folders_of(str(linked)) == [str(linked), str(source / ".git")]
    assert folders_of(str(source)) == [str(source)]
    assert folders_of(str(source / ".git")) == [str(source)]


def test_each_case_is_told_apart() -> None:
    cases = [
        Case(
            root=root,
            users="uids 7 to 9" if root and not shared else "uid 7",
            shared=shared,
            namespaces=kernel > 0,
            guards=kernel > 1,
            private=kernel > 2,
            scoped=scoped,
        )
        for root, shared in ((True, False), (True, True), (False, True))
        for kernel in range(4)
        for scoped in (True, False)
    ]
    told = [describe(case) for case in cases]
    assert len({found.detail for found in told}) == len(cases) == 24
    for case, found in zip(cases, told, strict=True):
        assert (found.status == "ok") == (case.root and case.namespaces and not case.shared)
        assert (found.status == "ok") == (not found.hint)
        for what in ("Other orders", "data directory", "Other data directories", "This machine"):
            assert what in found.detail
        shared_with_all = found.detail.partition("Shared with everything here:")[2]
        assert ("/tmp" not in shared_with_all) == case.private
        assert ("abstract sockets" not in shared_with_all) == case.scoped
        assert "the network" in shared_with_all


def test_this_machine_can_guard() -> None:
    """Else the tests above would prove nothing."""
    done = subprocess.run(
        ["unshare", "-Um", "true"], user=NOBODY if os.geteuid() == 0 else None, check=False
    )
    assert done.returncode == 0, "unprivileged user namespaces are needed here"

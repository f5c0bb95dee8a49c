"""Whatever an agent leaves in its workspace, the host runs none of it and imports it as data."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agent_work_orders.errors import Environmental, Permanent, Refused
from agent_work_orders.sandbox_manager.local import descriptor_trees
from agent_work_orders.testing.conformance.sandbox import committed, order, ready, shell

# Keys by which git runs programs, each with a program that leaves a trace.
EXECUTING_KEYS = [
    "core.fsmonitor",
    "core.sshCommand",
    "core.pager",
    "core.editor",
    "core.askPass",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "credential.helper",
    "diff.external",
    "diff.x.textconv",
    "diff.x.command",
    "filter.x.clean",
    "filter.x.smudge",
    "filter.x.process",
    "gpg.program",
    "interactive.diffFilter",
    "merge.x.driver",
    "pager.log",
    "remote.origin.uploadpack",
    "remote.origin.receivepack",
    "sequence.editor",
    "uploadpack.packObjectsHook",
    "alias.add",
    "alias.write-tree",
]


@pytest.fixture
def trap(folder: Path) -> Path:
    """A program that says who ran it."""
    traces = folder / "traces"
    traces.mkdir()
    traces.chmod(0o777)
    program = folder / "trap"
    program.write_text(f'#!/bin/sh\nid -u > "{traces}/$$"\ncat\nexit 0\n')
    program.chmod(0o755)
    return program


def trapped_users(trap: Path) -> set[int]:
    traces = trap.parent / "traces"
    return {int(path.read_text() or -1) for path in traces.iterdir()}


@pytest.mark.fault("F3")
@pytest.mark.fault("F4")
@pytest.mark.fault("F5")
@pytest.mark.parametrize("sandbox_type", ["git_worktree", "git_branch"])
async def test_configuration_hooks_and_filters_never_run(bench: Any, trap: Path) -> None:
    sandbox = await ready(bench)
    keys = "\n".join(f"git config {key} {trap}" for key in EXECUTING_KEYS)
    await shell(
        sandbox,
        f"""{keys}
        git config core.hooksPath hooks; mkdir hooks
        for h in pre-commit post-commit post-checkout pre-push reference-transaction \\
                 post-index-change fsmonitor-watchman post-rewrite; do
          cp {trap} hooks/$h; cp {trap} .git/hooks/$h 2>/dev/null || true
        done
        printf '* filter=x diff=x merge=x\\n' > .gitattributes
        mkdir -p nested && cd nested && git init -q
        for k in core.fsmonitor filter.x.clean filter.x.process core.hooksPath; do
          git config $k {trap}; done
        printf '* filter=x\\n' > .gitattributes; echo data > inner
        cp {trap} "$HOME/trap"; printf '[filter "x"]\\nclean = {trap}\\n' > "$HOME/.gitconfig"
        """,
    )
    before = trapped_users(trap)
    sha = await committed(sandbox)
    assert sha is not None
    await bench.mirror.diff(bench.base_sha, sha)
    await bench.mirror.log(bench.base_sha, sha)
    await sandbox.snapshot("after")
    await sandbox.checkout(sha)
    await sandbox.cleanup()
    assert trapped_users(trap) == before
    entries = await bench.entries(sha)
    assert entries["nested/inner"] == ("100644", b"data\n")
    assert entries["README.md"] == ("100644", b"hello\n")


async def test_the_trap_works_where_nothing_protects(
    bench: Any, trap: Path, in_git: Callable[..., str]
) -> None:
    """The positive control of the test above: git in such a repository does run the program."""
    source = bench.folder / "source"
    in_git(source, "config", "filter.x.clean", str(trap))
    (source / ".gitattributes").write_text("* filter=x\n")
    in_git(source, "add", ".")
    assert trapped_users(trap) == {os.geteuid()}


@pytest.mark.fault("E15")
@pytest.mark.parametrize("sandbox_type", ["git_worktree", "git_branch"])
@pytest.mark.parametrize(
    "deed",
    [
        "rm -rf .git",
        "rm -rf .git; git init -q; git add -A; git commit -qm other",
        "git checkout -q --orphan x; git commit -qam rewritten",
        "git commit -q --amend -m rewritten",
        "git add -A; git commit -qm one; echo 2 > work; git add -A; git commit -qm two",
        "git checkout -q --detach",
        "git update-ref -d HEAD",
        "echo garbage > .git/HEAD; echo garbage > .git/index; echo garbage > .git/config",
        "rm -rf .git; ln -s /etc .git",
        "rm -rf .git; echo 'gitdir: /etc' > .git",
        "git update-index --assume-unchanged README.md; echo changed > README.md",
        "git config core.worktree /; git config core.bare true",
        "echo '*' > .git/info/exclude; mkdir -p .git/objects/info; rm -rf .git/objects",
        "touch .git/index.lock .git/HEAD.lock",
    ],
)
async def test_whatever_was_done_to_git_one_commit_results(bench: Any, deed: str) -> None:
    sandbox = await ready(bench)
    await shell(sandbox, f"echo 1 > work; {deed}")
    sha = await committed(sandbox)
    assert sha is not None
    assert await bench.parents(sha) == (bench.base_sha,)
    entries = await bench.entries(sha)
    assert {"work", "README.md", "run.sh", ".gitignore"} == set(entries)
    if "changed" in deed:
        assert entries["README.md"] == ("100644", b"changed\n")
    log = await sandbox.execute(["git", "log", "--format=%H"])
    assert log.stdout.decode().split() == [sha, bench.base_sha]


@pytest.mark.fault("E14")
@pytest.mark.parametrize(
    "deed",
    ["true", "git commit -q --allow-empty -m x", "rm -rf .git", "git branch other", "mkdir empty"],
)
async def test_changing_only_git_is_no_change(bench: Any, deed: str) -> None:
    sandbox = await ready(bench)
    await shell(sandbox, deed)
    assert await committed(sandbox) is None


@pytest.mark.fault("E15")
@pytest.mark.parametrize("content", ["", "git commit -q --allow-empty -m x;"])
async def test_nested_repositories_become_files(bench: Any, content: str) -> None:
    sandbox = await ready(bench)
    await shell(
        sandbox,
        f"""mkdir -p 'a dir/sub'; cd 'a dir/sub'; git init -q; {content} echo 1 > file
        echo 2 > no.ignored; cd ../..; mkdir -p deep/er; cd deep/er; git init -q --bare .""",
    )
    sha = await committed(sandbox)
    assert sha is not None
    entries = await bench.entries(sha)
    assert entries["a dir/sub/file"] == ("100644", b"1\n")
    assert not any(mode == "160000" or ".git/" in path for path, (mode, _) in entries.items())
    assert "a dir/sub/no.ignored" not in entries
    assert (await sandbox.execute(["test", "-d", "a dir/sub/.git"])).success


@pytest.mark.fault("F12")
@pytest.mark.fault("E9")
async def test_names_that_look_like_options_or_patterns(bench: Any) -> None:
    sandbox = await ready(bench)
    names = ["-rf", "--output=x", "new\nline", ":(exclude)x", "$(id)", "*", "a\\b", "tab\there"]
    for name in names:
        await sandbox.write_file(name, b"1")
    sha = await committed(sandbox)
    assert sha is not None
    assert set(names) <= set(await bench.entries(sha))
    stat = await bench.mirror.diff_stat(bench.base_sha, sha)
    assert {item.path for item in stat.files} == set(names)
    await sandbox.execute(["rm", "--", *names])
    await sandbox.checkout(sha)
    assert [await sandbox.read_file(name) for name in names] == [b"1"] * len(names)


@pytest.mark.fault("E9")
async def test_look_alikes_of_git_are_left_out(bench: Any) -> None:
    sandbox = await ready(bench)
    await shell(
        sandbox,
        "mkdir .GIT GIT~1 sub; echo x > .GIT/config; echo x > GIT~1/config;"
        "mkdir 'sub/.git '; echo x > 'sub/.git /config'; echo 1 > sub/good; echo 2 > good",
    )
    sha = await committed(sandbox)
    assert sha is not None
    paths = set(await bench.entries(sha))
    assert paths == {"sub/good", "good", "README.md", "run.sh", ".gitignore"}


@pytest.mark.fault("F7")
async def test_links_are_not_followed(bench: Any) -> None:
    sandbox = await ready(bench)
    secret = bench.folder / "secret"
    secret.write_text("canary")
    await shell(
        sandbox,
        f"ln -s {secret} link; ln -s {bench.folder} out; mkdir d; ln -s / d/root; mkfifo pipe",
    )
    for path in ("link", "out/secret", "d/root/etc/passwd", "pipe", "d"):
        with pytest.raises(Refused) as refused:
            await sandbox.read_file(path)
        assert refused.value.code == "path_outside_workspace"
    for path in ("out/planted", "d/root/planted"):
        with pytest.raises(Refused):
            await sandbox.write_file(path, b"x")
    await sandbox.write_file("link", b"replaced")
    assert secret.read_text() == "canary"
    sha = await committed(sandbox)
    assert sha is not None
    entries = await bench.entries(sha)
    assert entries["out"][0] == entries["d/root"][0] == "120000"
    assert entries["link"] == ("100644", b"replaced")
    assert "pipe" not in entries
    await sandbox.cleanup()
    assert secret.read_text() == "canary"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a file of another user: run as root")
@pytest.mark.fault("F7")
async def test_a_hard_link_to_a_file_of_the_server_is_not_read(bench: Any) -> None:
    sandbox = await ready(bench)
    secret = bench.folder / "secret"
    secret.write_text("canary")
    workspace = Path((await sandbox.state()).workspace or "")
    os.link(secret, workspace / "hard")
    with pytest.raises(Refused):
        await sandbox.read_file("hard")
    await sandbox.write_file("hard", b"x")
    assert secret.read_text() == "canary"


async def test_folders_without_rights_are_removed(bench: Any) -> None:
    sandbox = await ready(bench)
    await shell(
        sandbox, "mkdir -p closed/inner; echo x > closed/inner/f; chmod 0 closed/inner closed"
    )
    await sandbox.checkout(bench.base_sha)
    assert await committed(sandbox) is None
    await shell(sandbox, "mkdir -p closed/inner; chmod 0 closed/inner closed")
    await sandbox.cleanup()
    assert not (await sandbox.state()).exists


@pytest.mark.fault("E12")
async def test_a_deleted_workspace_is_named_and_made_anew(bench: Any) -> None:
    spec = order(bench)
    sandbox = bench.sandboxes.open(spec)
    await sandbox.setup()
    subprocess.run(["rm", "-rf", str(bench.sandboxes.workspace(spec.order_id).parent)], check=True)
    for call in (sandbox.execute(["true"]), committed(sandbox), sandbox.checkout(bench.base_sha)):
        with pytest.raises(Environmental) as lost:
            await call
        assert lost.value.code == "sandbox_lost"
    await sandbox.setup()
    assert await sandbox.read_file("README.md") == b"hello\n"


async def test_a_setup_that_was_cut_short_starts_anew(bench: Any) -> None:
    spec = order(bench)
    sandbox = bench.sandboxes.open(spec)
    sandbox._record("PROVISIONING", None)
    half = bench.sandboxes.workspace(spec.order_id)
    half.mkdir(parents=True)
    (half / "half").write_text("x")
    await sandbox.setup()
    assert (await sandbox.execute(["ls"])).stdout.split() == [b"README.md", b"run.sh"]


@pytest.mark.fault("G16")
@pytest.mark.fault("H1")
async def test_the_data_directory_is_out_of_reach(bench: Any) -> None:
    await bench.sandboxes.start()
    if bench.sandboxes.protection().detail.startswith("UNPROTECTED"):
        pytest.skip("needs namespaces: run as root, or set kernel.unprivileged_userns_clone=1")
    (bench.home / "journal").write_text("canary")
    (bench.home / "journal").chmod(0o666)
    other, sandbox = await ready(bench), await ready(bench)
    await other.write_file("theirs", b"canary")
    theirs = (await other.state()).workspace
    tries = f"""cat {bench.home}/journal {theirs}/theirs; ls {bench.home}/sandboxes
    echo x > {bench.home}/journal; echo x > {theirs}/theirs
    echo x > {bench.mirror.path}/config; rm -rf {bench.mirror.path}/objects; ls /proc | grep -c .
    umount {bench.home}; mount --bind / /mnt; kill -9 -1"""
    done = await sandbox.execute(["/bin/sh", "-c", tries])
    assert b"canary" not in done.stdout + done.stderr
    assert (bench.home / "journal").read_text() == "canary"
    assert await other.read_file("theirs") == b"canary"
    assert b"[core]" in (bench.mirror.path / "config").read_bytes()
    assert await bench.mirror.has_commit(bench.base_sha)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change the user: run as root")
async def test_agents_of_root_run_as_another_user(bench: Any) -> None:
    sandbox = await ready(bench)
    done = await sandbox.execute(["id", "-u"])
    assert 1_900_000_000 <= int(done.stdout) < 1_900_065_536
    denied = await sandbox.execute(["/bin/sh", "-c", "echo x > /etc/awo-test-planted"])
    assert not denied.success


@pytest.mark.fault("E8")
async def test_submodules_and_large_file_pointers_stay_what_they_are(
    source: Path, in_git: Callable[..., str], new_bench: Callable[[], Awaitable[Any]]
) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n"
    (source / "big.bin").write_text(pointer)
    (source / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    (source / ".gitmodules").write_text('[submodule "m"]\n\tpath = m\n\turl = /nowhere\n')
    in_git(source, "add", ".")
    in_git(source, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},m")
    in_git(source, "commit", "--quiet", "-m", "Odd things")
    bench = await new_bench()
    sandbox = await ready(bench)
    assert await sandbox.read_file("big.bin") == pointer.encode()
    await sandbox.write_file("work", b"1")
    sha = await committed(sandbox)
    assert sha is not None
    assert (await bench.entries(sha))["m"][0] == "160000"
    stat = await bench.mirror.diff_stat(bench.base_sha, sha)
    assert [item.path for item in stat.files] == ["work"]
    bench.sandboxes.close()


@pytest.mark.fault("E10")
@pytest.mark.fault("E11")
async def test_twenty_orders_on_one_repository(bench: Any) -> None:
    async def work(number: int) -> str:
        sandbox = await ready(bench)
        await shell(sandbox, f"echo {number} > work; echo {number} > file-{number}")
        sha = await committed(sandbox)
        assert sha is not None
        await sandbox.cleanup()
        return sha

    made = await asyncio.gather(*(work(number) for number in range(20)))
    assert len(set(made)) == 20
    for number, sha in enumerate(made):
        assert await bench.mirror.show(sha, "work") == f"{number}\n".encode()
    refs = await bench.mirror.refs("refs/awo/orders")
    assert sorted(refs.values()) == sorted(made)
    await bench.mirror.git.run("check", ["fsck", "--strict"], repository=bench.mirror.path)
    assert list((bench.home / "workspaces").iterdir()) == []


async def test_a_change_in_the_second_of_the_checkout_is_seen(bench: Any) -> None:
    """Same size, same second, and only what changed is brought to the mirror."""
    for number in range(3):
        sandbox = bench.sandboxes.open(order(bench))
        await sandbox.setup()
        for content in (b"hullo\n", b"hallo\n"):
            await sandbox.write_file("README.md", content)
            sha = await sandbox.commit(f"Change {number}\n", author="a <a@b>", at_ms=number)
            assert sha is not None
            assert (await bench.entries(sha))["README.md"] == ("100644", content)
            await sandbox.execute(["sh", "-c", "printf 'hello\\n' > README.md"])
            back = await sandbox.commit("Back\n", author="a <a@b>", at_ms=number)
            assert back is not None
            assert (await bench.entries(back))["README.md"] == ("100644", b"hello\n")


async def test_only_changed_files_are_copied_to_the_mirror(bench: Any) -> None:
    sandbox = bench.sandboxes.open(order(bench))
    await sandbox.setup()
    await sandbox.write_file("new.txt", b"new\n")
    packs = set(bench.mirror.path.glob("objects/pack/*.pack"))
    assert await sandbox.commit("One file\n", author="a <a@b>", at_ms=1) is not None
    (pack,) = set(bench.mirror.path.glob("objects/pack/*.pack")) - packs
    listed = await bench.mirror.git.run("list", ["verify-pack", "-v", str(pack)])
    kinds = [line.split()[1] for line in listed.stdout.splitlines() if len(line.split()) >= 5]
    assert sorted(kind for kind in kinds if kind in (b"blob", b"tree")) == [b"blob", b"tree"]


@pytest.mark.parametrize(
    "deed",
    [
        'mkdir d && echo x > d/f && mv d "$TMPDIR/d" && ln -s "$TMPDIR/d" d',
        "printf 'jello\\n' > README.md",
        "printf 'jello\\n' > README.md; touch -r run.sh README.md",
        "rm README.md; mkdir README.md; touch README.md/in",
        "rm README.md; ln -s run.sh README.md",
        'mv README.md "$TMPDIR/R"; ln -s "$TMPDIR/R" README.md',
        'mv sub "$TMPDIR/sub"; ln -s "$TMPDIR/sub" sub',
        "chmod 600 README.md; chmod -x run.sh; echo x > a.ignored; mkdir -p e/e",
        "chmod 000 sub; mkdir -p n/n; touch n/n/f; chmod 000 n/n; chmod 555 n",
        "git init -q inner; echo y > inner/y; rm -rf .git",
        "git update-index --assume-unchanged README.md; echo z > README.md",
        "git rm -q --cached README.md; echo z > README.md; git config core.bare true",
        "rm -rf .git; ln -s / .git",
    ],
)
async def test_a_reset_leaves_nothing_of_what_was_done(bench: Any, deed: str) -> None:
    sandbox = await ready(bench)
    await sandbox.write_file("sub/inside.txt", b"deep\n")
    sha = await committed(sandbox)
    assert sha is not None
    await sandbox.execute(["sh", "-c", deed])
    await sandbox.checkout(sha)
    expected = {name: content for name, (_, content) in (await bench.entries(sha)).items()}
    root = bench.sandboxes.workspace(sandbox.sandbox_identifier.partition("-")[2])
    found = {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if not path.is_dir() and ".git" not in path.relative_to(root).parts
    }
    assert found == expected
    assert not any(path.is_symlink() for path in root.rglob("*"))
    assert os.access(root / "run.sh", os.X_OK)
    status = await sandbox.execute(["git", "status", "--porcelain", "--ignored"])
    assert status.stdout == b""


async def test_what_a_commit_leaves_out_is_gone_after_the_next_checkout(bench: Any) -> None:
    sandbox = await ready(bench)
    root = bench.sandboxes.workspace(sandbox.sandbox_identifier.partition("-")[2])
    for number, left in enumerate(("a.ignored", ".claude-pr-summary.md", "empty/", "in/.git/x")):
        await sandbox.execute(["sh", "-c", f'mkdir -p "$(dirname "{left}x")" "{left}"'])
        if not left.endswith("/"):
            await sandbox.execute(["sh", "-c", f'rmdir "{left}"; echo left > "{left}"'])
        await sandbox.write_file("kept.txt", str(number).encode())
        sha = await committed(sandbox)
        assert sha is not None
        assert (root / left).exists()
        await sandbox.checkout(sha)
        assert not (root / left).exists()
        assert (root / "kept.txt").read_bytes() == str(number).encode()


async def test_a_commit_of_everything_is_not_checked_out_again(bench: Any) -> None:
    sandbox = await ready(bench)
    root = bench.sandboxes.workspace(sandbox.sandbox_identifier.partition("-")[2])
    await sandbox.write_file("new.txt", b"new")
    before = (root / "new.txt").stat()
    sha = await committed(sandbox)
    assert sha is not None
    await sandbox.checkout(sha)
    assert (root / "new.txt").stat().st_ino == before.st_ino
    shown = await sandbox.execute(["git", "log", "-1", "--format=%H"])
    assert shown.stdout.decode().strip() == sha
    assert (await sandbox.execute(["git", "status", "--porcelain"])).stdout == b""


@pytest.mark.parametrize("sandbox_type", ["git_worktree", "git_branch"])
@pytest.mark.parametrize("name", ["d", "seventeen-letters"])
async def test_deep_folders_are_removed(bench: Any, name: str) -> None:
    closed = await ready(bench)
    # A shell cannot enter paths beyond PATH_MAX; a program that goes step by step can.
    dig = (
        f"import os\nfor _ in range(300): os.mkdir('{name}'); os.chdir('{name}')\nos.chmod('.', 0)"
    )
    await shell(closed, f'ln -s / root; python3 -c "{dig}"; cd "$HOME"; python3 -c "{dig}"')
    assert await bench.sandboxes.reap(set(), 0) == [closed.sandbox_identifier]
    assert bench.sandboxes.unremoved == []
    assert list((bench.home / "workspaces").iterdir()) == []


# A shell cannot enter paths beyond PATH_MAX; a program that goes step by step can.
DIG = """
import os
for _ in range({0}):
    os.mkdir('{1}')
    os.chdir('{1}')
open('work', 'w').write('x' * 5000)
"""


@pytest.mark.parametrize("sandbox_type", ["git_worktree", "git_branch"])
async def test_changes_beyond_the_longest_path_are_said_not_dropped(bench: Any) -> None:
    sandbox = await ready(bench)
    await sandbox.execute(["python3", "-c", DIG.format(300, "seventeen-letters")])
    await sandbox.write_file("fine.txt", b"fine")
    with pytest.raises(Permanent) as refused:
        await committed(sandbox)
    assert refused.value.code == "changes_unreadable"
    assert "seventeen-letters" in refused.value.message and len(refused.value.message) < 5_000
    assert refused.value.hint
    # Nothing of it is in the way of the next attempt.
    await sandbox.checkout(bench.base_sha)
    assert (await sandbox.execute(["ls"])).stdout.split() == [b"README.md", b"run.sh"]
    await sandbox.write_file("fine.txt", b"fine")
    sha = await committed(sandbox)
    assert sha is not None and await bench.mirror.show(sha, "fine.txt") == b"fine"


async def test_a_tree_just_within_the_longest_path_is_committed(bench: Any) -> None:
    sandbox = await ready(bench)
    await sandbox.execute(["python3", "-c", DIG.format(150, "seventeen-letters")])
    sha = await committed(sandbox)
    assert sha is not None
    deep = "seventeen-letters/" * 150 + "work"
    assert await bench.mirror.show(sha, deep) == b"x" * 5000


async def test_folders_of_any_depth_are_measured(bench: Any) -> None:
    sandbox = await ready(bench)
    before = (await sandbox.state()).disk_bytes
    await sandbox.execute(["python3", "-c", DIG.format(3000, "d")])
    await shell(sandbox, "mkdir flat; head -c 65536 /dev/zero > flat/x; ln -s / root")
    after = (await sandbox.state()).disk_bytes
    assert before is not None and after is not None
    assert 5_000 + 65_536 <= after - before < 200_000
    await sandbox.cleanup()  # pytest's own way of removing folders goes less deep


async def test_one_sandbox_that_cannot_be_removed_stops_nothing(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck, closed = await ready(bench), await ready(bench)
    remove = descriptor_trees.remove

    def refuse(folder: Path) -> None:
        if folder.name in stuck.sandbox_identifier:
            raise PermissionError(folder)
        remove(folder)

    monkeypatch.setattr(descriptor_trees, "remove", refuse)
    assert await bench.sandboxes.reap(set(), 0) == [closed.sandbox_identifier]
    assert bench.sandboxes.unremoved == [stuck.sandbox_identifier]


@pytest.mark.parametrize("sandbox_type", ["git_worktree", "git_branch"])
@pytest.mark.parametrize(
    ("deed", "path"),
    [
        ("echo 1 > README.md; chmod 0 README.md", "README.md"),
        ("echo 1 > new; chmod 0 new", "new"),
        ("mkdir n; echo 1 > n/f; chmod 0 n/f n", "n/f"),
    ],
)
async def test_closed_files_are_committed(bench: Any, deed: str, path: str) -> None:
    sandbox = await ready(bench)
    await shell(sandbox, deed)
    sha = await committed(sandbox)
    assert sha is not None
    assert (await bench.entries(sha))[path] == ("100644", b"1\n")

"""Mirrors of real repositories, in all the states that repositories are found in."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_work_orders.errors import AgentWorkOrdersError, Conflict, NotFound, Refused, TooLarge
from agent_work_orders.repositories.mirror import Mirror
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.repositories.refname import order_ref
from agent_work_orders.repositories.url import RepositoryUrl, parse

ORDER = "wo-abcdefgh234567ab"
InGit = Callable[..., str]
CommitTo = Callable[..., str]


async def code_of(mirrors: Mirrors, origin: RepositoryUrl, branch: str | None = None) -> str:
    with pytest.raises(AgentWorkOrdersError) as failure:
        (await mirrors.ensure(origin)).resolve_base(branch)
    return failure.value.code


async def test_the_default_branch_is_the_base(
    mirrors: Mirrors, origin: RepositoryUrl, source: Path, in_git: InGit
) -> None:
    mirror = await mirrors.ensure(origin)
    base = mirror.resolve_base(None)
    assert (base.branch, base.sha) == ("main", in_git(source, "rev-parse", "HEAD"))
    assert await mirror.show(base.sha, "file") == b"one\ntwo\nthree\n"
    assert await mirror.show(base.sha, "missing") is None
    with pytest.raises(TooLarge):
        await mirror.show(base.sha, "file", limit_bytes=3)


async def test_fetching_again_follows_the_origin(
    mirrors: Mirrors, origin: RepositoryUrl, source: Path, commit_to: CommitTo, in_git: InGit
) -> None:
    first = (await mirrors.ensure(origin)).resolve_base(None).sha
    await mirrors.at(origin.key).keep(order_ref(ORDER, "base"), first)
    second = commit_to("more", "x")
    in_git(source, "branch", "a")
    assert (await mirrors.ensure(origin)).resolve_base(None).sha == second
    in_git(source, "branch", "-D", "a")
    in_git(source, "branch", "a/b")
    mirror = await mirrors.ensure(origin)
    assert mirror.resolve_base("a/b").sha == second
    in_git(source, "commit", "--quiet", "--amend", "-m", "Rewritten")
    assert (await mirrors.ensure(origin)).resolve_base(None).sha not in (first, second)
    assert await mirror.has_commit(first)
    assert await mirror.ref(order_ref(ORDER, "base")) == first


@pytest.mark.fault("E3")
async def test_an_empty_repository(mirrors: Mirrors, tmp_path: Path, in_git: InGit) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    in_git(folder, "init", "--quiet")
    assert await code_of(mirrors, parse(str(folder))) == "repository_empty"


@pytest.mark.fault("E3")
async def test_a_repository_of_another_format(
    mirrors: Mirrors, tmp_path: Path, in_git: InGit
) -> None:
    folder = tmp_path / "sha256"
    folder.mkdir()
    in_git(folder, "init", "--quiet", "--object-format=sha256")
    in_git(folder, "commit", "--quiet", "--allow-empty", "-m", "Begin")
    assert await code_of(mirrors, parse(str(folder))) == "object_format_unsupported"
    assert not list(mirrors.folder.glob("*.git"))


@pytest.mark.fault("E3")
async def test_a_detached_head(
    mirrors: Mirrors, origin: RepositoryUrl, source: Path, in_git: InGit
) -> None:
    in_git(source, "checkout", "--quiet", "--detach")
    assert await code_of(mirrors, origin) == "detached_head"
    assert (await mirrors.ensure(origin)).resolve_base("main").branch == "main"


@pytest.mark.fault("E6")
async def test_a_missing_base_is_never_guessed(
    mirrors: Mirrors, origin: RepositoryUrl, source: Path, in_git: InGit
) -> None:
    assert await code_of(mirrors, origin, "missing") == "base_branch_missing"
    assert await code_of(mirrors, origin, "--all") == "branch_name_invalid"
    in_git(source, "symbolic-ref", "HEAD", "refs/heads/nowhere")
    assert await code_of(mirrors, origin) == "base_branch_missing"


async def test_what_is_no_repository(mirrors: Mirrors, tmp_path: Path, source: Path) -> None:
    assert await code_of(mirrors, parse(str(tmp_path / "nothing"))) == "repository_not_found"
    assert await code_of(mirrors, parse(str(source / "file"))) == "not_a_repository"
    (tmp_path / "folder").mkdir()
    assert await code_of(mirrors, parse(str(tmp_path / "folder"))) == "not_a_repository"
    with pytest.raises(NotFound):
        mirrors.at("unknown")
    with pytest.raises(NotFound):
        mirrors.at("../mirrors")


@pytest.mark.fault("E4")
async def test_a_shallow_origin(
    mirrors: Mirrors, source: Path, commit_to: CommitTo, tmp_path: Path, in_git: InGit
) -> None:
    sha = commit_to("more", "x")
    in_git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{source}", "shallow")
    mirror = await mirrors.ensure(parse(str(tmp_path / "shallow")))
    assert mirror.resolve_base(None).sha == sha
    assert await mirror.show(sha, "more") == b"x"


@pytest.mark.fault("E1")
async def test_a_lock_left_by_a_dead_process_is_cleared(
    mirrors: Mirrors, origin: RepositoryUrl, commit_to: CommitTo
) -> None:
    mirror = await mirrors.ensure(origin)
    sha = commit_to("more", "x")
    lock = mirror.path / "refs/remotes/origin/main.lock"
    lock.touch()
    mirror = await mirrors.ensure(origin)
    assert mirror.resolve_base(None).sha == sha
    assert await mirror.ref("refs/remotes/origin/main") == sha
    assert not lock.exists()


@pytest.mark.fault("E16")
async def test_a_damaged_mirror_is_made_anew_and_keeps_what_orders_made(
    mirrors: Mirrors, origin: RepositoryUrl, source: Path, commit_to: CommitTo, tmp_path: Path
) -> None:
    mirror = await mirrors.ensure(origin)
    base = mirror.resolve_base(None).sha
    made = await mirror.commit_tree(
        await mirror.tree_of(base), [base], "work\n", author="A <a@b>", at_ms=0
    )
    await mirror.keep(order_ref(ORDER, "head"), made)
    blob = (await mirror.list_tree(base, "file"))["file"][1]
    tree = await mirror.tree_of(base)
    for object_id in (tree, blob):
        for path in mirror.path.glob(f"objects/{object_id[:2]}/{object_id[2:]}"):
            path.chmod(0o600)
            path.write_bytes(b"garbage")
    for pack in mirror.path.glob("objects/pack/*"):
        pack.unlink()
    commit_to("more", "x")
    again = await Mirrors(mirrors.folder, mirrors.git).ensure(origin)
    assert await again.show(base, "file") == b"one\ntwo\nthree\n"
    await again.git.run("check", ["fsck", "--strict"], repository=again.path)


async def test_references_move_by_compare_and_swap(
    mirrors: Mirrors, origin: RepositoryUrl, commit_to: CommitTo
) -> None:
    first = (await mirrors.ensure(origin)).resolve_base(None).sha
    second = commit_to("more", "x")
    mirror = await mirrors.ensure(origin)
    name = order_ref(ORDER, "head")
    await mirror.set_ref(name, first, old=None)
    await mirror.set_ref(name, first, old=None)
    await mirror.set_ref(name, second, old=first)
    with pytest.raises(Conflict) as moved:
        await mirror.set_ref(name, "1" * 40, old=first)
    assert moved.value.code == "ref_moved"
    assert await mirror.ref(name) == second
    assert await mirror.delete_refs(order_ref(ORDER)) == 1
    assert await mirror.ref(name) is None
    with pytest.raises(Refused):
        order_ref("../x", "head")


@pytest.mark.fault("F13")
async def test_messages_and_authors_are_data(mirrors: Mirrors, origin: RepositoryUrl) -> None:
    mirror = await mirrors.ensure(origin)
    base = mirror.resolve_base(None).sha
    tree = await mirror.tree_of(base)
    message = 'x\x1b[31m "; id #\x01\n\nPhase: build\nPhase: test\nnot a trailer\n\nPhase: review\n'
    sha = await mirror.commit_tree(
        tree, [base], message, author='\x01"; id # <a\n<b>>', at_ms=1_700_000_000_000
    )
    (commit,) = await mirror.log(base, sha)
    assert commit.parents == (base,) and commit.at_ms == 1_700_000_000_000
    assert commit.subject == 'x\x1b[31m "; id #\x01'
    assert commit.trailers == {"Phase": "review"}
    big = await mirror.commit_tree(tree, [sha], "y" * 1_000_000, author="A <a@b>", at_ms=0)
    progress = await mirror.progress(base, big)
    assert (progress.commit_count, progress.files_changed) == (2, 0)


async def test_diffs_are_bounded(
    mirrors: Mirrors, origin: RepositoryUrl, commit_to: CommitTo
) -> None:
    first = (await mirrors.ensure(origin)).resolve_base(None).sha
    second = commit_to("more", "line\n" * 10_000)
    mirror = await mirrors.ensure(origin)
    diff = await mirror.diff(first, second, limit_bytes=1000)
    assert diff.truncated and len(diff.text) == 1000
    whole = await mirror.diff(first, second)
    assert not whole.truncated and whole.text.count(b"\n+line") == 10_000
    stat_ = await mirror.diff_stat(first, second)
    assert (stat_.files_changed, stat_.lines_added, stat_.lines_removed) == (1, 10_000, 0)


async def test_a_file_that_moved_is_one_that_was_renamed(
    mirrors: Mirrors, origin: RepositoryUrl, source: Path, in_git: InGit, commit_to: CommitTo
) -> None:
    first = commit_to("store.py", "".join(f"line {number}\n" for number in range(40)))
    in_git(source, "mv", "store.py", "shop\tfront.py")
    with (source / "shop\tfront.py").open("a", encoding="utf-8") as file:
        file.write("one more\n")
    (source / "other").write_text("new\n", encoding="utf-8")
    in_git(source, "add", "--all")
    in_git(source, "commit", "--quiet", "-m", "Move it")
    second = in_git(source, "rev-parse", "HEAD")
    mirror = await mirrors.ensure(origin)
    text = (await mirror.diff(first, second)).text
    assert b"rename from store.py\n" in text and b"\n-line" not in text
    stat_ = await mirror.diff_stat(first, second)
    changes = {one.path: (one.added, one.removed) for one in stat_.files}
    assert changes == {"other": (1, 0), "shop\tfront.py": (1, 0)}
    details = await mirror.details(first, second, limit=5)
    assert (details[second].files_changed, details[second].lines_removed) == (2, 0)


async def test_the_mirror_is_readable_but_not_writable_for_others(
    mirrors: Mirrors, origin: RepositoryUrl
) -> None:
    before = os.umask(0o077)
    try:
        mirror = await mirrors.ensure(origin)
    finally:
        os.umask(before)
    for path in [mirror.path, *mirror.path.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode & 0o022 == 0, path
        if "objects" in path.parts:
            assert mode & 0o004, path


@pytest.mark.fault("F6")
@pytest.mark.fault("F8")
async def test_an_origin_with_hostile_configuration_runs_nothing(
    mirrors: Mirrors, origin: RepositoryUrl, source: Path, tmp_path: Path, in_git: InGit
) -> None:
    trace = tmp_path / "trace"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {trace}\n")
    trap.chmod(0o755)
    for key in ("uploadpack.packObjectsHook", "core.fsmonitor", "core.alternateRefsCommand"):
        in_git(source, "config", key, str(trap))
    in_git(source, "config", "core.hooksPath", str(tmp_path))
    (source / ".gitmodules").write_text('[submodule "x"]\n\tpath = x\n\turl = -u./trap\n')
    in_git(source, "-c", "core.fsmonitor=false", "add", ".gitmodules")
    in_git(source, "-c", "core.fsmonitor=false", "commit", "--quiet", "-m", "Hostile")
    trace.unlink(missing_ok=True)
    # Refused at the fetch (the url of the submodule is an option), and nothing ran.
    with pytest.raises(AgentWorkOrdersError):
        await mirrors.ensure(origin)
    assert not trace.exists()


@pytest.mark.fault("E10")
async def test_twenty_orders_at_once(
    mirrors: Mirrors, origin: RepositoryUrl, commit_to: CommitTo
) -> None:
    async def work(number: int) -> str:
        mirror = await mirrors.ensure(origin)
        base = mirror.resolve_base(None).sha
        tree = await mirror.tree_of(base)
        sha = await mirror.commit_tree(tree, [base], f"{number}\n", author="A <a@b>", at_ms=0)
        order = f"wo-{'abcdefghijklmnopqrst'[number] * 16}"
        await mirror.set_ref(order_ref(order, "head"), sha, old=None)
        return sha

    await mirrors.ensure(origin)
    commit_to("more", "x")
    made = await asyncio.gather(*(work(number) for number in range(20)))
    assert len(set(made)) == 20
    mirror: Mirror = mirrors.at(origin.key)
    assert set((await mirror.refs("refs/awo/orders")).values()) == set(made)
    await mirror.git.run("check", ["fsck", "--strict"], repository=mirror.path)

"""Pushing to a real origin, alone and against others; rebasing without a work tree."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_work_orders.errors import Failed, Permanent
from agent_work_orders.repositories.mirror import Mirror
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.repositories.push import delete, push, remote_head
from agent_work_orders.repositories.rebase import rebase
from agent_work_orders.repositories.url import RepositoryUrl

InGit = Callable[..., str]
CommitTo = Callable[..., str]
BRANCH = "feat-wo-abcdefgh234567ab"


@pytest.fixture
async def mirror(mirrors: Mirrors, origin: RepositoryUrl) -> Mirror:
    return await mirrors.ensure(origin)


async def commit(mirror: Mirror, parent: str, message: str) -> str:
    tree = await mirror.tree_of(parent)
    return await mirror.commit_tree(tree, [parent], message, author="A <a@b>", at_ms=0)


async def test_push_creates_updates_and_repeats(
    mirror: Mirror, origin: RepositoryUrl, source: Path, in_git: InGit
) -> None:
    base = mirror.resolve_base(None).sha
    first = await commit(mirror, base, "one\n")
    second = await commit(mirror, first, "two\n")
    assert (await push(mirror, origin, BRANCH, first, expected=None)).outcome == "created"
    assert (await push(mirror, origin, BRANCH, first, expected=None)).outcome == "already_there"
    moved = await push(mirror, origin, BRANCH, second, expected=first)
    assert (moved.outcome, moved.previous_sha) == ("updated", first)
    assert in_git(source, "rev-parse", BRANCH) == second
    assert in_git(source, "status", "--porcelain") == ""
    rewritten = await commit(mirror, base, "rebased\n")
    await push(mirror, origin, BRANCH, rewritten, expected=second)
    assert await remote_head(mirror, origin, BRANCH) == rewritten
    assert await delete(mirror, origin, BRANCH, expected=rewritten)
    assert not await delete(mirror, origin, BRANCH, expected=rewritten)


@pytest.mark.fault("E5")
async def test_a_branch_moved_by_others_is_not_overwritten(
    mirror: Mirror, origin: RepositoryUrl, source: Path, commit_to: CommitTo, in_git: InGit
) -> None:
    base = mirror.resolve_base(None).sha
    ours = await commit(mirror, base, "ours\n")
    await push(mirror, origin, BRANCH, ours, expected=None)
    in_git(source, "checkout", "--quiet", BRANCH)
    theirs = commit_to("theirs", "x", BRANCH)
    in_git(source, "checkout", "--quiet", "main")
    again = await commit(mirror, ours, "again\n")
    for attempt in (
        push(mirror, origin, BRANCH, again, expected=ours),
        delete(mirror, origin, BRANCH, expected=ours),
    ):
        with pytest.raises(Permanent) as changed:
            await attempt
        assert changed.value.code == "remote_changed"
    assert in_git(source, "rev-parse", BRANCH) == theirs


@pytest.mark.fault("E11")
async def test_a_foreign_branch_of_the_same_name_stays(
    mirror: Mirror, origin: RepositoryUrl, source: Path, commit_to: CommitTo, in_git: InGit
) -> None:
    base = mirror.resolve_base(None).sha
    theirs = commit_to("theirs", "x", BRANCH)
    in_git(source, "checkout", "--quiet", "main")
    with pytest.raises(Permanent) as exists:
        await push(mirror, origin, BRANCH, await commit(mirror, base, "ours\n"), expected=None)
    assert exists.value.code == "branch_exists"
    assert in_git(source, "rev-parse", BRANCH) == theirs


@pytest.mark.fault("E11")
async def test_of_two_pushes_at_once_one_wins(
    mirror: Mirror, origin: RepositoryUrl, source: Path, in_git: InGit
) -> None:
    base = mirror.resolve_base(None).sha
    rivals = [await commit(mirror, base, f"{number}\n") for number in range(6)]
    results = await asyncio.gather(
        *(push(mirror, origin, BRANCH, sha, expected=None) for sha in rivals),
        return_exceptions=True,
    )
    winners = [
        sha
        for sha, result in zip(rivals, results, strict=True)
        if not isinstance(result, BaseException)
    ]
    assert len(winners) == 1
    assert in_git(source, "rev-parse", BRANCH) == winners[0]
    losers = [result for result in results if isinstance(result, BaseException)]
    assert all(isinstance(loser, Failed) for loser in losers)
    assert {loser.code for loser in losers if isinstance(loser, Failed)} <= {
        "branch_exists",
        "remote_changed",
        "push_rejected",
        "git_locked",
    }


@pytest.mark.fault("E13")
@pytest.mark.fault("F4")
async def test_hooks_of_a_local_origin_do_not_run(
    mirror: Mirror, origin: RepositoryUrl, source: Path, in_git: InGit
) -> None:
    for name in ("pre-receive", "update", "post-receive", "post-update", "reference-transaction"):
        hook = source / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\ntouch ran-hook\nexit 1\n")
        hook.chmod(0o755)
    base = mirror.resolve_base(None).sha
    sha = await commit(mirror, base, "one\n")
    await push(mirror, origin, BRANCH, sha, expected=None)
    assert not list(source.rglob("ran-hook"))
    in_git(source, "checkout", "--quiet", BRANCH)
    with pytest.raises(Permanent) as rejected:
        await push(mirror, origin, BRANCH, await commit(mirror, sha, "two\n"), expected=sha)
    assert rejected.value.code == "push_rejected"


async def committed_file(
    mirrors: Mirrors, origin: RepositoryUrl, commit_to: CommitTo, branch: str, text: str
) -> str:
    sha = commit_to("file", text, branch)
    await mirrors.ensure(origin)
    return sha


async def test_rebase_replays_on_a_newer_base(
    mirrors: Mirrors,
    origin: RepositoryUrl,
    mirror: Mirror,
    source: Path,
    commit_to: CommitTo,
    in_git: InGit,
) -> None:
    base = mirror.resolve_base(None).sha
    first = await committed_file(mirrors, origin, commit_to, "work", "ONE\ntwo\nthree\n")
    head = commit_to("other", "x", "work")
    in_git(source, "checkout", "--quiet", "main")
    onto = await committed_file(mirrors, origin, commit_to, "main", "one\ntwo\nTHREE\n")
    result = await rebase(mirror, base=base, head=head, onto=onto)
    assert result.outcome == "rebased"
    assert await mirror.show(result.head, "file") == b"ONE\ntwo\nTHREE\n"
    log = await mirror.log(onto, result.head)
    assert [item.subject for item in log] == ["Change other", "Change file"]
    assert log[0].author_name == "Ann" and first not in {item.sha for item in log}
    assert (await rebase(mirror, base=base, head=head, onto=base)).outcome == "unchanged"
    assert in_git(source, "rev-parse", "main") == onto


@pytest.mark.fault("E2")
async def test_a_conflict_names_the_files_and_changes_nothing(
    mirrors: Mirrors,
    origin: RepositoryUrl,
    mirror: Mirror,
    source: Path,
    commit_to: CommitTo,
    in_git: InGit,
) -> None:
    base = mirror.resolve_base(None).sha
    head = await committed_file(mirrors, origin, commit_to, "work", "ours\n")
    in_git(source, "checkout", "--quiet", "main")
    onto = await committed_file(mirrors, origin, commit_to, "main", "theirs\n")
    refs = await mirror.refs("refs")
    result = await rebase(mirror, base=base, head=head, onto=onto)
    assert (result.outcome, result.head, result.files) == ("conflict", head, ("file",))
    assert await mirror.refs("refs") == refs

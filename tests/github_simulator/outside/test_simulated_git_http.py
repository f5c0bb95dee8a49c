"""A real git client clones, fetches and pushes, and is refused in GitHub's words."""

from __future__ import annotations

import asyncio
import gzip
import os
from pathlib import Path
from typing import Any

import pytest

from github_simulator.changes import founding
from github_simulator.outside.faults import Fault
from github_simulator.things.repository import (
    Protection,
    RequiredChecks,
    RequiredReviews,
)

pytestmark = pytest.mark.slow


async def run(git: Any, *arguments: str, ok: bool = True) -> Any:
    return await asyncio.to_thread(git, *arguments, ok=ok)


async def clone(cast: Any, git: Any, token: str) -> Any:
    await run(git, "clone", "-q", cast.authorised(token), "engine")
    inside = type(git)(git.folder / "engine")
    await run(inside, "checkout", "-q", "-b", "work")
    return inside


async def commit(inside: Any, name: str, content: str = "x\n") -> str:
    path = Path(inside.folder) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    await run(inside, "add", "-A")
    await run(inside, "commit", "-q", "-m", f"Add {name}")
    return str((await run(inside, "rev-parse", "HEAD")).stdout.strip())


async def test_clone_push_and_fetch(cast: Any, git: Any) -> None:
    told: list[Any] = []
    cast.github.world.listeners.append(told.append)
    inside = await clone(cast, git, cast.token())
    sha = await commit(inside, "a.txt")
    await run(inside, "push", "-q", "origin", "work")
    store = cast.github.world.git(cast.repository)
    assert store.branch("work") == sha
    pushes = [event for event in told if event.name == "push"]
    assert len(pushes) == 1
    assert pushes[0].payload["ref"] == "refs/heads/work"
    assert pushes[0].payload["after"] == sha
    assert pushes[0].payload["sender"]["login"] == "worker[bot]"
    founding.commit(cast.github.world, cast.repository, "main", {"b.txt": "b"}, "More", cast.owner)
    await run(inside, "fetch", "-q", "origin")
    seen = (await run(inside, "rev-parse", "origin/main")).stdout.strip()
    assert seen == store.branch("main")
    operations = {asked.operation for asked in cast.github.requests.all}
    assert operations == {"git/info-refs", "git/upload-pack", "git/receive-pack"}


async def test_a_shallow_clone(cast: Any, git: Any) -> None:
    founding.commit(cast.github.world, cast.repository, "main", {"b.txt": "b"}, "More", cast.owner)
    await run(git, "clone", "-q", "--depth", "1", cast.authorised(cast.token()), "shallow")
    count = await run(git, "-C", "shallow", "rev-list", "--count", "HEAD")
    assert count.stdout.strip() == "1"


async def test_a_large_push_comes_in_pieces(cast: Any, git: Any) -> None:
    """Beyond http.postBuffer git sends chunks, and asks with an empty request first."""
    inside = await clone(cast, git, cast.token())
    (Path(inside.folder) / "large").write_bytes(os.urandom(3_000_000))
    sha = await commit(inside, "small")
    await run(inside, "push", "-q", "origin", "work")
    assert cast.github.world.git(cast.repository).branch("work") == sha


async def test_a_packed_request_is_unpacked(cast: Any) -> None:
    """git packs long negotiations; here a whole request is sent so."""
    head = cast.github.world.git(cast.repository).branch("main")
    lines = [f"0032want {head}\n".encode(), b"0000", b"0009done\n"]
    answer = await cast.ask(
        "POST",
        f"/{cast.github.world.full_name(cast.repository)}.git/git-upload-pack",
        cast.token(),
        content=gzip.compress(b"".join(lines)),
        headers={
            "content-encoding": "gzip",
            "content-type": "application/x-git-upload-pack-request",
        },
    )
    assert answer.status_code == 200
    assert b"PACK" in answer.content


async def test_who_gives_no_credential_is_asked_for_it(cast: Any, git: Any) -> None:
    answer = await cast.ask("GET", cast.git_url + "/info/refs?service=git-upload-pack")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Basic ")
    refused = await run(git, "clone", "-q", cast.git_url, "x", ok=False)
    assert refused.returncode != 0
    wrong = await run(git, "clone", "-q", cast.authorised("ghs_wrong"), "y", ok=False)
    assert "Authentication failed" in wrong.stderr


async def test_what_is_public_can_be_read_by_all_and_written_by_few(cast: Any, git: Any) -> None:
    cast.repository.private = False
    await run(git, "clone", "-q", cast.git_url, "open")
    inside = type(git)(git.folder / "open")
    await commit(inside, "a.txt")
    refused = await run(inside, "push", "-q", "origin", "HEAD:work", ok=False)
    assert "could not read Username" in refused.stderr or "Authentication" in refused.stderr
    token = cast.github.credentials.of_person(cast.reader).value
    refused = await run(inside, "push", "-q", cast.authorised(token), "HEAD:work", ok=False)
    assert "Permission to ada/engine.git denied to grace." in refused.stderr
    assert "403" in refused.stderr


async def test_what_one_may_not_see_does_not_exist(cast: Any, git: Any) -> None:
    other = founding.add_repository(cast.github.world, cast.reader, "secret", private=True)
    url = cast.authorised(cast.token()).replace("ada/engine", "grace/secret")
    refused = await run(git, "clone", "-q", url, "x", ok=False)
    assert "not found" in refused.stderr
    assert other.private


async def test_a_token_that_may_only_read_cannot_push(cast: Any, git: Any) -> None:
    token = cast.token(permissions={"contents": "read", "metadata": "read"})
    inside = await clone(cast, git, token)
    await commit(inside, "a.txt")
    refused = await run(inside, "push", "-q", "origin", "work", ok=False)
    assert "Write access to repository not granted." in refused.stderr
    assert cast.github.world.git(cast.repository).branch("work") is None
    nothing = cast.token(permissions={"issues": "read"})
    refused = await run(git, "clone", "-q", cast.authorised(nothing), "x", ok=False)
    assert "403" in refused.stderr


async def test_an_expired_token_is_refused(cast: Any, git: Any) -> None:
    token = cast.token()
    cast.clock.advance(3_601)
    refused = await run(git, "clone", "-q", cast.authorised(token), "x", ok=False)
    assert "Authentication failed" in refused.stderr


async def test_an_archived_repository_is_read_only(cast: Any, git: Any) -> None:
    inside = await clone(cast, git, cast.token())
    await commit(inside, "a.txt")
    founding.archive(cast.github.world, cast.repository, cast.owner)
    refused = await run(inside, "push", "-q", "origin", "work", ok=False)
    assert "archived so it is read-only" in refused.stderr


@pytest.mark.parametrize(
    ("protection", "words"),
    [
        (
            Protection(reviews=RequiredReviews(count=1)),
            "Changes must be made through a pull request.",
        ),
        (Protection(checks=RequiredChecks(contexts=("tests",))), 'Required status check "tests"'),
        (Protection(lock_branch=True), "locked"),
        (Protection(push_users=("grace",)), "not authorized"),
    ],
)
async def test_a_protected_branch_refuses_a_push(
    cast: Any, git: Any, protection: Protection, words: str
) -> None:
    inside = await clone(cast, git, cast.token())
    before = cast.github.world.git(cast.repository).branch("main")
    cast.repository.protections["main"] = protection
    await commit(inside, "a.txt")
    refused = await run(inside, "push", "origin", "HEAD:main", "HEAD:work", ok=False)
    assert "GH006: Protected branch update failed for refs/heads/main." in refused.stderr
    assert words in refused.stderr
    assert "(protected branch hook declined)" in refused.stderr
    refs = cast.github.world.git(cast.repository).refs("refs/heads/")
    assert refs == {"refs/heads/main": before}
    await run(inside, "push", "-q", "origin", "HEAD:work")


async def test_a_protected_branch_keeps_its_history(cast: Any, git: Any) -> None:
    inside = await clone(cast, git, cast.token())
    cast.repository.protections["main"] = Protection()
    forward = await commit(inside, "a.txt")
    await run(inside, "push", "-q", "origin", "HEAD:main")
    await run(inside, "commit", "-q", "--amend", "-m", "Another history")
    refused = await run(inside, "push", "-f", "origin", "HEAD:main", ok=False)
    assert "Cannot force-push to this protected branch" in refused.stderr
    assert "(protected branch hook declined)" in refused.stderr
    refused = await run(inside, "push", "origin", ":main", ok=False)
    assert "refusing to delete the current branch: refs/heads/main" in refused.stderr
    await run(inside, "push", "-q", "origin", "HEAD:release")
    cast.repository.protections["release"] = Protection()
    refused = await run(inside, "push", "origin", ":release", ok=False)
    assert "Cannot delete this protected branch" in refused.stderr
    assert "(protected branch hook declined)" in refused.stderr
    assert cast.github.world.git(cast.repository).branch("main") == forward
    cast.repository.protections["main"] = Protection(force_pushes=True)
    await run(inside, "push", "-q", "-f", "origin", "HEAD:main")
    assert cast.github.world.git(cast.repository).branch("main") != forward


async def test_without_protection_a_branch_can_be_forced_and_deleted(cast: Any, git: Any) -> None:
    inside = await clone(cast, git, cast.token())
    await commit(inside, "a.txt")
    await run(inside, "push", "-q", "origin", "work")
    await run(inside, "commit", "-q", "--amend", "-m", "Another history")
    refused = await run(inside, "push", "origin", "work", ok=False)
    assert "non-fast-forward" in refused.stderr
    await run(inside, "push", "-q", "-f", "origin", "work")
    await run(inside, "push", "-q", "origin", ":work")
    assert cast.github.world.git(cast.repository).branch("work") is None


async def test_a_lease_on_the_wrong_commit_is_refused(cast: Any, git: Any) -> None:
    inside = await clone(cast, git, cast.token())
    await commit(inside, "a.txt")
    founding.commit(
        cast.github.world, cast.repository, "work", {"z": "z"}, "Somebody else's", cast.owner
    )
    refused = await run(
        inside, "push", "--force-with-lease=work:" + "0" * 40, "origin", "work", ok=False
    )
    assert refused.returncode != 0
    assert "stale info" in refused.stderr or "rejected" in refused.stderr


async def test_linear_history(cast: Any, git: Any) -> None:
    inside = await clone(cast, git, cast.token())
    await commit(inside, "a.txt")
    await run(inside, "checkout", "-q", "-b", "side", "HEAD~1")
    await commit(inside, "b.txt")
    await run(inside, "merge", "-q", "--no-ff", "-m", "Merge", "work")
    cast.repository.protections["main"] = Protection(linear_history=True)
    refused = await run(inside, "push", "origin", "HEAD:main", ok=False)
    assert "must not contain merge commits" in refused.stderr
    await run(inside, "push", "-q", "origin", "work:main")


async def test_workflows_need_their_own_permission(cast: Any, git: Any) -> None:
    inside = await clone(cast, git, cast.token())
    await commit(inside, ".github/workflows/ci.yml", "on: push\n")
    await commit(inside, "later.txt")
    refused = await run(inside, "push", "origin", "work", ok=False)
    assert (
        "refusing to allow a GitHub App to create or update workflow "
        "`.github/workflows/ci.yml` without `workflows` permission" in refused.stderr
    )
    cast.installation.permissions["workflows"] = "write"
    await run(inside, "push", "-q", cast.authorised(cast.token()), "work")


async def test_refs_of_pull_requests_cannot_be_pushed(cast: Any, git: Any) -> None:
    inside = await clone(cast, git, cast.token())
    await commit(inside, "a.txt")
    refused = await run(inside, "push", "origin", "HEAD:refs/pull/1/head", ok=False)
    assert "deny updating a hidden ref" in refused.stderr


@pytest.mark.fault("E13")
async def test_large_files_are_refused(cast: Any, git: Any) -> None:
    cast.github.git.largest_file_bytes = 1_000
    inside = await clone(cast, git, cast.token())
    await commit(inside, "fits.txt", "x" * 1_000)
    await run(inside, "push", "-q", "origin", "work")
    await commit(inside, "large.txt", "x" * 1_001)
    refused = await run(inside, "push", "origin", "work", ok=False)
    assert "GH001: Large files detected." in refused.stderr
    assert "File large.txt exceeds" in refused.stderr
    assert "(pre-receive hook declined)" in refused.stderr


@pytest.mark.fault("E13")
async def test_secrets_are_refused_where_that_is_switched_on(cast: Any, git: Any) -> None:
    inside = await clone(cast, git, cast.token())
    await commit(inside, "key.txt", "token = ghp_" + "a1" * 18 + "\n")
    cast.github.git.push_protection = True
    refused = await run(inside, "push", "origin", "work", ok=False)
    assert "GH013: Repository rule violations found for refs/heads/work." in refused.stderr
    assert "path: key.txt" in refused.stderr
    assert "(push declined due to repository rule violations)" in refused.stderr
    cast.github.git.push_protection = False
    await run(inside, "push", "-q", "origin", "work")


async def test_a_renamed_repository_redirects(cast: Any, git: Any) -> None:
    old = cast.authorised(cast.token())
    founding.rename(cast.github.world, cast.repository, "motor", cast.owner)
    await run(git, "clone", "-q", old, "moved")
    refused = await run(
        git, "-c", "http.followRedirects=false", "clone", "-q", old, "not", ok=False
    )
    assert refused.returncode != 0


@pytest.mark.fault("E13")
async def test_a_push_that_arrived_but_was_not_answered(cast: Any, git: Any) -> None:
    inside = await clone(cast, git, cast.token())
    sha = await commit(inside, "a.txt")
    cast.github.faults.add(Fault(kind="drop", applied=True, operation="git/receive-pack"))
    lost = await run(inside, "push", "origin", "work", ok=False)
    assert lost.returncode != 0
    assert cast.github.world.git(cast.repository).branch("work") == sha


async def test_a_push_that_never_arrived(cast: Any, git: Any) -> None:
    inside = await clone(cast, git, cast.token())
    await commit(inside, "a.txt")
    cast.github.faults.add(Fault(kind="status", status=503, operation="git/receive-pack"))
    lost = await run(inside, "push", "origin", "work", ok=False)
    assert "503" in lost.stderr
    assert cast.github.world.git(cast.repository).branch("work") is None


async def test_pushes_at_once_all_arrive_once(cast: Any, git: Any) -> None:
    told: list[Any] = []
    cast.github.world.listeners.append(told.append)
    inside = await clone(cast, git, cast.token())
    await commit(inside, "a.txt")
    names = [f"b{number}" for number in range(6)]
    await asyncio.gather(*(run(inside, "push", "-q", "origin", f"HEAD:{n}") for n in names))
    refs = cast.github.world.git(cast.repository).refs("refs/heads/b")
    assert sorted(refs) == [f"refs/heads/{name}" for name in names]
    pushed = [event.payload["ref"] for event in told if event.name == "push"]
    assert sorted(pushed) == sorted(refs)


async def test_nonsense_is_no_push(cast: Any) -> None:
    answer = await cast.ask(
        "POST", cast.git_url + "/git-receive-pack", cast.token(), content=b"hello world"
    )
    assert answer.status_code == 400

"""Writing to the origin: one branch, one lease, nothing of others overwritten."""

from __future__ import annotations

from typing import Literal

import msgspec

from agent_work_orders.errors import Failed, Permanent, Unknown
from agent_work_orders.repositories.mirror import Mirror
from agent_work_orders.repositories.origin import list_heads, remote, serving, transport
from agent_work_orders.repositories.refname import check_branch, check_sha
from agent_work_orders.repositories.url import RepositoryUrl

PUSH_TIMEOUT_S = 600.0
REFUSED = frozenset({"remote_changed", "push_protected", "push_rejected"})


class Pushed(msgspec.Struct, frozen=True, kw_only=True):
    outcome: Literal["created", "updated", "already_there"]
    branch: str
    sha: str
    previous_sha: str | None


async def remote_head(mirror: Mirror, origin: RepositoryUrl, branch: str) -> str | None:
    """Where the branch is at the origin now: what `look` reads after a crash."""
    ref = f"refs/heads/{check_branch(branch, field='branch')}"
    heads = await list_heads(mirror.git, origin, ref)
    return heads.refs.get(ref)


async def push(
    mirror: Mirror, origin: RepositoryUrl, branch: str, sha: str, *, expected: str | None
) -> Pushed:
    """Bring the origin's branch to `sha`. `expected` is what we pushed last, None if never.

    Repeating it is harmless. The branch moves when it is absent, at `expected`, or behind `sha`;
    else Permanent `branch_exists` (never ours) or `remote_changed` (moved under us). Also
    `push_protected`, `push_rejected`, `repository_auth_needed`, and Unknown `push_unknown` when
    the answer was lost.
    """
    check_sha(sha)
    at = await remote_head(mirror, origin, branch)
    if at == sha:
        return Pushed(outcome="already_there", branch=branch, sha=sha, previous_sha=at)
    if at is not None and at != expected and not await _behind(mirror, at, sha):
        raise _foreign(branch, at, expected)
    await _send(mirror, origin, branch, sha, at)
    outcome: Literal["created", "updated"] = "created" if at is None else "updated"
    return Pushed(outcome=outcome, branch=branch, sha=sha, previous_sha=at)


async def delete(mirror: Mirror, origin: RepositoryUrl, branch: str, *, expected: str) -> bool:
    """Undo a push: delete the branch if it is still where we left it. False when it is gone."""
    at = await remote_head(mirror, origin, branch)
    if at is None:
        return False
    if at != check_sha(expected):
        raise _foreign(branch, at, expected)
    await _send(mirror, origin, branch, None, at)
    return True


async def _send(
    mirror: Mirror, origin: RepositoryUrl, branch: str, goal: str | None, at: str | None
) -> None:
    """Move the branch from `at` to `goal`; None is no branch.

    A refusal is believed only when the branch is not at `goal`: curl repeats by itself a request
    whose kept connection died, and then the refusal answers the repetition.
    """
    try:
        await _transfer(mirror, origin, branch, goal, at)
    except Permanent as refusal:
        if refusal.code not in REFUSED or await remote_head(mirror, origin, branch) != goal:
            raise


async def _transfer(
    mirror: Mirror, origin: RepositoryUrl, branch: str, goal: str | None, at: str | None
) -> None:
    try:
        await mirror.git.run(
            "push the branch",
            [
                "push",
                "--no-verify",
                "--no-follow-tags",
                f"--force-with-lease=refs/heads/{branch}:{at or ''}",
                *serving(mirror.git, origin, "git-receive-pack"),
                "--end-of-options",
                origin.url,
                f"{goal or ''}:refs/heads/{branch}",
            ],
            repository=mirror.path,
            transport=transport(origin),
            remote=remote(origin, writes=True),
            timeout_s=PUSH_TIMEOUT_S,
        )
    except Failed as failure:
        if failure.code in ("git_timeout", "repository_unreachable"):
            raise Unknown(
                "push_unknown",
                f"The push of {branch} may have arrived: {failure.message}",
                hint="The branch is looked at before it is pushed again.",
            ) from failure
        raise


async def _behind(mirror: Mirror, at: str, sha: str) -> bool:
    """Whether moving the branch from `at` to `sha` only adds commits."""
    return await mirror.has_commit(at) and await mirror.is_ancestor(at, sha)


def _foreign(branch: str, at: str, expected: str | None) -> Permanent:
    if expected is None:
        return Permanent(
            "branch_exists",
            f"The branch {branch} exists at the origin with other commits",
            hint="Delete or rename it there, then retry.",
            remote_sha=at,
        )
    return Permanent(
        "remote_changed",
        f"The branch {branch} was moved at the origin by someone else",
        hint="Look at the branch on the remote; nothing of it was overwritten.",
        remote_sha=at,
        expected_sha=expected,
    )

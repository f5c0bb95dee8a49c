"""Opening, closing and reopening pull requests; their heads kept in the base's repository."""

from __future__ import annotations

from typing import Any

from github_simulator.changes import webhooks
from github_simulator.shapes import pull as shape
from github_simulator.things.accounts import Account
from github_simulator.things.git_store import ZERO
from github_simulator.things.repository import Repository
from github_simulator.things.review import PullRequest
from github_simulator.world import World


def keep_head(world: World, base: Repository, pull: PullRequest, head: Repository) -> None:
    """`refs/pull/7/head` in the base, as GitHub has it: it stays when the branch is deleted."""
    kept = f"refs/pull/{pull.number}/head"
    if head.id == base.id:
        world.git(base).update(kept, pull.head_sha)
    else:
        world.git(base).fetch(world.git_dir(head), f"+{pull.head_sha}:{kept}")


def tell(
    world: World, repository: Repository, pull: PullRequest, action: str, by: Account, **more: Any
) -> None:
    webhooks.emit(
        world,
        "pull_request",
        action,
        repository,
        by,
        number=pull.number,
        pull_request=shape.full(world, repository, pull),
        **more,
    )


def close(world: World, repository: Repository, pull: PullRequest, by: Account) -> None:
    issue = repository.issues[pull.number]
    issue.state, issue.closed_ms, issue.closed_by = "closed", world.now_ms(), by.id
    issue.updated_ms = world.now_ms()
    pull.auto_merge = None
    tell(world, repository, pull, "closed", by)


def reopen(world: World, repository: Repository, pull: PullRequest, by: Account) -> None:
    issue = repository.issues[pull.number]
    issue.state, issue.closed_ms, issue.closed_by = "open", None, None
    issue.updated_ms = world.now_ms()
    tell(world, repository, pull, "reopened", by)


def delete_branch(world: World, repository: Repository, branch: str, by: Account) -> None:
    git = world.git(repository)
    before = git.branch(branch)
    if before is not None:
        git.delete(f"refs/heads/{branch}")
        world.pushed(repository, f"refs/heads/{branch}", before, ZERO, by)

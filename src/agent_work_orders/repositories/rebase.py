"""Replaying an order's commits on a newer base, inside the mirror and without a work tree.

Each commit is a three-way merge of trees (`git merge-tree`), so no driver, filter or hook of the
repository runs. Shared branches are never touched: the result is a commit nobody points to yet.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from agent_work_orders.errors import Permanent
from agent_work_orders.repositories.git import GitResult
from agent_work_orders.repositories.history import Commit
from agent_work_orders.repositories.mirror import Mirror
from agent_work_orders.repositories.refname import check_sha, is_sha

MAX_COMMITS = 200
_AUTHOR = "awo <awo@localhost>"


class Rebased(msgspec.Struct, frozen=True, kw_only=True):
    """`conflict`: `head` is the old one, `files` are those that do not merge, at `commit`."""

    outcome: Literal["rebased", "unchanged", "conflict"]
    head: str
    files: tuple[str, ...] = ()
    commit: str | None = None


async def rebase(mirror: Mirror, *, base: str, head: str, onto: str) -> Rebased:
    """Replay `base..head` on `onto`. Messages, authors and dates stay; empty ones are dropped."""
    check_sha(onto)
    if onto == base:
        return Rebased(outcome="unchanged", head=head)
    commits = await mirror.log(base, head, limit=MAX_COMMITS + 1)
    if len(commits) > MAX_COMMITS or any(len(item.parents) != 1 for item in commits):
        raise Permanent(
            "rebase_not_linear",
            "The order's commits are not a short line of single-parent commits",
            hint="Start a new order on the newer base.",
        )
    at = onto
    for commit in reversed(commits):
        answer = await _merge(mirror, at, commit)
        if answer.exit_code == 1:
            return Rebased(
                outcome="conflict",
                head=head,
                files=conflicted_files(answer.stdout),
                commit=commit.sha,
            )
        tree = answer.stdout.split(b"\0", 1)[0].decode()
        if tree != await mirror.tree_of(at):
            at = await _replay(mirror, tree, at, commit)
    return Rebased(outcome="rebased", head=at)


def conflicted_files(data: bytes) -> tuple[str, ...]:
    """The names in the output of `git merge-tree --write-tree -z --name-only`."""
    fields = data.split(b"\0")
    names = []
    for field in fields[1:]:
        if not field:
            break
        names.append(field.decode("utf-8", "replace"))
    return tuple(dict.fromkeys(names))


async def _merge(mirror: Mirror, ours: str, commit: Commit) -> GitResult:
    """Merge with the commit's own parent as the base. `--merge-base` needs git 2.40, so two
    commits with a common made-up parent say the same to older ones."""
    before = await _bare(mirror, await mirror.tree_of(commit.parents[0]))
    mine = await _bare(mirror, await mirror.tree_of(ours), before)
    theirs = await _bare(mirror, await mirror.tree_of(commit.sha), before)
    return await mirror.git.run(
        "rebase a commit",
        ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", mine, theirs],
        repository=mirror.path,
        ok=frozenset({0, 1}),
    )


async def _bare(mirror: Mirror, tree: str, *parents: str) -> str:
    return await mirror.commit_tree(tree, parents, "merge base", author=_AUTHOR, at_ms=0)


async def _replay(mirror: Mirror, tree: str, parent: str, commit: Commit) -> str:
    raw = await mirror.git.run(
        "read a commit's message",
        ["log", "--no-walk", "--format=%B", "--end-of-options", commit.sha],
        repository=mirror.path,
    )
    author = f"{commit.author_name} <{commit.author_email}>"
    made = await mirror.commit_tree(
        tree,
        [parent],
        raw.stdout.decode("utf-8", "replace").rstrip("\n") + "\n",
        author=author,
        at_ms=commit.at_ms,
    )
    assert is_sha(made)
    return made

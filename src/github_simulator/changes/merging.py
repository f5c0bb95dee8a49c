"""Merging: real merge commits, squashes and rebases, by hand and by themselves."""

from __future__ import annotations

from github_simulator.changes import closing, pulling
from github_simulator.shapes import mergeability
from github_simulator.things.accounts import Account
from github_simulator.things.repository import Repository
from github_simulator.things.review import PullRequest
from github_simulator.world import World


def merge(
    world: World,
    repository: Repository,
    pull: PullRequest,
    by: Account,
    method: str,
    title: str | None,
    message: str | None,
) -> str | None:
    """Merge in git and tell everybody; the new tip of the base, or None on conflict."""
    git = world.git(repository)
    tip = git.branch(pull.base_ref)
    if tip is None:
        return None
    made = make(world, repository, pull, by, tip, method, title, message)
    if made is None:
        return None
    ref = f"refs/heads/{pull.base_ref}"
    git.update(ref, made, tip)
    head_ref, head_id = pull.head_ref, pull.head_repository_id
    record(world, repository, pull, made, by)
    world.pushed(repository, ref, tip, made, by)
    if repository.delete_branch_on_merge and head_id == repository.id:
        if head_ref != repository.default_branch and head_ref not in repository.protections:
            pulling.delete_branch(world, repository, head_ref, by)
    return made


def make(
    world: World,
    repository: Repository,
    pull: PullRequest,
    by: Account,
    tip: str,
    method: str,
    title: str | None,
    message: str | None,
) -> str | None:
    """The commit that the base will point at; nothing moves yet."""
    git = world.git(repository)
    issue = repository.issues[pull.number]
    person = world.person(by)
    if method == "rebase":
        commits = git.log("--no-merges", f"{tip}..{pull.head_sha}")[::-1]
        onto: str | None = tip
        for sha in commits:
            onto = None if onto is None else git.pick(sha, onto, person)
        return onto
    tree = git.merge(tip, pull.head_sha).tree
    if tree is None:
        return None
    owner = world.accounts[pull.head_owner_id].login
    if method == "squash":
        text = _text(title or f"{issue.title} (#{pull.number})", message)
        return git.commit_tree(
            tree, [tip], text, world.person(world.accounts[issue.author_id]), person
        )
    default = f"Merge pull request #{pull.number} from {owner}/{pull.head_ref}"
    text = _text(title or default, issue.title if message is None else message)
    return git.commit_tree(tree, [tip, pull.head_sha], text, person, person)


def _text(title: str, message: str | None) -> str:
    return f"{title}\n\n{message}" if message else title


def record(world: World, repository: Repository, pull: PullRequest, sha: str, by: Account) -> None:
    """The pull request is merged from now on, however that came about."""
    issue = repository.issues[pull.number]
    pull.merged, pull.merged_ms, pull.merged_by = True, world.now_ms(), by.id
    pull.merge_commit_sha = sha
    pulling.close(world, repository, pull, by)
    # Only what reaches the default branch closes the issues it names.
    if pull.base_ref == repository.default_branch:
        closing.close_mentioned(world, repository, issue.body or "", by)


def merge_when_ready(world: World, repository: Repository, pull: PullRequest) -> None:
    """Auto-merge: as soon as nothing that is required is missing."""
    auto = pull.auto_merge
    if auto is None or repository.issues[pull.number].state != "open" or pull.draft:
        return
    if mergeability.compute(world, repository, pull).name in ("clean", "unstable"):
        by = world.accounts[auto.enabled_by]
        merge(world, repository, pull, by, auto.method, auto.title, auto.message)


def look_again(world: World, repository: Repository, sha: str | None = None) -> None:
    """Something that could have been missing has come: for the pull requests with this head."""
    for pull in list(repository.pulls.values()):
        if pull.auto_merge is not None and sha in (None, pull.head_sha):
            merge_when_ready(world, repository, pull)

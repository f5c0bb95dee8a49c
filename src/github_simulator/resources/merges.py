"""Merging a pull request, and bringing its branch up to date."""

from __future__ import annotations

from github_simulator.asking import access
from github_simulator.call import Answer, Call, Field, Route
from github_simulator.changes import merging, writing
from github_simulator.rules import refusals
from github_simulator.shapes import mergeability, repo
from github_simulator.things.repository import Repository
from github_simulator.things.review import MERGE_METHODS, PullRequest

_FORBIDDEN = {
    "merge": ("allow_merge_commit", "Merge commits are not allowed on this repository."),
    "squash": ("allow_squash_merge", "Squash merges are not allowed on this repository."),
    "rebase": ("allow_rebase_merge", "Rebase merges are not allowed on this repository."),
}
_RULES = {
    "reviews": refusals.MERGE_REVIEWS,
    "checks": refusals.MERGE_CHECKS,
    "threads": refusals.MERGE_THREADS,
    "behind": refusals.MERGE_BEHIND,
}


def merged(call: Call) -> Answer:
    repository = access.repository(call)
    refusals.NOT_MERGED.when(not writing.pull(call, repository).merged)
    return Answer(status=204)


def merge(call: Call) -> Answer:
    repository, body = access.repository(call), call.body
    pull = writing.pull(call, repository)
    refusals.MERGE_CLOSED.when(repository.issues[pull.number].state == "closed")
    refusals.MERGE_DRAFT.when(pull.draft)
    refusals.MERGE_HEAD_MOVED.when("sha" in body and body["sha"] != pull.head_sha)
    method = body.get("merge_method", "merge")
    setting, message = _FORBIDDEN[method]
    refusals.MERGE_METHOD.when(not getattr(repository, setting), message)
    _check_protection(call, repository, pull, method)
    tip = call.world.git(repository).branch(pull.base_ref) or ""
    author = writing.author(call)
    texts = (body.get("commit_title"), body.get("commit_message"))
    tried = merging.make(call.world, repository, pull, author, tip, method, *texts)
    refusals.MERGE_CONFLICT.when(tried is None)
    sha = merging.merge(call.world, repository, pull, author, method, *texts)
    return Answer(body={"sha": sha, "merged": True, "message": "Pull Request successfully merged"})


def _check_protection(call: Call, repository: Repository, pull: PullRequest, method: str) -> None:
    rules = repository.protections.get(pull.base_ref)
    if rules is None:
        return
    admin = call.world.role(call.actor.account_id, repository) == "admin"
    if call.actor.kind == "user" and admin and not rules.enforce_admins:
        return
    for obstacle in mergeability.obstacles(call.world, repository, pull):
        _RULES[obstacle.kind].when(True, obstacle.message)
    refusals.MERGE_LINEAR.when(rules.linear_history and method == "merge")


def update_branch(call: Call) -> Answer:
    repository, world = access.repository(call), call.world
    pull = writing.pull(call, repository)
    git = world.git(repository)
    wanted = call.body.get("expected_head_sha", pull.head_sha)
    refusals.BRANCH_HEAD_MOVED.when(wanted != pull.head_sha)
    tip = git.branch(pull.base_ref) or ""
    refusals.BRANCH_CURRENT.when(git.contains(pull.head_sha, tip))
    tree = git.merge(pull.head_sha, tip).tree
    refusals.BRANCH_CONFLICT.when(tree is None)
    author = writing.author(call)
    person = world.person(author)
    text = f"Merge branch '{pull.base_ref}' into {pull.head_ref}"
    made = git.commit_tree(tree or "", [pull.head_sha, tip], text, person, person)
    head = world.repositories[pull.head_repository_id or repository.id]
    ref = f"refs/heads/{pull.head_ref}"
    if head.id != repository.id:
        git.update(f"refs/pull/{pull.number}/head", made)
        world.git(head).fetch(world.git_dir(repository), made)
    world.git(head).update(ref, made, pull.head_sha)
    world.pushed(head, ref, pull.head_sha, made, author)
    url = f"{repo.web_url(world, repository)}/pull/{pull.number}"
    return Answer(status=202, body={"message": "Updating pull request branch.", "url": url})


_ONE = "/repos/{owner}/{repo}/pulls/{pull_number}"
ROUTES = (
    Route(
        method="GET",
        template=_ONE + "/merge",
        operation="pulls/check-if-merged",
        needs=(("pull_requests", "read"),),
        handler=merged,
    ),
    Route(
        method="PUT",
        template=_ONE + "/merge",
        operation="pulls/merge",
        needs=(("contents", "write"),),
        role="write",
        body=(
            Field(name="commit_title"),
            Field(name="commit_message"),
            Field(name="sha"),
            Field(name="merge_method", enum=MERGE_METHODS),
        ),
        handler=merge,
    ),
    Route(
        method="PUT",
        template=_ONE + "/update-branch",
        operation="pulls/update-branch",
        needs=(("pull_requests", "write"),),
        role="write",
        body=(Field(name="expected_head_sha"),),
        handler=update_branch,
    ),
)

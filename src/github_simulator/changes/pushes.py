"""What follows on GitHub when a ref moved: the push is told, check suites begin, pull requests
get their new head, and those whose commits arrived in their base count as merged."""

from __future__ import annotations

from typing import Any

from github_simulator.changes import merging, pulling, webhooks
from github_simulator.shapes import history, people, repo, verdict
from github_simulator.shapes import pull as shape
from github_simulator.things.accounts import Account
from github_simulator.things.check import CheckSuite
from github_simulator.things.diff import find_line
from github_simulator.things.git_store import ZERO
from github_simulator.things.repository import Repository
from github_simulator.things.review import PullRequest
from github_simulator.world import World

# A push's webhook has 2048 commits at most (webhooks/webhook-events-and-payloads#push).
COMMITS_LIMIT = 2048


def pushed(
    world: World, repository: Repository, ref: str, before: str, after: str, pusher: Account
) -> None:
    if before == after:
        return
    repository.pushed_ms = world.now_ms()
    kind, _, name = ref.removeprefix("refs/").partition("/")
    if kind not in ("heads", "tags"):
        return
    ref_type = "branch" if kind == "heads" else "tag"
    if before == ZERO:
        _tell_ref(world, repository, "create", name, ref_type, pusher)
    _tell_push(world, repository, ref, before, after, pusher)
    if after == ZERO:
        _tell_ref(world, repository, "delete", name, ref_type, pusher)
    if kind == "heads":
        if after != ZERO:
            begin_suites(world, repository, name, before, after, pusher)
        _heads_moved(world, repository, name, after, pusher)
        _bases_moved(world, repository, name, after, pusher)


def _tell_ref(
    world: World, repository: Repository, event: str, name: str, ref_type: str, pusher: Account
) -> None:
    fields: dict[str, Any] = {"ref": name, "ref_type": ref_type, "pusher_type": "user"}
    if event == "create":
        fields |= {"master_branch": repository.default_branch, "description": None}
    webhooks.emit(world, event, None, repository, pusher, **fields)


def _tell_push(
    world: World, repository: Repository, ref: str, before: str, after: str, pusher: Account
) -> None:
    git = world.git(repository)
    commits: list[str] = []
    if after != ZERO and git.kind(after) == "commit":
        known = [f"^{before}"] if before != ZERO and git.has_commit(before) else []
        if before == ZERO:
            others = git.refs("refs/heads/")
            known = [f"^{sha}" for name, sha in others.items() if name != ref]
        commits = git.log(after, *known, limit=COMMITS_LIMIT)[::-1]
    forced = ZERO not in (before, after) and not git.contains(after, before)
    url = repo.web_url(world, repository)
    own = repo.repository(world, repository)
    owner = world.accounts[repository.owner_id]
    webhooks.emit(
        world,
        "push",
        None,
        repository,
        pusher,
        ref=ref,
        before=before,
        after=after,
        created=before == ZERO,
        deleted=after == ZERO,
        forced=forced,
        base_ref=None,
        compare=f"{url}/compare/{before[:12]}...{after[:12]}",
        commits=[history.pushed_commit(world, repository, sha) for sha in commits],
        head_commit=history.pushed_commit(world, repository, after)
        if after != ZERO and git.kind(after) == "commit"
        else None,
        pusher={"name": pusher.login, "email": world.person(pusher).email},
        repository_={
            **own,
            "owner": {**people.user(world, owner), "name": owner.login, "email": None},
            "created_at": repository.created_ms // 1000,
            "pushed_at": repository.pushed_ms // 1000,
            "stargazers": 0,
            "master_branch": repository.default_branch,
        },
    )


def begin_suites(
    world: World, repository: Repository, branch: str, before: str, after: str, pusher: Account
) -> None:
    """Every App that writes checks gets a suite for a new head (guides: about check suites)."""
    for installation in list(world.installations_on(repository)):
        if installation.permissions.get("checks") != "write":
            continue
        if find_suite(repository, installation.app_id, after) is None:
            suite = make_suite(world, repository, installation.app_id, after, branch, before)
            webhooks.emit(
                world,
                "check_suite",
                "requested",
                repository,
                pusher,
                only_app=installation.app_id,
                check_suite=verdict.suite(world, repository, suite),
            )


def find_suite(repository: Repository, app_id: int, sha: str) -> CheckSuite | None:
    found = (s for s in repository.check_suites.values() if (s.app_id, s.head_sha) == (app_id, sha))
    return next(found, None)


def make_suite(
    world: World, repository: Repository, app_id: int, sha: str, branch: str | None, before: str
) -> CheckSuite:
    suite = CheckSuite(
        id=world.next_id(),
        app_id=app_id,
        head_sha=sha,
        head_branch=branch,
        before=before,
        created_ms=world.now_ms(),
        updated_ms=world.now_ms(),
    )
    repository.check_suites[suite.id] = suite
    return suite


def _heads_moved(world: World, head: Repository, branch: str, after: str, pusher: Account) -> None:
    """Open pull requests from this branch, in this repository and in the one it was forked from."""
    for base in [r for r in world.repositories.values() if r.id in (head.id, head.parent_id)]:
        for pull in list(base.pulls.values()):
            same = (pull.head_repository_id, pull.head_ref) == (head.id, branch)
            if not same or base.issues[pull.number].state != "open":
                continue
            if after == ZERO:
                pulling.close(world, base, pull, pusher)
            elif after != pull.head_sha:
                _synchronize(world, base, pull, head, after, pusher)


def _synchronize(
    world: World,
    base: Repository,
    pull: PullRequest,
    head: Repository,
    after: str,
    pusher: Account,
) -> None:
    git = world.git(base)
    before, pull.head_sha = pull.head_sha, after
    pulling.keep_head(world, base, pull, head)
    tip = git.branch(pull.base_ref)
    pull.base_sha = tip or pull.base_sha
    base.issues[pull.number].updated_ms = world.now_ms()
    rules = base.protections.get(pull.base_ref)
    if rules is not None and rules.reviews is not None and rules.reviews.dismiss_stale:
        for review in base.reviews.values():
            if review.number == pull.number and review.state == "APPROVED":
                review.state = "DISMISSED"
    _outdate(world, base, pull)
    # Somebody without write access took it over: it is no longer merged by itself.
    if pull.auto_merge is not None and world.role(pusher.id, base) in ("none", "read", "triage"):
        if pusher.kind != "Bot":
            pull.auto_merge = None
    webhooks.emit(
        world,
        "pull_request",
        "synchronize",
        base,
        pusher,
        number=pull.number,
        before=before,
        after=after,
        pull_request=shape.full(world, base, pull),
    )
    merging.merge_when_ready(world, base, pull)


def _outdate(world: World, repository: Repository, pull: PullRequest) -> None:
    """Line comments whose lines are no longer in the diff."""
    changed = world.diffs(repository).between(pull.base_sha, pull.head_sha)
    patches = {each.path: each.patch or "" for each in changed}
    for comment in repository.review_comments.values():
        if comment.number == pull.number and comment.line is not None:
            line = find_line(patches.get(comment.path, ""), comment.side, comment.line)
            comment.outdated = line is None or line.hunk != comment.diff_hunk


def _bases_moved(
    world: World, repository: Repository, branch: str, after: str, pusher: Account
) -> None:
    """Pull requests into this branch: merged if their head has arrived, closed if it is gone."""
    git = world.git(repository)
    for pull in list(repository.pulls.values()):
        if pull.base_ref != branch or repository.issues[pull.number].state != "open":
            continue
        if after == ZERO:
            pulling.close(world, repository, pull, pusher)
        elif git.contains(after, pull.head_sha):
            merging.record(world, repository, pull, pull.head_sha, pusher)

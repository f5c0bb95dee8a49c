"""Whether a pull request can be merged, and what stands in the way. Nothing is changed here but
the mark that somebody has asked."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from github_simulator.things.accounts import role_at_least
from github_simulator.things.check import PASSING
from github_simulator.things.repository import Protection, Repository
from github_simulator.things.review import OPINIONS, PullRequest
from github_simulator.world import World


class State(msgspec.Struct, frozen=True, kw_only=True):
    """`name` is GitHub's `mergeable_state`."""

    mergeable: bool | None
    name: str


class Obstacle(msgspec.Struct, frozen=True, kw_only=True):
    """What a protected base wants and does not have."""

    kind: str
    message: str


def look(world: World, repository: Repository, pull: PullRequest, *, asking: bool = True) -> State:
    """As GitHub tells it: null to who asks first after a change, for it only begins to find out.
    Webhooks and the answer to opening one tell what is known, and do not ask."""
    if repository.issues[pull.number].state == "closed":
        return State(mergeable=None, name="unknown")
    tip = world.git(repository).branch(pull.base_ref)
    now = (tip or "", pull.head_sha)
    if world.lazy_mergeability and pull.asked != now:
        pull.asked = now if asking else pull.asked
        return State(mergeable=None, name="unknown")
    return compute(world, repository, pull)


def compute(world: World, repository: Repository, pull: PullRequest) -> State:
    git = world.git(repository)
    tip = git.branch(pull.base_ref)
    if tip is None or git.merge(tip, pull.head_sha).tree is None:
        return State(mergeable=False, name="dirty")
    if pull.draft:
        return State(mergeable=True, name="draft")
    kinds = {obstacle.kind for obstacle in obstacles(world, repository, pull)}
    if kinds == {"behind"}:
        return State(mergeable=True, name="behind")
    if kinds:
        return State(mergeable=True, name="blocked")
    if any(verdict != "passing" for verdict in verdicts(repository, pull.head_sha).values()):
        return State(mergeable=True, name="unstable")
    return State(mergeable=True, name="clean")


def obstacles(world: World, repository: Repository, pull: PullRequest) -> Iterator[Obstacle]:
    rules = repository.protections.get(pull.base_ref)
    if rules is None:
        return
    if rules.lock_branch:
        yield Obstacle(kind="reviews", message="Cannot change this locked branch")
    yield from _reviews(world, repository, pull, rules)
    yield from _checks(repository, pull, rules)
    git = world.git(repository)
    tip = git.branch(pull.base_ref)
    if rules.checks is not None and rules.checks.strict and tip is not None:
        if not git.contains(pull.head_sha, tip):
            message = "Head branch is out of date. Review and try the merge again."
            yield Obstacle(kind="behind", message=message)
    if rules.conversation_resolution and any(open_threads(repository, pull)):
        yield Obstacle(kind="threads", message="All comments must be resolved.")


def _reviews(
    world: World, repository: Repository, pull: PullRequest, rules: Protection
) -> Iterator[Obstacle]:
    if rules.reviews is None:
        return
    opinions = latest_opinions(world, repository, pull)
    if "CHANGES_REQUESTED" in opinions.values():
        yield Obstacle(kind="reviews", message="Changes have been requested.")
    wanted = rules.reviews.count
    if list(opinions.values()).count("APPROVED") < wanted:
        what = "review is" if wanted == 1 else "reviews are"
        yield Obstacle(
            kind="reviews",
            message=f"At least {wanted} approving {what} required by reviewers with write access.",
        )


def latest_opinions(world: World, repository: Repository, pull: PullRequest) -> dict[int, str]:
    """Of each reviewer with write access the last opinion; mere comments are none. A bot has
    write access if its App may write contents here."""
    found: dict[int, str] = {}
    for review in repository.reviews.values():
        if review.number == pull.number and review.state in OPINIONS:
            if may_write(world, repository, review.user_id):
                found[review.user_id] = review.state
    return found


def may_write(world: World, repository: Repository, account_id: int) -> bool:
    for installation in world.installations_on(repository):
        if world.apps[installation.app_id].bot_id == account_id:
            return installation.permissions.get("contents") == "write"
    return role_at_least(world.role(account_id, repository), "write")


def _checks(repository: Repository, pull: PullRequest, rules: Protection) -> Iterator[Obstacle]:
    if rules.checks is None:
        return
    known = verdicts(repository, pull.head_sha)
    for context in rules.checks.contexts:
        app = rules.checks.apps.get(context)
        own = known if app is None else verdicts(repository, pull.head_sha, app)
        verdict = own.get(context, "expected")
        if verdict != "passing":
            yield Obstacle(
                kind="checks", message=f'Required status check "{context}" is {verdict}.'
            )


def verdicts(repository: Repository, sha: str, app_id: int | None = None) -> dict[str, str]:
    """For each context or check's name what its newest word is: passing, pending, failing."""
    found: dict[str, str] = {}
    if app_id is None:
        for status in repository.statuses:
            if status.sha == sha:
                said = {"success": "passing", "pending": "pending"}.get(status.state, "failing")
                found[status.context] = said
    for run in sorted(repository.check_runs.values(), key=lambda run: run.id):
        if run.head_sha == sha and app_id in (None, run.app_id):
            if run.status != "completed":
                found[run.name] = "in progress"
            else:
                found[run.name] = "passing" if run.conclusion in PASSING else "failing"
    return found


def open_threads(repository: Repository, pull: PullRequest) -> Iterator[int]:
    for comment in repository.review_comments.values():
        if comment.number == pull.number and comment.reply_to is None:
            if comment.resolved_by is None:
                yield comment.id

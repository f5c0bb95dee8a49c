"""Whose review is asked for."""

from __future__ import annotations

from github_simulator.asking import access
from github_simulator.call import Answer, Call, Field, Route
from github_simulator.changes import pulling, writing
from github_simulator.rules import refusals
from github_simulator.shapes import people
from github_simulator.shapes import pull as shape
from github_simulator.things.accounts import Account
from github_simulator.things.repository import Repository
from github_simulator.things.review import PullRequest


def every(call: Call) -> Answer:
    pull = writing.pull(call, access.repository(call))
    users = [people.user_by_id(call.world, each) for each in pull.requested_reviewers]
    return Answer(body={"users": users, "teams": []})


def request(call: Call) -> Answer:
    repository = access.repository(call)
    pull = writing.pull(call, repository)
    wanted = _named(call, repository)
    author = repository.issues[pull.number].author_id
    refusals.REVIEWER_AUTHOR.when(any(account.id == author for account in wanted))
    _change(call, repository, pull, wanted, "review_requested")
    return Answer(status=201, body=shape.simple(call.world, repository, pull))


def remove(call: Call) -> Answer:
    repository = access.repository(call)
    pull = writing.pull(call, repository)
    _change(call, repository, pull, _named(call, repository), "review_request_removed")
    return Answer(body=shape.simple(call.world, repository, pull))


def _named(call: Call, repository: Repository) -> list[Account]:
    message = refusals.REVIEWER_STRANGER.message.format(repo=call.world.full_name(repository))
    found = []
    for login in call.body.get("reviewers") or []:
        account = call.world.account(login)
        role = "none" if account is None else call.world.role(account.id, repository)
        refusals.REVIEWER_STRANGER.when(role == "none", message)
        if account is not None:
            found.append(account)
    refusals.REVIEWER_STRANGER.when(call.body.get("team_reviewers"), message)
    return found


def _change(
    call: Call, repository: Repository, pull: PullRequest, named: list[Account], action: str
) -> None:
    adding = action == "review_requested"
    for account in named:
        if (account.id in pull.requested_reviewers) == adding:
            continue
        if adding:
            pull.requested_reviewers.append(account.id)
        else:
            pull.requested_reviewers.remove(account.id)
        by, who = writing.author(call), people.user(call.world, account)
        pulling.tell(call.world, repository, pull, action, by, requested_reviewer=who)


_AT = "/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers"
_LIST = ("array",)
_NAMES = (
    Field(name="reviewers", kinds=_LIST, items=("string",)),
    Field(name="team_reviewers", kinds=_LIST, items=("string",)),
)
ROUTES = (
    Route(
        method="GET",
        template=_AT,
        operation="pulls/list-requested-reviewers",
        needs=(("pull_requests", "read"),),
        handler=every,
    ),
    Route(
        method="POST",
        template=_AT,
        operation="pulls/request-reviewers",
        needs=(("pull_requests", "write"),),
        role="triage",
        body=_NAMES,
        handler=request,
    ),
    Route(
        method="DELETE",
        template=_AT,
        operation="pulls/remove-requested-reviewers",
        needs=(("pull_requests", "write"),),
        role="triage",
        body=(Field(name="reviewers", kinds=_LIST, items=("string",), required=True), _NAMES[1]),
        handler=remove,
    ),
)

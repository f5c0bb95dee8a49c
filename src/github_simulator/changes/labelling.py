"""Labels and assignees of issues: reading what was asked, and telling what changed."""

from __future__ import annotations

from typing import Any

from github_simulator.call import Call
from github_simulator.changes import webhooks, writing
from github_simulator.rules import refusals
from github_simulator.shapes import people, pull, repo, talk
from github_simulator.things.accounts import Account
from github_simulator.things.conversation import Issue
from github_simulator.things.repository import Label, Repository

# issues/managing-labels: 100 labels on an issue; names of 50, descriptions of 100 characters.
LABELS_LIMIT = 100
NAME_LIMIT = 50
# issues/add-assignees
ASSIGNEES_LIMIT = 10


def names(asked: list[Any]) -> list[str]:
    """Labels come as names, or as objects with a name."""
    found = []
    for each in asked:
        name = each.get("name") if isinstance(each, dict) else each
        refusals.LABEL_SHAPE.invalid(not isinstance(name, str), "Label", "name", code="invalid")
        found.append(str(name))
    for name in found:
        check_name(name)
    return found


def check_name(name: str) -> None:
    refusals.LABEL_NAME.invalid(not name.strip(), "Label", "name", code="missing_field")
    refusals.LABEL_NAME.invalid(
        len(name) > NAME_LIMIT,
        "Label",
        "name",
        message=f"name is too long (maximum is {NAME_LIMIT} characters)",
    )


def check_count(wanted: list[str]) -> None:
    refusals.LABELS_MANY.invalid(
        len({name.lower() for name in wanted}) > LABELS_LIMIT,
        "Issue",
        "labels",
        message=f"issues may have at most {LABELS_LIMIT} labels",
    )


def put(call: Call, repository: Repository, issue: Issue, wanted: list[str]) -> None:
    """Give the issue exactly these labels. One that the repository does not have is made."""
    keys = []
    for name in wanted:
        if name.lower() not in repository.labels:
            repository.labels[name.lower()] = Label(id=call.world.next_id(), name=name)
        if name.lower() not in keys:
            keys.append(name.lower())
    before, issue.labels = issue.labels, keys
    for name in before:
        if name not in keys:
            tell(call, repository, issue, "unlabeled", label=_label(call, repository, name))
    for name in keys:
        if name not in before:
            tell(call, repository, issue, "labeled", label=_label(call, repository, name))
    if before != keys:
        writing.touch(call, issue)


def _label(call: Call, repository: Repository, name: str) -> dict[str, Any]:
    return repo.label(call.world, repository, repository.labels[name])


def people_named(call: Call, repository: Repository, logins: list[str]) -> list[Account]:
    """Who of them can be assigned: the owner and those with a role."""
    found = []
    for login in logins:
        account = call.world.account(login)
        if account is not None and call.world.role(account.id, repository) != "none":
            found.append(account)
    return found


def check_assignees(call: Call, repository: Repository, logins: list[str]) -> None:
    known = {each.login.lower() for each in people_named(call, repository, logins)}
    for login in logins:
        refusals.ASSIGNEE_INVALID.invalid(
            login.lower() not in known, "Issue", "assignees", code="invalid"
        )
    check_assignee_count(len(set(logins)))


def check_assignee_count(count: int) -> None:
    refusals.ASSIGNEES_MANY.invalid(
        count > ASSIGNEES_LIMIT,
        "Issue",
        "assignees",
        message=f"an issue may have at most {ASSIGNEES_LIMIT} assignees",
    )


def assign(call: Call, repository: Repository, issue: Issue, wanted: list[int]) -> None:
    before, issue.assignees = issue.assignees, list(dict.fromkeys(wanted))
    world = call.world
    for action, changed in (
        ("unassigned", [each for each in before if each not in wanted]),
        ("assigned", [each for each in issue.assignees if each not in before]),
    ):
        for each in changed:
            tell(call, repository, issue, action, assignee=people.user_by_id(world, each))
    if before != issue.assignees:
        writing.touch(call, issue)


def tell(call: Call, repository: Repository, issue: Issue, action: str, **more: Any) -> None:
    """Of a pull request as such, of an issue as such."""
    world, by = call.world, writing.author(call)
    if issue.is_pull:
        own = pull.full(world, repository, repository.pulls[issue.number])
        fields: dict[str, Any] = {"number": issue.number, "pull_request": own}
        webhooks.emit(world, "pull_request", action, repository, by, **fields, **more)
    else:
        own = talk.issue(world, repository, issue)
        webhooks.emit(world, "issues", action, repository, by, issue=own, **more)

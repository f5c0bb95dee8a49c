"""What writing needs everywhere: who writes, limits of texts, the issue a path names."""

from __future__ import annotations

from github_simulator.asking import access
from github_simulator.call import Call
from github_simulator.rules import refusals
from github_simulator.things.accounts import Account
from github_simulator.things.conversation import Issue
from github_simulator.things.repository import Repository
from github_simulator.things.review import PullRequest

# issues/create 422: "body is too long (maximum is 65536 characters)".
BODY_LIMIT = 65_536
TITLE_LIMIT = 256


def author(call: Call) -> Account:
    return call.world.sender(call.actor)


def via_app(call: Call) -> int | None:
    return call.actor.app_id if call.actor.kind == "installation" else None


def check_title(title: str | None, resource: str) -> None:
    refusals.TITLE_BLANK.invalid(
        title is not None and not title.strip(), resource, "title", code="missing_field"
    )
    refusals.TITLE_LONG.invalid(
        title is not None and len(title) > TITLE_LIMIT,
        resource,
        "title",
        message=f"title is too long (maximum is {TITLE_LIMIT} characters)",
    )


def check_body(body: str | None, resource: str) -> None:
    refusals.BODY_LONG.invalid(
        body is not None and len(body) > BODY_LIMIT,
        resource,
        "body",
        message=f"body is too long (maximum is {BODY_LIMIT} characters)",
    )


def check_comment(body: str, resource: str) -> None:
    refusals.BODY_BLANK.invalid(
        not body.strip(), resource, "data", code="unprocessable", message="Body cannot be blank"
    )
    check_body(body, resource)


def issue(call: Call, repository: Repository) -> Issue:
    """The issue or pull request of the path's `issue_number`."""
    found = refusals.ISSUE_MISSING.found(repository.issues.get(int(call.params["issue_number"])))
    refusals.ISSUES_OFF.when(not repository.has_issues and not found.is_pull)
    access.require_issue_permission(call, is_pull=found.is_pull)
    return found


def pull(call: Call, repository: Repository) -> PullRequest:
    return refusals.PULL_MISSING.found(repository.pulls.get(int(call.params["pull_number"])))


def check_unlocked(call: Call, repository: Repository, issue: Issue) -> None:
    """In a locked conversation only those who can push go on talking."""
    refusals.LOCKED.when(issue.locked and not access.can_push(call, repository))


def touch(call: Call, issue: Issue) -> None:
    issue.updated_ms = call.now_ms

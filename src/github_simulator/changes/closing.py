"""Issues end: by hand, and by the words of a merged pull request ("Fixes #12")."""

from __future__ import annotations

import re

from github_simulator.changes import webhooks
from github_simulator.shapes import talk
from github_simulator.things.accounts import Account
from github_simulator.things.conversation import Issue
from github_simulator.things.repository import Repository
from github_simulator.world import World

# issues/linking-a-pull-request-to-an-issue: the keywords.
_CLOSES = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d{1,9})\b", re.IGNORECASE)


def close(
    world: World, repository: Repository, issue: Issue, by: Account, reason: str = "completed"
) -> None:
    issue.state, issue.state_reason = "closed", reason
    issue.closed_ms, issue.closed_by = world.now_ms(), by.id
    issue.updated_ms = world.now_ms()
    webhooks.emit(
        world, "issues", "closed", repository, by, issue=talk.issue(world, repository, issue)
    )


def reopen(world: World, repository: Repository, issue: Issue, by: Account) -> None:
    issue.state, issue.state_reason = "open", "reopened"
    issue.closed_ms = issue.closed_by = None
    issue.updated_ms = world.now_ms()
    webhooks.emit(
        world, "issues", "reopened", repository, by, issue=talk.issue(world, repository, issue)
    )


def close_mentioned(world: World, repository: Repository, body: str, by: Account) -> None:
    for number in dict.fromkeys(int(found) for found in _CLOSES.findall(body)):
        issue = repository.issues.get(number)
        if issue is not None and issue.state == "open" and not issue.is_pull:
            close(world, repository, issue, by)

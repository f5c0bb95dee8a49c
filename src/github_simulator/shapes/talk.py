"""Issues, comments, reactions."""

from __future__ import annotations

from typing import Any

from github_simulator.shapes import people, repo
from github_simulator.things.conversation import (
    REACTIONS,
    Comment,
    Issue,
    Reaction,
)
from github_simulator.things.repository import Repository
from github_simulator.things.stamps import maybe_stamp, node_id, stamp
from github_simulator.world import World


def issue(world: World, repository: Repository, issue: Issue) -> dict[str, Any]:
    """A pull request seen as an issue has its `pull_request`."""
    own = repo.api_url(world, repository)
    url = f"{own}/issues/{issue.number}"
    web = repo.web_url(world, repository)
    kind = "pull" if issue.is_pull else "issues"
    shape: dict[str, Any] = {
        "url": url,
        "repository_url": own,
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "html_url": f"{web}/{kind}/{issue.number}",
        "id": issue.id,
        "node_id": node_id("PR" if issue.is_pull else "I", issue.id),
        "number": issue.number,
        "title": issue.title,
        "user": people.user_by_id(world, issue.author_id),
        "labels": labels(world, repository, issue),
        "state": issue.state,
        "locked": issue.locked,
        "assignee": people.user_by_id(world, issue.assignees[0] if issue.assignees else None),
        "assignees": [people.user_by_id(world, each) for each in issue.assignees],
        "milestone": None,
        "comments": sum(c.number == issue.number for c in repository.comments.values()),
        "created_at": stamp(issue.created_ms),
        "updated_at": stamp(issue.updated_ms),
        "closed_at": maybe_stamp(issue.closed_ms),
        "author_association": people.association(world, repository, issue.author_id),
        "active_lock_reason": issue.lock_reason,
        "body": issue.body,
        "closed_by": people.user_by_id(world, issue.closed_by),
        "reactions": rollup(f"{url}/reactions", issue.reactions),
        "timeline_url": f"{url}/timeline",
        "performed_via_github_app": people.app_by_id(world, issue.app_id),
        "state_reason": issue.state_reason,
    }
    if issue.is_pull:
        pull = repository.pulls[issue.number]
        page = f"{web}/pull/{issue.number}"
        shape["draft"] = pull.draft
        shape["pull_request"] = {
            "url": f"{own}/pulls/{issue.number}",
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": maybe_stamp(pull.merged_ms),
        }
    return shape


def labels(world: World, repository: Repository, issue: Issue) -> list[dict[str, Any]]:
    return [repo.label(world, repository, repository.labels[name]) for name in issue.labels]


def comment(world: World, repository: Repository, comment: Comment) -> dict[str, Any]:
    issue = repository.issues[comment.number]
    url = f"{repo.api_url(world, repository)}/issues/comments/{comment.id}"
    kind = "pull" if issue.is_pull else "issues"
    page = f"{repo.web_url(world, repository)}/{kind}/{comment.number}"
    return {
        "url": url,
        "html_url": f"{page}#issuecomment-{comment.id}",
        "issue_url": f"{repo.api_url(world, repository)}/issues/{comment.number}",
        "id": comment.id,
        "node_id": node_id("IC", comment.id),
        "user": people.user_by_id(world, comment.author_id),
        "created_at": stamp(comment.created_ms),
        "updated_at": stamp(comment.updated_ms),
        "author_association": people.association(world, repository, comment.author_id),
        "body": comment.body,
        "reactions": rollup(f"{url}/reactions", comment.reactions),
        "performed_via_github_app": people.app_by_id(world, comment.app_id),
    }


def rollup(url: str, reactions: list[Reaction]) -> dict[str, Any]:
    counts = {name: sum(r.content == name for r in reactions) for name in REACTIONS}
    return {"url": url, "total_count": len(reactions), **counts}


def reaction(world: World, reaction: Reaction) -> dict[str, Any]:
    return {
        "id": reaction.id,
        "node_id": node_id("REA", reaction.id),
        "user": people.user_by_id(world, reaction.user_id),
        "content": reaction.content,
        "created_at": stamp(reaction.created_ms),
    }

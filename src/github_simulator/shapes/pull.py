"""Pull requests, reviews, line comments."""

from __future__ import annotations

from typing import Any

from github_simulator.shapes import mergeability, people, repo, talk
from github_simulator.things.repository import Repository
from github_simulator.things.review import (
    AutoMerge,
    PullRequest,
    Review,
    ReviewComment,
)
from github_simulator.things.stamps import maybe_stamp, node_id, stamp
from github_simulator.world import World


def simple(world: World, repository: Repository, pull: PullRequest) -> dict[str, Any]:
    """As in lists."""
    issue = repository.issues[pull.number]
    own = repo.api_url(world, repository)
    url = f"{own}/pulls/{pull.number}"
    page = f"{repo.web_url(world, repository)}/pull/{pull.number}"
    urls = {
        "html_url": page,
        "issue_url": f"{own}/issues/{pull.number}",
        "comments_url": f"{own}/issues/{pull.number}/comments",
        "review_comments_url": f"{url}/comments",
        "review_comment_url": f"{own}/pulls/comments{{/number}}",
        "commits_url": f"{url}/commits",
        "statuses_url": f"{own}/statuses/{pull.head_sha}",
    }
    links = {name.removesuffix("_url"): {"href": href} for name, href in urls.items()}
    return {
        "url": url,
        "id": issue.id,
        "node_id": node_id("PR", issue.id),
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        **urls,
        "number": pull.number,
        "state": issue.state,
        "locked": issue.locked,
        "title": issue.title,
        "user": people.user_by_id(world, issue.author_id),
        "body": issue.body,
        "created_at": stamp(issue.created_ms),
        "updated_at": stamp(issue.updated_ms),
        "closed_at": maybe_stamp(issue.closed_ms),
        "merged_at": maybe_stamp(pull.merged_ms),
        "merge_commit_sha": pull.merge_commit_sha,
        "assignee": people.user_by_id(world, issue.assignees[0] if issue.assignees else None),
        "assignees": [people.user_by_id(world, each) for each in issue.assignees],
        "requested_reviewers": [people.user_by_id(world, i) for i in pull.requested_reviewers],
        "requested_teams": [],
        "labels": talk.labels(world, repository, issue),
        "milestone": None,
        "draft": pull.draft,
        "head": _head(world, repository, pull),
        "base": _base(world, repository, pull),
        "_links": {"self": {"href": url}, **links},
        "author_association": people.association(world, repository, issue.author_id),
        "auto_merge": _auto_merge(world, pull.auto_merge),
        "active_lock_reason": issue.lock_reason,
    }


def full(
    world: World, repository: Repository, pull: PullRequest, *, asking: bool = False
) -> dict[str, Any]:
    """`asking` is whether somebody wants to know if it can be merged."""
    issue = repository.issues[pull.number]
    state = mergeability.look(world, repository, pull, asking=asking)
    changed = world.diffs(repository).between(pull.base_sha, pull.head_sha)
    threads = repository.review_comments.values()
    return {
        **simple(world, repository, pull),
        "merged": pull.merged,
        "mergeable": state.mergeable,
        "rebaseable": state.mergeable,
        "mergeable_state": state.name,
        "merged_by": people.user_by_id(world, pull.merged_by),
        "comments": sum(c.number == issue.number for c in repository.comments.values()),
        "review_comments": sum(comment.number == pull.number for comment in threads),
        "maintainer_can_modify": pull.maintainer_can_modify,
        "commits": world.git(repository).count(f"{pull.base_sha}..{pull.head_sha}"),
        "additions": sum(each.additions for each in changed),
        "deletions": sum(each.deletions for each in changed),
        "changed_files": len(changed),
    }


def minimal(world: World, repository: Repository, pull: PullRequest) -> dict[str, Any]:
    """As in a check run."""
    own = repo.api_url(world, repository)
    tiny = {"id": repository.id, "url": own, "name": repository.name}
    head_id = pull.head_repository_id
    head = repository if head_id is None else world.repositories[head_id]
    head_repo = {"id": head.id, "url": repo.api_url(world, head), "name": head.name}
    return {
        "url": f"{own}/pulls/{pull.number}",
        "id": repository.issues[pull.number].id,
        "number": pull.number,
        "head": {"ref": pull.head_ref, "sha": pull.head_sha, "repo": head_repo},
        "base": {"ref": pull.base_ref, "sha": pull.base_sha, "repo": tiny},
    }


def _head(world: World, repository: Repository, pull: PullRequest) -> dict[str, Any]:
    owner = world.accounts[pull.head_owner_id]
    found = world.repositories.get(pull.head_repository_id or 0)
    return {
        "label": f"{owner.login}:{pull.head_ref}",
        "ref": pull.head_ref,
        "sha": pull.head_sha,
        "user": people.user(world, owner),
        "repo": None if found is None else repo.repository(world, found),
    }


def _base(world: World, repository: Repository, pull: PullRequest) -> dict[str, Any]:
    owner = world.accounts[repository.owner_id]
    return {
        "label": f"{owner.login}:{pull.base_ref}",
        "ref": pull.base_ref,
        "sha": pull.base_sha,
        "user": people.user(world, owner),
        "repo": repo.repository(world, repository),
    }


def _auto_merge(world: World, auto: AutoMerge | None) -> dict[str, Any] | None:
    if auto is None:
        return None
    return {
        "enabled_by": people.user_by_id(world, auto.enabled_by),
        "merge_method": auto.method,
        "commit_title": auto.title or "",
        "commit_message": auto.message or "",
    }


def review(world: World, repository: Repository, review: Review) -> dict[str, Any]:
    page = f"{repo.web_url(world, repository)}/pull/{review.number}"
    url = f"{repo.api_url(world, repository)}/pulls/{review.number}"
    shape = {
        "id": review.id,
        "node_id": node_id("PRR", review.id),
        "user": people.user_by_id(world, review.user_id),
        "body": review.body,
        "state": review.state,
        "html_url": f"{page}#pullrequestreview-{review.id}",
        "pull_request_url": url,
        "author_association": people.association(world, repository, review.user_id),
        "_links": {
            "html": {"href": f"{page}#pullrequestreview-{review.id}"},
            "pull_request": {"href": url},
        },
        "commit_id": review.commit_sha,
    }
    # A pending review was not submitted.
    if review.submitted_ms is not None:
        shape["submitted_at"] = stamp(review.submitted_ms)
    return shape


def review_comment(world: World, repository: Repository, own: ReviewComment) -> dict[str, Any]:
    """A comment on lines that the head no longer has is outdated: it has no line and position."""
    page = f"{repo.web_url(world, repository)}/pull/{own.number}#discussion_r{own.id}"
    pull_url = f"{repo.api_url(world, repository)}/pulls/{own.number}"
    url = f"{repo.api_url(world, repository)}/pulls/comments/{own.id}"
    here = None if own.outdated else own.position
    shape: dict[str, Any] = {
        "url": url,
        "pull_request_review_id": own.review_id,
        "id": own.id,
        "node_id": node_id("PRRC", own.id),
        "diff_hunk": own.diff_hunk,
        "path": own.path,
        "commit_id": own.commit_sha,
        "original_commit_id": own.original_sha,
        "user": people.user_by_id(world, own.user_id),
        "body": own.body,
        "created_at": stamp(own.created_ms),
        "updated_at": stamp(own.updated_ms),
        "html_url": page,
        "pull_request_url": pull_url,
        "author_association": people.association(world, repository, own.user_id),
        "_links": {
            "self": {"href": url},
            "html": {"href": page},
            "pull_request": {"href": pull_url},
        },
        "reactions": talk.rollup(f"{url}/reactions", own.reactions),
        "start_line": None if own.outdated else own.start_line,
        "original_start_line": own.start_line,
        "start_side": own.start_side,
        "line": None if own.outdated else own.line,
        "original_line": own.line,
        "side": own.side,
        "original_position": own.position,
        "position": here,
        "subject_type": own.subject,
    }
    if own.reply_to is not None:
        shape["in_reply_to_id"] = own.reply_to
    return shape

"""Comments on issues and pull requests."""

from __future__ import annotations

from typing import Any

from github_simulator.asking import access
from github_simulator.asking.paging import page
from github_simulator.call import Answer, Call, Field, Route
from github_simulator.changes import webhooks, writing
from github_simulator.rules import refusals
from github_simulator.shapes import talk
from github_simulator.things.conversation import Comment
from github_simulator.things.repository import Repository
from github_simulator.things.stamps import parse_stamp


def every(call: Call) -> Answer:
    repository = access.repository(call)
    issue = writing.issue(call, repository)
    found = [c for c in repository.comments.values() if c.number == issue.number]
    since = parse_stamp(call.query.get("since", ""))
    if since is not None:
        found = [comment for comment in found if comment.updated_ms >= since]
    return page(call, found, lambda comment: talk.comment(call.world, repository, comment))


def get(call: Call) -> Answer:
    repository = access.repository(call)
    return Answer(body=talk.comment(call.world, repository, find(call, repository)))


def create(call: Call) -> Answer:
    repository, body = access.repository(call), call.body["body"]
    issue = writing.issue(call, repository)
    writing.check_unlocked(call, repository, issue)
    writing.check_comment(body, "IssueComment")
    comment = Comment(
        id=call.world.next_id(),
        number=issue.number,
        body=body,
        author_id=writing.author(call).id,
        app_id=writing.via_app(call),
        created_ms=call.now_ms,
        updated_ms=call.now_ms,
    )
    repository.comments[comment.id] = comment
    writing.touch(call, issue)
    tell(call, repository, comment, "created")
    shape = talk.comment(call.world, repository, comment)
    return Answer(status=201, body=shape, headers={"location": shape["url"]})


def update(call: Call) -> Answer:
    repository, body = access.repository(call), call.body["body"]
    comment = find(call, repository)
    _check_own(call, repository, comment)
    writing.check_comment(body, "IssueComment")
    before, comment.body = comment.body, body
    comment.updated_ms = call.now_ms
    if before != body:
        tell(call, repository, comment, "edited", changes={"body": {"from": before}})
    return Answer(body=talk.comment(call.world, repository, comment))


def delete(call: Call) -> Answer:
    repository = access.repository(call)
    comment = find(call, repository)
    _check_own(call, repository, comment)
    del repository.comments[comment.id]
    tell(call, repository, comment, "deleted")
    return Answer(status=204)


def find(call: Call, repository: Repository) -> Comment:
    comment = repository.comments.get(int(call.params["comment_id"]))
    comment = refusals.COMMENT_MISSING.found(comment)
    is_pull = repository.issues[comment.number].is_pull
    access.require_issue_permission(call, is_pull=is_pull)
    return comment


def _check_own(call: Call, repository: Repository, comment: Comment) -> None:
    trusted = call.actor.kind == "installation" or access.can_push(call, repository)
    own = comment.author_id == writing.author(call).id
    refusals.NOT_AUTHOR.when(not trusted and not own)


def tell(call: Call, repository: Repository, comment: Comment, action: str, **more: Any) -> None:
    world = call.world
    webhooks.emit(
        world,
        "issue_comment",
        action,
        repository,
        writing.author(call),
        issue=talk.issue(world, repository, repository.issues[comment.number]),
        comment=talk.comment(world, repository, comment),
        **more,
    )


_READ = (("issues", "read"), ("pull_requests", "read"))
_WRITE = (("issues", "write"), ("pull_requests", "write"))
_OF = "/repos/{owner}/{repo}/issues/{issue_number}/comments"
_ONE = "/repos/{owner}/{repo}/issues/comments/{comment_id}"
_BODY = (Field(name="body", required=True),)

ROUTES = (
    Route(method="GET", template=_OF, operation="issues/list-comments", needs=_READ, handler=every),
    Route(
        method="POST",
        template=_OF,
        operation="issues/create-comment",
        needs=_WRITE,
        body=_BODY,
        handler=create,
    ),
    Route(method="GET", template=_ONE, operation="issues/get-comment", needs=_READ, handler=get),
    Route(
        method="PATCH",
        template=_ONE,
        operation="issues/update-comment",
        needs=_WRITE,
        body=_BODY,
        handler=update,
    ),
    Route(
        method="DELETE",
        template=_ONE,
        operation="issues/delete-comment",
        needs=_WRITE,
        handler=delete,
    ),
)

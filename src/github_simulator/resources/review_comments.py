"""Comments on lines of a diff, and the threads they make."""

from __future__ import annotations

from github_simulator.asking import access
from github_simulator.asking.paging import page
from github_simulator.call import Answer, Call, Field, Route
from github_simulator.changes import placing, webhooks, writing
from github_simulator.changes.placing import Misplaced, Place
from github_simulator.rules import refusals
from github_simulator.shapes import pull as shape
from github_simulator.things.repository import Repository
from github_simulator.things.review import PullRequest, Review, ReviewComment
from github_simulator.things.stamps import parse_stamp

_KIND = "PullRequestReviewComment"


def every(call: Call) -> Answer:
    repository = access.repository(call)
    pull = writing.pull(call, repository)
    return _page(call, repository, [c for c in _submitted(repository) if c.number == pull.number])


def every_here(call: Call) -> Answer:
    repository = access.repository(call)
    return _page(call, repository, _submitted(repository))


def _submitted(repository: Repository) -> list[ReviewComment]:
    """Those of a review that is still pending are nobody's business."""
    comments = repository.review_comments.values()
    return [each for each in comments if repository.reviews[each.review_id].state != "PENDING"]


def _page(call: Call, repository: Repository, found: list[ReviewComment]) -> Answer:
    since = parse_stamp(call.query.get("since", ""))
    if since is not None:
        found = [each for each in found if each.updated_ms >= since]
    key = "updated_ms" if call.query.get("sort") == "updated" else "created_ms"
    descending = call.query.get("direction") == "desc"
    found.sort(key=lambda each: (getattr(each, key), each.id), reverse=descending)
    return page(call, found, lambda each: shape.review_comment(call.world, repository, each))


def get(call: Call) -> Answer:
    repository = access.repository(call)
    return Answer(body=shape.review_comment(call.world, repository, find(call, repository)))


def create(call: Call) -> Answer:
    repository, body = access.repository(call), call.body
    pull = writing.pull(call, repository)
    writing.check_unlocked(call, repository, repository.issues[pull.number])
    writing.check_comment(body["body"], _KIND)
    if body.get("in_reply_to") is not None:
        return _reply(call, repository, pull, body["in_reply_to"])
    refusals.COMMENT_COMMIT.invalid(
        not placing.in_pull(call.world, repository, pull, body["commit_id"]),
        _KIND,
        "pull_request_review_thread.commit_id",
        message="pull_request_review_thread.commit_id is not part of the pull request",
    )
    place = _place(call, repository, pull)
    review = _own_review(call, repository, pull, body["commit_id"])
    comment = add(call, repository, review, body["body"], place)
    return _made(call, repository, comment)


def _place(call: Call, repository: Repository, pull: PullRequest) -> Place:
    body = call.body
    found = placing.place(call.world, repository, pull, body["commit_id"], body)
    if isinstance(found, Place):
        return found
    field = f"pull_request_review_thread.{found.field}"
    _refuse(found, field)
    return Place(path=body["path"], line=body.get("line"))


def _refuse(found: Misplaced, field: str) -> None:
    refusals.COMMENT_PATH.invalid(found.kind == "path", _KIND, field, code="invalid")
    refusals.COMMENT_LINE_MISSING.invalid(
        found.kind == "missing", _KIND, field, code="missing_field"
    )
    refusals.COMMENT_RANGE.invalid(
        found.kind == "range", _KIND, field, message=f"{field} must precede the end line."
    )
    refusals.COMMENT_HUNK.invalid(
        found.kind == "hunk",
        _KIND,
        field,
        message=f"{field} must be part of the same hunk as the line.",
    )
    refusals.COMMENT_LINES.when(
        found.kind == "line",
        errors=[
            {
                "resource": _KIND,
                "code": "custom",
                "field": field,
                "message": f"{field} must be part of the diff",
            },
            {
                "resource": _KIND,
                "code": "missing_field",
                "field": "pull_request_review_thread.diff_hunk",
            },
        ],
    )


def reply(call: Call) -> Answer:
    repository = access.repository(call)
    pull = writing.pull(call, repository)
    writing.check_unlocked(call, repository, repository.issues[pull.number])
    writing.check_comment(call.body["body"], _KIND)
    return _reply(call, repository, pull, int(call.params["comment_id"]))


def _reply(call: Call, repository: Repository, pull: PullRequest, first_id: int) -> Answer:
    found = repository.review_comments.get(first_id)
    first = refusals.REVIEW_COMMENT_MISSING.found(
        found if found is not None and found.number == pull.number else None
    )
    refusals.REPLY_TO_REPLY.when(first.reply_to is not None)
    review = _own_review(call, repository, pull, pull.head_sha)
    place = Place(
        path=first.path,
        diff_hunk=first.diff_hunk,
        line=first.line,
        side=first.side,
        start_line=first.start_line,
        start_side=first.start_side,
        position=first.position,
        subject=first.subject,
    )
    comment = add(call, repository, review, call.body["body"], place, reply_to=first.id)
    return _made(call, repository, comment)


def _own_review(call: Call, repository: Repository, pull: PullRequest, commit: str) -> Review:
    """A single comment is a review of its own."""
    review = Review(
        id=call.world.next_id(),
        number=pull.number,
        user_id=writing.author(call).id,
        app_id=writing.via_app(call),
        body="",
        state="COMMENTED",
        commit_sha=commit,
        submitted_ms=call.now_ms,
    )
    repository.reviews[review.id] = review
    return review


def add(
    call: Call,
    repository: Repository,
    review: Review,
    body: str,
    place: Place,
    reply_to: int | None = None,
) -> ReviewComment:
    comment = ReviewComment(
        id=call.world.next_id(),
        number=review.number,
        review_id=review.id,
        user_id=review.user_id,
        app_id=review.app_id,
        body=body,
        path=place.path,
        commit_sha=review.commit_sha,
        original_sha=review.commit_sha,
        diff_hunk=place.diff_hunk,
        created_ms=call.now_ms,
        updated_ms=call.now_ms,
        line=place.line,
        side=place.side,
        start_line=place.start_line,
        start_side=place.start_side,
        position=place.position,
        subject=place.subject,
        reply_to=reply_to,
    )
    repository.review_comments[comment.id] = comment
    return comment


def _made(call: Call, repository: Repository, comment: ReviewComment) -> Answer:
    tell(call, repository, comment)
    made = shape.review_comment(call.world, repository, comment)
    return Answer(status=201, body=made, headers={"location": made["url"]})


def tell(call: Call, repository: Repository, comment: ReviewComment) -> None:
    webhooks.emit(
        call.world,
        "pull_request_review_comment",
        "created",
        repository,
        writing.author(call),
        comment=shape.review_comment(call.world, repository, comment),
        pull_request=shape.simple(call.world, repository, repository.pulls[comment.number]),
    )


def find(call: Call, repository: Repository) -> ReviewComment:
    return refusals.REVIEW_COMMENT_MISSING.found(
        repository.review_comments.get(int(call.params["comment_id"]))
    )


_OF = "/repos/{owner}/{repo}/pulls/{pull_number}/comments"
_HERE = "/repos/{owner}/{repo}/pulls/comments"
_READ, _WRITE = (("pull_requests", "read"),), (("pull_requests", "write"),)
_NUMBER = ("integer",)
_ORDER = {"sort": ("created", "updated"), "direction": ("asc", "desc")}

ROUTES = (
    Route(
        method="GET",
        template=_OF,
        operation="pulls/list-review-comments",
        needs=_READ,
        choices=_ORDER,
        handler=every,
    ),
    Route(
        method="GET",
        template=_HERE,
        operation="pulls/list-review-comments-for-repo",
        needs=_READ,
        handler=every_here,
    ),
    Route(
        method="GET",
        template=_HERE + "/{comment_id}",
        operation="pulls/get-review-comment",
        needs=_READ,
        handler=get,
    ),
    Route(
        method="POST",
        template=_OF,
        operation="pulls/create-review-comment",
        needs=_WRITE,
        body=(
            Field(name="body", required=True),
            Field(name="commit_id", required=True),
            Field(name="path", required=True),
            Field(name="position", kinds=_NUMBER),
            Field(name="side", enum=("LEFT", "RIGHT")),
            Field(name="line", kinds=_NUMBER),
            Field(name="start_line", kinds=_NUMBER),
            Field(name="start_side", enum=("LEFT", "RIGHT", "side")),
            Field(name="in_reply_to", kinds=_NUMBER),
            Field(name="subject_type", enum=("line", "file")),
        ),
        handler=create,
    ),
    Route(
        method="POST",
        template=_OF + "/{comment_id}/replies",
        operation="pulls/create-reply-for-review-comment",
        needs=_WRITE,
        body=(Field(name="body", required=True),),
        handler=reply,
    ),
)

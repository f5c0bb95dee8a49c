"""Reviews: made with their comments at once, submitted, dismissed."""

from __future__ import annotations

from typing import Any

from github_simulator.asking import access
from github_simulator.asking.paging import page
from github_simulator.call import Answer, Call, Field, Route
from github_simulator.changes import merging, placing, webhooks, writing
from github_simulator.resources import review_comments
from github_simulator.rules import refusals
from github_simulator.shapes import pull as shape
from github_simulator.things.repository import Repository
from github_simulator.things.review import PullRequest, Review

_STATES = {
    "APPROVE": "APPROVED",
    "REQUEST_CHANGES": "CHANGES_REQUESTED",
    "COMMENT": "COMMENTED",
}
_OWN = {
    "APPROVE": "Can not approve your own pull request",
    "REQUEST_CHANGES": "Can not request changes on your own pull request",
}
_WHY = {
    "path": "Path could not be resolved",
    "line": "Line could not be resolved",
    "range": "Start line must precede the end line",
    "hunk": "Start line must be part of the same hunk as the line.",
    "missing": "Line must be given",
}


def every(call: Call) -> Answer:
    repository = access.repository(call)
    pull = writing.pull(call, repository)
    me = call.world.sender(call.actor).id if call.actor.kind != "nobody" else 0
    found = [
        review
        for review in repository.reviews.values()
        if review.number == pull.number and (review.state != "PENDING" or review.user_id == me)
    ]
    return page(call, found, lambda review: shape.review(call.world, repository, review))


def get(call: Call) -> Answer:
    repository = access.repository(call)
    return Answer(body=shape.review(call.world, repository, _find(call, repository)))


def create(call: Call) -> Answer:
    repository, body = access.repository(call), call.body
    pull = writing.pull(call, repository)
    writing.check_unlocked(call, repository, repository.issues[pull.number])
    event, comments = body.get("event"), body.get("comments") or []
    _check_event(call, repository, pull, event, body.get("body"), bool(comments))
    author = writing.author(call)
    refusals.REVIEW_PENDING.when(
        any(
            (each.number, each.user_id, each.state) == (pull.number, author.id, "PENDING")
            for each in repository.reviews.values()
        ),
        errors=["User can only have one pending review per pull request"],
    )
    commit = body.get("commit_id", pull.head_sha)
    refusals.REVIEW_COMMIT.when(
        not placing.in_pull(call.world, repository, pull, commit),
        errors=["Commit is not part of the pull request"],
    )
    places = [_place(call, repository, pull, commit, each) for each in comments]
    review = Review(
        id=call.world.next_id(),
        number=pull.number,
        user_id=author.id,
        app_id=writing.via_app(call),
        body=body.get("body") or "",
        state=_STATES[event] if event else "PENDING",
        commit_sha=commit,
        submitted_ms=call.now_ms if event else None,
    )
    repository.reviews[review.id] = review
    for asked, place in zip(comments, places, strict=True):
        review_comments.add(call, repository, review, asked["body"], place)
    if event:
        _submitted(call, repository, pull, review)
    return Answer(body=shape.review(call.world, repository, review))


def _place(
    call: Call, repository: Repository, pull: PullRequest, commit: str, asked: dict[str, Any]
) -> placing.Place:
    writing.check_comment(asked["body"], "PullRequestReviewComment")
    found = placing.place(call.world, repository, pull, commit, asked)
    if isinstance(found, placing.Misplaced):
        rule = refusals.REVIEW_PATH if found.kind == "path" else refusals.REVIEW_LINES
        rule.when(True, errors=[_WHY[found.kind]])
        return placing.Place(path=asked["path"], line=asked.get("line"))
    return found


def _check_event(
    call: Call,
    repository: Repository,
    pull: PullRequest,
    event: str | None,
    body: str | None,
    with_comments: bool,
) -> None:
    own = repository.issues[pull.number].author_id == writing.author(call).id
    refusals.OWN_REVIEW.when(own and event in _OWN, errors=[_OWN.get(event or "", "")])
    silent = not (body or "").strip()
    wanted = event == "REQUEST_CHANGES" or (event == "COMMENT" and not with_comments)
    refusals.REVIEW_BODY.when(silent and wanted, errors=["Body can't be blank"])
    writing.check_body(body, "PullRequestReview")


def submit(call: Call) -> Answer:
    repository = access.repository(call)
    pull = writing.pull(call, repository)
    review = _find(call, repository)
    refusals.REVIEW_NOT_PENDING.when(review.state != "PENDING")
    event, body = call.body["event"], call.body.get("body", review.body)
    comments = [c for c in repository.review_comments.values() if c.review_id == review.id]
    _check_event(call, repository, pull, event, body, bool(comments))
    review.body, review.state, review.submitted_ms = body or "", _STATES[event], call.now_ms
    _submitted(call, repository, pull, review)
    return Answer(body=shape.review(call.world, repository, review))


def dismiss(call: Call) -> Answer:
    repository = access.repository(call)
    review = _find(call, repository)
    refusals.REVIEW_NOT_DISMISSABLE.when(
        review.state not in ("APPROVED", "CHANGES_REQUESTED"),
        f"Can not dismiss a {review.state.lower()} pull request review",
    )
    review.state = "DISMISSED"
    _tell(call, repository, review, "dismissed")
    merging.look_again(call.world, repository, repository.pulls[review.number].head_sha)
    return Answer(body=shape.review(call.world, repository, review))


def comments_of(call: Call) -> Answer:
    repository = access.repository(call)
    review = _find(call, repository)
    found = [c for c in repository.review_comments.values() if c.review_id == review.id]
    return page(call, found, lambda each: _in_review(call, repository, each))


def _in_review(call: Call, repository: Repository, comment: Any) -> dict[str, Any]:
    return shape.review_comment(call.world, repository, comment)


def _find(call: Call, repository: Repository) -> Review:
    pull = writing.pull(call, repository)
    found = repository.reviews.get(int(call.params["review_id"]))
    return refusals.REVIEW_MISSING.found(
        found if found is not None and found.number == pull.number else None
    )


def _submitted(call: Call, repository: Repository, pull: PullRequest, review: Review) -> None:
    if review.user_id in pull.requested_reviewers:
        pull.requested_reviewers.remove(review.user_id)
    writing.touch(call, repository.issues[pull.number])
    _tell(call, repository, review, "submitted")
    for comment in repository.review_comments.values():
        if comment.review_id == review.id:
            review_comments.tell(call, repository, comment)
    merging.look_again(call.world, repository, pull.head_sha)


def _tell(call: Call, repository: Repository, review: Review, action: str) -> None:
    """In a webhook the state is in lower case."""
    world, pull = call.world, repository.pulls[review.number]
    own = shape.review(world, repository, review)
    webhooks.emit(
        world,
        "pull_request_review",
        action,
        repository,
        writing.author(call),
        review={**own, "state": review.state.lower(), "body": review.body or None},
        pull_request=shape.simple(world, repository, pull),
    )


_ALL = "/repos/{owner}/{repo}/pulls/{pull_number}/reviews"
_ONE = _ALL + "/{review_id}"
_READ, _WRITE = (("pull_requests", "read"),), (("pull_requests", "write"),)
_NUMBER = ("integer",)
_EVENTS = ("APPROVE", "REQUEST_CHANGES", "COMMENT")

ROUTES = (
    Route(method="GET", template=_ALL, operation="pulls/list-reviews", needs=_READ, handler=every),
    Route(
        method="POST",
        template=_ALL,
        operation="pulls/create-review",
        needs=_WRITE,
        body=(
            Field(name="commit_id"),
            Field(name="body"),
            Field(name="event", enum=_EVENTS),
            Field(
                name="comments",
                kinds=("array",),
                items=("object",),
                fields=(
                    Field(name="path", required=True),
                    Field(name="body", required=True),
                    Field(name="position", kinds=_NUMBER),
                    Field(name="line", kinds=_NUMBER),
                    Field(name="side"),
                    Field(name="start_line", kinds=_NUMBER),
                    Field(name="start_side"),
                ),
            ),
        ),
        handler=create,
    ),
    Route(method="GET", template=_ONE, operation="pulls/get-review", needs=_READ, handler=get),
    Route(
        method="POST",
        template=_ONE + "/events",
        operation="pulls/submit-review",
        needs=_WRITE,
        body=(Field(name="event", required=True, enum=_EVENTS), Field(name="body")),
        handler=submit,
    ),
    Route(
        method="PUT",
        template=_ONE + "/dismissals",
        operation="pulls/dismiss-review",
        needs=_WRITE,
        role="write",
        body=(Field(name="message", required=True), Field(name="event", enum=("DISMISS",))),
        handler=dismiss,
    ),
    Route(
        method="GET",
        template=_ONE + "/comments",
        operation="pulls/list-comments-for-review",
        needs=_READ,
        handler=comments_of,
    ),
)

"""Reactions on issues, comments and line comments. Nobody is told of them."""

from __future__ import annotations

from collections.abc import Callable

from github_simulator.asking import access
from github_simulator.asking.paging import page
from github_simulator.call import Answer, Call, Field, Route
from github_simulator.changes import writing
from github_simulator.resources import comments, review_comments
from github_simulator.rules import refusals
from github_simulator.shapes import talk
from github_simulator.things.conversation import REACTIONS, Reaction
from github_simulator.things.repository import Repository

Find = Callable[[Call, Repository], list[Reaction]]


def _of_issue(call: Call, repository: Repository) -> list[Reaction]:
    return writing.issue(call, repository).reactions


def _of_comment(call: Call, repository: Repository) -> list[Reaction]:
    return comments.find(call, repository).reactions


def _of_line(call: Call, repository: Repository) -> list[Reaction]:
    return review_comments.find(call, repository).reactions


def _every(find: Find) -> Callable[[Call], Answer]:
    def every(call: Call) -> Answer:
        found = find(call, access.repository(call))
        wanted = call.query.get("content")
        kept = [each for each in found if wanted in (None, each.content)]
        return page(call, kept, lambda each: talk.reaction(call.world, each))

    return every


def _create(find: Find) -> Callable[[Call], Answer]:
    def create(call: Call) -> Answer:
        """The same by the same account is there already: 200, and no second one."""
        reactions, user = find(call, access.repository(call)), writing.author(call)
        for each in reactions:
            if (each.user_id, each.content) == (user.id, call.body["content"]):
                return Answer(body=talk.reaction(call.world, each))
        made = Reaction(
            id=call.world.next_id(),
            user_id=user.id,
            content=call.body["content"],
            created_ms=call.now_ms,
        )
        reactions.append(made)
        return Answer(status=201, body=talk.reaction(call.world, made))

    return create


def _delete(find: Find) -> Callable[[Call], Answer]:
    def delete(call: Call) -> Answer:
        """One's own only: those of others do not exist for this."""
        reactions, user = find(call, access.repository(call)), writing.author(call)
        wanted = int(call.params["reaction_id"])
        own = (each for each in reactions if (each.id, each.user_id) == (wanted, user.id))
        reactions.remove(refusals.REACTION_MISSING.found(next(own, None)))
        return Answer(status=204)

    return delete


def _routes(name: str, at: str, delete: str, find: Find, on: tuple[str, ...]) -> list[Route]:
    read = tuple((each, "read") for each in on)
    write = tuple((each, "write") for each in on)
    template = "/repos/{owner}/{repo}" + at + "/reactions"
    content = (Field(name="content", required=True, enum=REACTIONS),)
    return [
        Route(
            method="GET",
            template=template,
            operation=f"reactions/list-for-{name}",
            needs=read,
            choices={"content": REACTIONS},
            handler=_every(find),
        ),
        Route(
            method="POST",
            template=template,
            operation=f"reactions/create-for-{name}",
            needs=write,
            body=content,
            handler=_create(find),
        ),
        Route(
            method="DELETE",
            template=template + "/{reaction_id}",
            operation=f"reactions/{delete}",
            needs=write,
            handler=_delete(find),
        ),
    ]


_BOTH = ("issues", "pull_requests")
_PULLS = ("pull_requests",)
_LINE = "/pulls/comments/{comment_id}"
ROUTES = (
    *_routes("issue", "/issues/{issue_number}", "delete-for-issue", _of_issue, _BOTH),
    *_routes(
        "issue-comment",
        "/issues/comments/{comment_id}",
        "delete-for-issue-comment",
        _of_comment,
        _BOTH,
    ),
    *_routes(
        "pull-request-review-comment", _LINE, "delete-for-pull-request-comment", _of_line, _PULLS
    ),
)

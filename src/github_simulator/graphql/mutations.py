"""The six mutations: drafts, auto-merge, resolving of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from github_simulator.asking import access
from github_simulator.call import Call
from github_simulator.changes import merging, pulling, webhooks, writing
from github_simulator.graphql.connection import Argument, Node, Property
from github_simulator.graphql.schema import (
    find_node,
    pull_node,
    thread_node,
)
from github_simulator.rules import refusals
from github_simulator.shapes import mergeability
from github_simulator.shapes import pull as shape
from github_simulator.things.accounts import role_at_least
from github_simulator.things.repository import Repository
from github_simulator.things.review import AutoMerge, PullRequest
from github_simulator.things.stamps import node_id

_METHODS = {
    "MERGE": "allow_merge_commit",
    "SQUASH": "allow_squash_merge",
    "REBASE": "allow_rebase_merge",
}


class Mutation(msgspec.Struct, frozen=True, kw_only=True):
    """`inputs` are the fields of its one argument `input`."""

    payload: str
    act: Callable[[Call, dict[str, Any]], Node]
    inputs: dict[str, Argument]


def _find_pull(call: Call, given: dict[str, Any]) -> tuple[Repository, PullRequest]:
    node = find_node(call, given["pullRequestId"], ("PullRequest",))
    assert node.repository is not None and node.pull is not None
    return node.repository, node.pull


def _allow(
    call: Call, repository: Repository, wanted: tuple[str, ...], *, author_id: int | None = None
) -> None:
    """An installation needs the permissions, a person write access or to be the author."""
    actor = call.actor
    refusals.ARCHIVED.when(repository.archived)
    if actor.kind == "installation":
        reached = access.reaches(call.world, actor, repository)
        lacking = not reached or not all(access.permits(actor, each, "write") for each in wanted)
        refusals.GRAPHQL_FORBIDDEN.when(lacking)
        return
    role = access.role(call.world, actor, repository)
    narrow = not all(access.permits(actor, each, "write") for each in wanted)
    may = not narrow and (role_at_least(role, "write") or actor.account_id == author_id)
    refusals.GRAPHQL_FORBIDDEN.when(
        not may,
        f"{actor.login} does not have the correct permissions to execute this mutation",
    )


def _author(repository: Repository, pull: PullRequest) -> int:
    return repository.issues[pull.number].author_id


def _is_closed(repository: Repository, pull: PullRequest) -> bool:
    return repository.issues[pull.number].state == "closed"


def _set_draft(call: Call, given: dict[str, Any], draft: bool, action: str) -> Node:
    repository, pull = _find_pull(call, given)
    _allow(call, repository, ("pull_requests",), author_id=_author(repository, pull))
    refusals.DRAFT_CLOSED.when(_is_closed(repository, pull))
    if pull.draft != draft:
        pull.draft = draft
        pull.auto_merge = None if draft else pull.auto_merge
        writing.touch(call, repository.issues[pull.number])
        pulling.tell(call.world, repository, pull, action, writing.author(call))
    return _payload(call, given, pullRequest=pull_node(repository, pull))


def mark_ready(call: Call, given: dict[str, Any]) -> Node:
    return _set_draft(call, given, False, "ready_for_review")


def make_draft(call: Call, given: dict[str, Any]) -> Node:
    return _set_draft(call, given, True, "converted_to_draft")


def enable_auto_merge(call: Call, given: dict[str, Any]) -> Node:
    repository, pull = _find_pull(call, given)
    _allow(call, repository, ("contents", "pull_requests"))
    method = given.get("mergeMethod") or "MERGE"
    refusals.AUTO_MERGE_OFF.when(not repository.allow_auto_merge)
    refusals.AUTO_MERGE_CLOSED.when(_is_closed(repository, pull))
    refusals.AUTO_MERGE_DRAFT.when(pull.draft)
    refusals.AUTO_MERGE_UNPROTECTED.when(pull.base_ref not in repository.protections)
    refusals.AUTO_MERGE_METHOD.when(
        not getattr(repository, _METHODS[method]),
        f"Merge method {method.lower()} merging is not allowed on this repository",
    )
    wanted = given.get("expectedHeadOid")
    refusals.AUTO_MERGE_HEAD.when(wanted is not None and wanted != pull.head_sha)
    state = mergeability.compute(call.world, repository, pull).name
    refusals.AUTO_MERGE_CLEAN.when(state == "clean")
    refusals.AUTO_MERGE_UNSTABLE.when(state == "unstable")
    pull.auto_merge = AutoMerge(
        enabled_by=writing.author(call).id,
        method=method.lower(),
        title=given.get("commitHeadline"),
        message=given.get("commitBody"),
        app_id=call.actor.app_id,
    )
    pulling.tell(call.world, repository, pull, "auto_merge_enabled", writing.author(call))
    made = pull_node(repository, pull)
    return _payload(call, given, pullRequest=made, actor=_me(call))


def disable_auto_merge(call: Call, given: dict[str, Any]) -> Node:
    repository, pull = _find_pull(call, given)
    _allow(call, repository, ("contents", "pull_requests"), author_id=_author(repository, pull))
    refusals.AUTO_MERGE_NOT_ON.when(pull.auto_merge is None)
    pull.auto_merge = None
    pulling.tell(call.world, repository, pull, "auto_merge_disabled", writing.author(call))
    made = pull_node(repository, pull)
    return _payload(call, given, pullRequest=made, actor=_me(call))


def _set_resolved(call: Call, given: dict[str, Any], resolved: bool) -> Node:
    node = find_node(call, given["threadId"], ("PullRequestReviewThread",))
    repository, pull, first = node.repository, node.pull, node.comment
    assert repository is not None and pull is not None and first is not None
    _allow(call, repository, ("pull_requests",), author_id=_author(repository, pull))
    if (first.resolved_by is not None) != resolved:
        author = writing.author(call)
        first.resolved_by = author.id if resolved else None
        comments = [
            shape.review_comment(call.world, repository, each)
            for each in repository.review_comments.values()
            if first.id in (each.id, each.reply_to)
        ]
        webhooks.emit(
            call.world,
            "pull_request_review_thread",
            "resolved" if resolved else "unresolved",
            repository,
            author,
            pull_request=shape.simple(call.world, repository, pull),
            thread={"node_id": node_id("PRRT", first.id), "comments": comments},
        )
        merging.look_again(call.world, repository, pull.head_sha)
    return _payload(call, given, thread=thread_node(repository, first))


def _me(call: Call) -> Node:
    return Node(type="Actor", account=writing.author(call))


def _payload(call: Call, given: dict[str, Any], **made: Any) -> Node:
    return Node(type="", made={**made, "clientMutationId": given.get("clientMutationId")})


def _made(type_: str, name: str) -> Property:
    return Property(type=type_, resolve=lambda call, node, _: node.made.get(name))


_MARK = Argument(type="String")
_PULL = {"pullRequestId": Argument(type="ID", required=True), "clientMutationId": _MARK}
_THREAD = {"threadId": Argument(type="ID", required=True), "clientMutationId": _MARK}

MUTATIONS = {
    "markPullRequestReadyForReview": Mutation(
        payload="MarkPullRequestReadyForReviewPayload", act=mark_ready, inputs=_PULL
    ),
    "convertPullRequestToDraft": Mutation(
        payload="ConvertPullRequestToDraftPayload", act=make_draft, inputs=_PULL
    ),
    "enablePullRequestAutoMerge": Mutation(
        payload="EnablePullRequestAutoMergePayload",
        act=enable_auto_merge,
        inputs={
            **_PULL,
            "mergeMethod": Argument(type="PullRequestMergeMethod"),
            "commitHeadline": Argument(type="String"),
            "commitBody": Argument(type="String"),
            "authorEmail": Argument(type="String"),
            "expectedHeadOid": Argument(type="GitObjectID"),
        },
    ),
    "disablePullRequestAutoMerge": Mutation(
        payload="DisablePullRequestAutoMergePayload", act=disable_auto_merge, inputs=_PULL
    ),
    "resolveReviewThread": Mutation(
        payload="ResolveReviewThreadPayload",
        act=lambda call, given: _set_resolved(call, given, True),
        inputs=_THREAD,
    ),
    "unresolveReviewThread": Mutation(
        payload="UnresolveReviewThreadPayload",
        act=lambda call, given: _set_resolved(call, given, False),
        inputs=_THREAD,
    ),
}

ENUMS = {"PullRequestMergeMethod": tuple(_METHODS)}

_ID = _made("String", "clientMutationId")
_DRAFT = {"clientMutationId": _ID, "pullRequest": _made("PullRequest", "pullRequest")}
_AUTO = {**_DRAFT, "actor": _made("Actor", "actor")}
_RESOLVED = {"clientMutationId": _ID, "thread": _made("PullRequestReviewThread", "thread")}
PAYLOADS: dict[str, dict[str, Property]] = {
    "MarkPullRequestReadyForReviewPayload": _DRAFT,
    "ConvertPullRequestToDraftPayload": _DRAFT,
    "EnablePullRequestAutoMergePayload": _AUTO,
    "DisablePullRequestAutoMergePayload": _AUTO,
    "ResolveReviewThreadPayload": _RESOLVED,
    "UnresolveReviewThreadPayload": _RESOLVED,
}

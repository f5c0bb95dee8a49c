"""The types that can be asked for: of GitHub's schema the part about pull requests and threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from github_simulator.asking import access
from github_simulator.call import Call
from github_simulator.graphql.connection import (
    PAGE,
    Argument,
    Node,
    Property,
    connection,
    connection_type,
    scalar,
)
from github_simulator.rules import refusals
from github_simulator.shapes import mergeability, people, pull, repo
from github_simulator.things.accounts import Account
from github_simulator.things.repository import Repository
from github_simulator.things.review import PullRequest, ReviewComment
from github_simulator.things.stamps import node_id, stamp


def _pull(node: Node) -> tuple[Repository, PullRequest]:
    assert node.repository is not None and node.pull is not None
    return node.repository, node.pull


def _comment(node: Node) -> tuple[Repository, ReviewComment]:
    assert node.repository is not None and node.comment is not None
    return node.repository, node.comment


def _actor(call: Call, account_id: int | None) -> Node | None:
    if account_id is None:
        return None
    return Node(type="Actor", account=call.world.accounts[account_id])


def pull_node(repository: Repository, own: PullRequest) -> Node:
    return Node(type="PullRequest", repository=repository, pull=own)


def thread_node(repository: Repository, first: ReviewComment) -> Node:
    own = repository.pulls[first.number]
    return Node(type="PullRequestReviewThread", repository=repository, pull=own, comment=first)


def _repository(call: Call, node: Node, arguments: dict[str, Any]) -> Node:
    name = f"{arguments['owner']}/{arguments['name']}"
    found = call.world.repository(name)
    if found is not None and not access.visible(call.world, call.actor, found):
        found = None
    found = refusals.GRAPHQL_NO_REPOSITORY.found(
        found, f"Could not resolve to a Repository with the name '{name}'."
    )
    return Node(type="Repository", repository=found)


def _pull_of(call: Call, node: Node, arguments: dict[str, Any]) -> Node:
    assert node.repository is not None
    number = arguments["number"]
    check_reading(call, node.repository)
    found = refusals.GRAPHQL_NO_PULL.found(
        node.repository.pulls.get(number),
        f"Could not resolve to a PullRequest with the number of {number}.",
    )
    return pull_node(node.repository, found)


def check_reading(call: Call, repository: Repository) -> None:
    """What is private wants the permission, of an installation as of a narrow token."""
    refusals.GRAPHQL_FORBIDDEN.when(
        repository.private and not access.permits(call.actor, "pull_requests", "read")
    )


def find_node(call: Call, wanted: str, kinds: tuple[str, ...]) -> Node:
    """By global id, of one of these types."""
    found: Node | None = None
    for repository in call.world.repositories.values():
        if not access.visible(call.world, call.actor, repository):
            continue
        for own in repository.pulls.values():
            if "PullRequest" in kinds and _pull_id(repository, own) == wanted:
                found = pull_node(repository, own)
        for comment in repository.review_comments.values():
            thread = comment.reply_to is None and node_id("PRRT", comment.id) == wanted
            if "PullRequestReviewThread" in kinds and thread:
                found = thread_node(repository, comment)
    node = refusals.GRAPHQL_NO_NODE.found(
        found, f"Could not resolve to a node with the global id of '{wanted}'"
    )
    assert node.repository is not None
    check_reading(call, node.repository)
    return node


def _node(call: Call, node: Node, arguments: dict[str, Any]) -> Node:
    return find_node(call, arguments["id"], ("PullRequest", "PullRequestReviewThread"))


def _pull_id(repository: Repository, own: PullRequest) -> str:
    return node_id("PR", repository.issues[own.number].id)


def _threads(call: Call, node: Node, arguments: dict[str, Any]) -> Node:
    repository, own = _pull(node)
    shown = (c for c in repository.review_comments.values() if c.number == own.number)
    first = [
        thread_node(repository, comment)
        for comment in shown
        if comment.reply_to is None and repository.reviews[comment.review_id].state != "PENDING"
    ]
    return connection("PullRequestReviewThread", "reviewThreads", first, arguments)


def _comments(call: Call, node: Node, arguments: dict[str, Any]) -> Node:
    repository, thread = _comment(node)
    found = [
        Node(type="PullRequestReviewComment", repository=repository, comment=comment)
        for comment in repository.review_comments.values()
        if thread.id in (comment.id, comment.reply_to)
    ]
    return connection("PullRequestReviewComment", "comments", found, arguments)


def _made(type_: str, name: str) -> Property:
    return scalar(type_, lambda call, node: node.made.get(name))


def _repo(type_: str, take: Callable[[Call, Repository], Any]) -> Property:
    def resolve(call: Call, node: Node) -> Any:
        assert node.repository is not None
        return take(call, node.repository)

    return scalar(type_, resolve)


def _of_pull(type_: str, take: Callable[[Call, Repository, PullRequest], Any]) -> Property:
    return scalar(type_, lambda call, node: take(call, *_pull(node)))


def _of_comment(type_: str, take: Callable[[Call, Repository, ReviewComment], Any]) -> Property:
    return scalar(type_, lambda call, node: take(call, *_comment(node)))


def _pull_state(call: Call, repository: Repository, own: PullRequest) -> str:
    return "MERGED" if own.merged else repository.issues[own.number].state.upper()


def _mergeable(call: Call, repository: Repository, own: PullRequest) -> str:
    known = mergeability.look(call.world, repository, own).mergeable
    return "UNKNOWN" if known is None else "MERGEABLE" if known else "CONFLICTING"


def _auto_merge(call: Call, repository: Repository, own: PullRequest) -> Node | None:
    return None if own.auto_merge is None else Node(type="AutoMergeRequest", made=own.auto_merge)


def _decision(call: Call, repository: Repository, own: PullRequest) -> str | None:
    rules = repository.protections.get(own.base_ref)
    opinions = list(mergeability.latest_opinions(call.world, repository, own).values())
    if "CHANGES_REQUESTED" in opinions:
        return "CHANGES_REQUESTED"
    if rules is None or rules.reviews is None:
        return None
    enough = opinions.count("APPROVED") >= rules.reviews.count
    return "APPROVED" if enough else "REVIEW_REQUIRED"


def _line(own: ReviewComment) -> int | None:
    return None if own.outdated else own.line


def _permission(call: Call, repository: Repository) -> str:
    return access.role(call.world, call.actor, repository).upper()


def _account(type_: str, take: Callable[[Call, Account], Any]) -> Property:
    def resolve(call: Call, node: Node) -> Any:
        assert node.account is not None
        return take(call, node.account)

    return scalar(type_, resolve)


TYPES: dict[str, dict[str, Property]] = {
    "Query": {
        "repository": Property(
            type="Repository",
            resolve=_repository,
            arguments={
                "owner": Argument(type="String", required=True),
                "name": Argument(type="String", required=True),
                "followRenames": Argument(type="Boolean"),
            },
        ),
        "node": Property(
            type="Node", resolve=_node, arguments={"id": Argument(type="ID", required=True)}
        ),
        "viewer": scalar(
            "Actor", lambda call, _: Node(type="Actor", account=call.world.sender(call.actor))
        ),
    },
    "Node": {},
    "Actor": {
        "login": _account("String", lambda _, account: account.login.removesuffix("[bot]")),
        "url": _account("URI", lambda call, a: people.user(call.world, a)["html_url"]),
        "avatarUrl": _account("URI", lambda call, a: people.user(call.world, a)["avatar_url"]),
    },
    "Repository": {
        "id": _repo("ID", lambda _, r: node_id("R", r.id)),
        "databaseId": _repo("Int", lambda _, r: r.id),
        "name": _repo("String", lambda _, r: r.name),
        "nameWithOwner": _repo("String", lambda call, r: call.world.full_name(r)),
        "owner": _repo("Actor", lambda call, r: _actor(call, r.owner_id)),
        "url": _repo("URI", lambda call, r: repo.web_url(call.world, r)),
        "isPrivate": _repo("Boolean", lambda _, r: r.private),
        "isArchived": _repo("Boolean", lambda _, r: r.archived),
        "autoMergeAllowed": _repo("Boolean", lambda _, r: r.allow_auto_merge),
        "mergeCommitAllowed": _repo("Boolean", lambda _, r: r.allow_merge_commit),
        "squashMergeAllowed": _repo("Boolean", lambda _, r: r.allow_squash_merge),
        "rebaseMergeAllowed": _repo("Boolean", lambda _, r: r.allow_rebase_merge),
        "deleteBranchOnMerge": _repo("Boolean", lambda _, r: r.delete_branch_on_merge),
        "viewerPermission": _repo("Enum", _permission),
        "pullRequest": Property(
            type="PullRequest",
            resolve=_pull_of,
            arguments={"number": Argument(type="Int", required=True)},
        ),
    },
    "PullRequest": {
        "id": _of_pull("ID", lambda _, r, p: _pull_id(r, p)),
        "fullDatabaseId": _of_pull("BigInt", lambda _, r, p: str(r.issues[p.number].id)),
        "number": _of_pull("Int", lambda _, r, p: p.number),
        "title": _of_pull("String", lambda _, r, p: r.issues[p.number].title),
        "body": _of_pull("String", lambda _, r, p: r.issues[p.number].body or ""),
        "url": _of_pull("URI", lambda c, r, p: pull.simple(c.world, r, p)["html_url"]),
        "state": _of_pull("Enum", _pull_state),
        "closed": _of_pull("Boolean", lambda _, r, p: r.issues[p.number].state == "closed"),
        "merged": _of_pull("Boolean", lambda _, r, p: p.merged),
        "isDraft": _of_pull("Boolean", lambda _, r, p: p.draft),
        "mergeable": _of_pull("Enum", _mergeable),
        "mergeStateStatus": _of_pull(
            "Enum", lambda c, r, p: mergeability.look(c.world, r, p).name.upper()
        ),
        "headRefName": _of_pull("String", lambda _, r, p: p.head_ref),
        "headRefOid": _of_pull("GitObjectID", lambda _, r, p: p.head_sha),
        "baseRefName": _of_pull("String", lambda _, r, p: p.base_ref),
        "baseRefOid": _of_pull("GitObjectID", lambda _, r, p: p.base_sha),
        "author": _of_pull("Actor", lambda c, r, p: _actor(c, r.issues[p.number].author_id)),
        "reviewDecision": _of_pull("Enum", _decision),
        "repository": _repo("Repository", lambda _, r: Node(type="Repository", repository=r)),
        "autoMergeRequest": _of_pull("AutoMergeRequest", _auto_merge),
        "reviewThreads": Property(
            type="PullRequestReviewThreadConnection", resolve=_threads, arguments=PAGE
        ),
    },
    "AutoMergeRequest": {
        "mergeMethod": scalar("Enum", lambda _, node: node.made.method.upper()),
        "commitHeadline": scalar("String", lambda _, node: node.made.title),
        "commitBody": scalar("String", lambda _, node: node.made.message),
        "enabledBy": scalar("Actor", lambda call, node: _actor(call, node.made.enabled_by)),
    },
    "PullRequestReviewThread": {
        "id": _of_comment("ID", lambda _, r, c: node_id("PRRT", c.id)),
        "isResolved": _of_comment("Boolean", lambda _, r, c: c.resolved_by is not None),
        "isCollapsed": _of_comment("Boolean", lambda _, r, c: c.resolved_by is not None),
        "isOutdated": _of_comment("Boolean", lambda _, r, c: c.outdated),
        "path": _of_comment("String", lambda _, r, c: c.path),
        "line": _of_comment("Int", lambda _, r, c: _line(c)),
        "originalLine": _of_comment("Int", lambda _, r, c: c.line),
        "startLine": _of_comment("Int", lambda _, r, c: c.start_line),
        "diffSide": _of_comment("Enum", lambda _, r, c: c.side),
        "subjectType": _of_comment("Enum", lambda _, r, c: c.subject.upper()),
        "resolvedBy": _of_comment("Actor", lambda call, r, c: _actor(call, c.resolved_by)),
        "pullRequest": scalar("PullRequest", lambda _, node: pull_node(*_pull(node))),
        "repository": _repo("Repository", lambda _, r: Node(type="Repository", repository=r)),
        "comments": Property(
            type="PullRequestReviewCommentConnection", resolve=_comments, arguments=PAGE
        ),
    },
    "PullRequestReviewComment": {
        "id": _of_comment("ID", lambda _, r, c: node_id("PRRC", c.id)),
        "databaseId": _of_comment("Int", lambda _, r, c: c.id),
        "fullDatabaseId": _of_comment("BigInt", lambda _, r, c: str(c.id)),
        "body": _of_comment("String", lambda _, r, c: c.body),
        "path": _of_comment("String", lambda _, r, c: c.path),
        "line": _of_comment("Int", lambda _, r, c: _line(c)),
        "originalLine": _of_comment("Int", lambda _, r, c: c.line),
        "diffHunk": _of_comment("String", lambda _, r, c: c.diff_hunk),
        "outdated": _of_comment("Boolean", lambda _, r, c: c.outdated),
        "url": _of_comment(
            "URI", lambda call, r, c: pull.review_comment(call.world, r, c)["html_url"]
        ),
        "author": _of_comment("Actor", lambda call, r, c: _actor(call, c.user_id)),
        "authorAssociation": _of_comment(
            "Enum", lambda call, r, c: people.association(call.world, r, c.user_id)
        ),
        "createdAt": _of_comment("DateTime", lambda _, r, c: stamp(c.created_ms)),
        "updatedAt": _of_comment("DateTime", lambda _, r, c: stamp(c.updated_ms)),
    },
    "PageInfo": {
        "hasNextPage": _made("Boolean", "hasNextPage"),
        "hasPreviousPage": _made("Boolean", "hasPreviousPage"),
        "startCursor": _made("String", "startCursor"),
        "endCursor": _made("String", "endCursor"),
    },
    **connection_type("PullRequestReviewThread"),
    **connection_type("PullRequestReviewComment"),
}

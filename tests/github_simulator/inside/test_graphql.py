"""Drafts and review threads by GraphQL."""

from __future__ import annotations

import pytest
from refused_graphql import pull_id, simple
from town import Town

from github_simulator.graphql import language

THREADS = """
query Threads($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      isDraft
      reviewThreads(first: 1, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { ...thread }
      }
    }
  }
}
fragment thread on PullRequestReviewThread {
  id isResolved isOutdated path line
  comments(first: 10) { totalCount nodes { databaseId body author { login __typename } } }
}
"""


def test_drafts(town: Town) -> None:
    number = town.pull(draft=True)
    id = pull_id(town, number)
    for name, draft, action in (
        ("markPullRequestReadyForReview", False, "ready_for_review"),
        ("convertPullRequestToDraft", True, "converted_to_draft"),
    ):
        said = town.graphql("awo", simple(name, id, result="pullRequest { isDraft }"))
        assert said == {"data": {name: {"pullRequest": {"isDraft": draft}}}}
        assert town.do("ann", "GET", f"~/pulls/{number}")["draft"] is draft
        town.graphql("awo", simple(name, id))
        assert len(town.heard("pull_request", action)) == 1, "the second time changes nothing"


def test_threads_by_pages_resolved_and_opened_again(town: Town) -> None:
    number = town.pull()
    at, head = f"~/pulls/{number}/comments", town.hello.pulls[number].head_sha
    ids = []
    for line in (10, 30):
        body = {"path": "src/app.txt", "line": line, "body": f"At {line}", "commit_id": head}
        ids.append(town.do("ann", "POST", at, body)["id"])
    town.do("awo", "POST", f"{at}/{ids[0]}/replies", {"body": "Done"})
    names = {"owner": "octo", "name": "hello", "number": number}
    first = town.graphql("awo", THREADS, **names)
    threads = first["data"]["repository"]["pullRequest"]["reviewThreads"]
    assert threads["pageInfo"]["hasNextPage"] is True
    own = threads["nodes"][0]
    assert (own["path"], own["line"], own["comments"]["totalCount"]) == ("src/app.txt", 10, 2)
    assert own["comments"]["nodes"][1] == {
        "databaseId": ids[1] + 2,
        "body": "Done",
        "author": {"login": "awo", "__typename": "Bot"},
    }
    after = threads["pageInfo"]["endCursor"]
    second = town.graphql("awo", THREADS, **names, after=after)
    rest = second["data"]["repository"]["pullRequest"]["reviewThreads"]
    assert [each["line"] for each in rest["nodes"]] == [30]
    assert rest["pageInfo"]["hasNextPage"] is False
    for name, resolved in (("resolveReviewThread", True), ("unresolveReviewThread", False)):
        query = simple(name, own["id"], "threadId", "thread { isResolved }")
        said = town.graphql("awo", query)
        assert said == {"data": {name: {"thread": {"isResolved": resolved}}}}
    assert len(town.heard("pull_request_review_thread")) == 2


def test_an_unknown_field_spoils_the_whole_document(town: Town) -> None:
    """Nothing is done before everything was checked."""
    number = town.pull(draft=True)
    id = pull_id(town, number)
    query = simple("markPullRequestReadyForReview", id, result="pullRequest { shoeSize }")
    said = town.graphql("awo", query)
    assert "data" not in said
    assert said["errors"][0]["extensions"] == {
        "code": "undefinedField",
        "typeName": "PullRequest",
        "fieldName": "shoeSize",
    }
    assert town.hello.pulls[number].draft is True


def test_rights_are_asked_here_too(town: Town) -> None:
    town.hello.private = True
    number = town.pull()
    id = pull_id(town, number)
    names = {"owner": "octo", "name": "hello", "number": number}
    said = town.graphql("weak", THREADS, **names)
    assert said["data"] == {"repository": {"pullRequest": None}}
    assert said["errors"][0]["type"] == "FORBIDDEN"
    said = town.graphql("eve", THREADS, **names)
    assert said["data"] == {"repository": None} and said["errors"][0]["type"] == "NOT_FOUND"
    town.hello.archived = True
    said = town.graphql("awo", simple("convertPullRequestToDraft", id))
    assert said["data"] == {"convertPullRequestToDraft": None}
    assert town.ask("nobody", "POST", "/graphql", {"query": "{ viewer { login } }"}).status == 401


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{ a(b: ) }",
        "query ($x Int) { a }",
        "{ ...missing }",
        'mutation { a(b: "unclosed) }',
        "subscription { a }",
        "{ a @include(if: true) }",
        "{a" * 60 + "}" * 60,
        "fragment f on F { ...f } { ...f }",
    ],
)
def test_what_is_no_graphql(text: str) -> None:
    with pytest.raises(language.SyntaxProblem):
        language.parse(text)


def test_values_are_read(town: Town) -> None:
    text = 'query Q($v: [Int!]! = [1, 2]) { x: a(b: {c: RED, d: [1.5, null, "\\u00e9"], e: $v}) }'
    (operation,) = language.parse(text)
    field = operation.fields[0]
    assert (field.alias, field.name) == ("x", "a")
    given = field.arguments["b"]
    assert given["c"] == language.Word("RED") and given["d"] == [1.5, None, "é"]
    assert operation.variables["v"].default == [1, 2]

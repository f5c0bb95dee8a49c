"""Reviews: comments on lines that the diff shows, everything else in the body, threads in pages."""

from __future__ import annotations

from typing import Any

import pytest
from scripted import LOGIN, REPOSITORY, Scripted, made, pull, refused

from agent_work_orders.errors import Permanent
from agent_work_orders.github_integration.forge import LineComment, Review
from agent_work_orders.github_integration.resources import markers
from agent_work_orders.github_integration.resources.patch import lines

PATCH = (
    "@@ -1,3 +1,4 @@ def f():\n one\n-two\n+zwei\n+drei\n three\n"
    "@@ -10 +11 @@\n-ten\n+zehn\n\\ No newline"
)
FILES = [
    {"filename": "a.py", "status": "modified", "additions": 3, "deletions": 2, "patch": PATCH},
    {"filename": "b.bin", "status": "added", "additions": 0, "deletions": 0},
]
HEAD = "1" * 40
AT_HEAD = {"GET pulls/4/files": FILES, "GET pulls/4": pull(4)}


def test_a_patch_tells_its_lines() -> None:
    shown = lines(PATCH)
    assert shown.new == {1: 1, 2: 1, 3: 1, 4: 1, 11: 2}
    assert shown.old == {1: 1, 2: 1, 3: 1, 10: 2}
    assert lines("").new == lines("garbage\n+x").new == {}


def review(*comments: LineComment, event: Any = "COMMENT") -> Review:
    return Review(head_sha=HEAD, event=event, body="Said.", comments=comments)


async def sent(*comments: LineComment, answers: Any = None) -> tuple[dict[str, Any], Scripted]:
    forge, transport, _ = made(
        {"GET pulls/4/files": FILES, "POST pulls/4/reviews": {"id": 9}, **(answers or {})}
    )
    assert await forge.add_review(REPOSITORY, 4, review(*comments), "k") == 9
    return transport.bodies("POST pulls/4/reviews")[-1], transport


async def test_lines_outside_of_the_diff_go_into_the_body() -> None:
    inside = [
        LineComment(path="a.py", line=2, body="new"),
        LineComment(path="a.py", line=10, body="old", side="LEFT"),
        LineComment(path="a.py", line=4, start_line=2, body="range"),
    ]
    outside = [
        LineComment(path="a.py", line=5, body="below"),
        LineComment(path="a.py", line=11, body="left", side="LEFT"),
        LineComment(path="a.py", line=11, start_line=3, body="two hunks"),
        LineComment(path="a.py", line=1, start_line=3, body="backwards"),
        LineComment(path="b.bin", line=1, body="binary"),
        LineComment(path="`c`.py", line=1, body="no such file @octocat"),
        LineComment(path="a.py", line=1, body=" "),
    ]
    body, _ = await sent(*inside, *outside)
    assert [one["body"] for one in body["comments"]] == ["new", "old", "range"]
    assert body["comments"][0] == {"path": "a.py", "line": 2, "side": "RIGHT", "body": "new"}
    assert body["comments"][2]["start_line"] == 2 and body["comments"][2]["start_side"] == "RIGHT"
    for one in outside:
        assert one.body.split("@")[0] in body["body"]
    assert "`'c'.py` line 1" in body["body"] and "@octocat" not in body["body"]
    assert (body["commit_id"], body["event"]) == (HEAD, "COMMENT")
    assert markers.carries(body["body"], "k")


async def test_one_bad_line_does_not_lose_the_review() -> None:
    tries: list[Any] = []

    def answer(body: Any) -> Any:
        tries.append(body)
        if body["comments"]:
            raise refused(422, "Unprocessable Entity", "Line could not be resolved")
        return {"id": 9}

    body, _ = await sent(
        LineComment(path="a.py", line=2, body="new"),
        answers={**AT_HEAD, "POST pulls/4/reviews": answer},
    )
    assert len(tries) == 2 and body["comments"] == [] and "new" in body["body"]


async def test_a_refusal_of_the_whole_is_told() -> None:
    own = refused(422, "Unprocessable Entity", "Can not approve your own pull request")
    forge, transport, _ = made({**AT_HEAD, "POST pulls/4/reviews": own})
    with pytest.raises(Permanent):
        await forge.add_review(REPOSITORY, 4, review(event="APPROVE"), "k")
    assert len(transport.bodies("POST pulls/4/reviews")) == 1


async def test_more_comments_than_anybody_reads_go_into_the_body() -> None:
    many = [LineComment(path="a.py", line=2, body=f"said-{n}.") for n in range(60)]
    body, _ = await sent(*many)
    assert len(body["comments"]) == 50
    assert "said-50." in body["body"] and "said-49." not in body["body"]


async def test_only_our_review_is_found() -> None:
    marked = f"x {markers.marker('k')}"
    reviews = [
        {"id": 1, "user": {"login": "mallory"}, "body": marked},
        {"id": 2, "user": {"login": LOGIN}, "body": "x"},
        {"id": 3, "user": {"login": LOGIN}, "body": marked},
    ]
    forge, _, _ = made({"GET pulls/4/reviews": reviews})
    assert await forge.find_review(REPOSITORY, 4, "k") == 3
    assert await forge.find_review(REPOSITORY, 4, "other") is None


async def test_threads_of_all_pages_with_whose_they_are() -> None:
    def node(name: str, login: str | None) -> dict[str, Any]:
        author = None if login is None else {"login": login}
        said = {"nodes": [{"author": author}]}
        return {"id": name, "isResolved": False, "path": "a", "line": None, "comments": said}

    def answer(variables: Any) -> dict[str, Any]:
        first = variables["after"] is None
        nodes = [node("1", "awo"), node("2", None)] if first else [node("3", "awo-fan")]
        page = {"hasNextPage": first, "endCursor": "c"}
        return {
            "repository": {"pullRequest": {"reviewThreads": {"nodes": nodes, "pageInfo": page}}}
        }

    forge, transport, _ = made({"GRAPHQL query": answer, "GRAPHQL resolveReviewThread": {}})
    threads = await forge.threads(REPOSITORY, 4)
    assert [(one.node_id, one.ours) for one in threads] == [("1", True), ("2", False), ("3", False)]
    await forge.resolve_thread(REPOSITORY, "1")
    assert transport.bodies("GRAPHQL resolveReviewThread") == [{"id": "1"}]


@pytest.mark.fault("D10")
async def test_pages_without_end_are_bounded() -> None:
    page = {"hasNextPage": True, "endCursor": "c"}
    shown = {"nodes": [], "pageInfo": page}
    forge, transport, _ = made(
        {"GRAPHQL query": {"repository": {"pullRequest": {"reviewThreads": shown}}}}
    )
    assert await forge.threads(REPOSITORY, 4) == []
    assert len(transport.asked) == 30

"""Issues, comments, labels, permissions, files, settings: what is sent and what is believed."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from scripted import LOGIN, REPOSITORY, made, missing

from agent_work_orders.errors import Permanent, Transient
from agent_work_orders.github_integration.resources import markers


def comment(number: int, login: str, body: str) -> dict[str, Any]:
    return {"id": number, "html_url": "u", "user": {"login": login}, "body": body}


async def test_only_our_comment_is_found() -> None:
    marked = f"x {markers.marker('k')}"
    comments = [comment(1, "mallory", marked), comment(2, LOGIN, "x"), comment(3, LOGIN, marked)]
    forge, _, _ = made({"GET issues/4/comments": comments})
    found = await forge.find_comment(REPOSITORY, 4, "k")
    assert found is not None and found.comment_id == 3


async def test_a_comment_is_added_and_edited_with_its_marker() -> None:
    forge, transport, _ = made(
        {
            "POST issues/4/comments": comment(3, LOGIN, "x"),
            "PATCH issues/comments/3": comment(3, LOGIN, "y"),
        }
    )
    assert (await forge.add_comment(REPOSITORY, 4, "Hello @octocat", "k")).comment_id == 3
    await forge.edit_comment(REPOSITORY, 3, "Bye", "k")
    [added] = transport.bodies("POST issues/4/comments")
    [edited] = transport.bodies("PATCH issues/comments/3")
    assert "@octocat" not in added["body"] and markers.carries(added["body"], "k")
    assert edited["body"] == f"Bye\n\n{markers.marker('k')}"
    assert transport.creating == ["POST issues/4/comments"]


@pytest.mark.parametrize(
    ("answer", "meaning"),
    [
        ({"permission": "write", "role_name": "maintain"}, "maintain"),
        ({"permission": "read", "role_name": "triage"}, "triage"),
        ({"permission": "write", "role_name": "our own role"}, "write"),
        ({"permission": "admin"}, "admin"),
        ({"permission": "superuser", "role_name": "root"}, "none"),
        (missing(), "none"),
    ],
)
async def test_a_permission_is_only_what_is_known(answer: Any, meaning: str) -> None:
    forge, _, _ = made({"GET collaborators/a%2Fb/permission": answer})
    assert await forge.permission(REPOSITORY, "a/b") == meaning


async def test_labels_are_added_and_removed_as_often_as_one_likes() -> None:
    forge, transport, _ = made(
        {"POST issues/4/labels": [], "DELETE issues/4/labels/a%20b": missing()}
    )
    await forge.set_labels(REPOSITORY, 4, add=["x"], remove=["a b"])
    assert transport.asked == [
        ("POST issues/4/labels", {"labels": ["x"]}),
        ("DELETE issues/4/labels/a%20b", None),
    ]
    forge, transport, _ = made({})
    await forge.set_labels(REPOSITORY, 4, add=[], remove=[])
    assert transport.asked == []


async def test_a_file_is_read_or_not_there() -> None:
    whole = {"type": "file", "size": 3, "encoding": "base64"}
    content = base64.encodebytes(b"abc").decode()
    path = "GET contents/.awo/con%20fig.yaml"
    forge, transport, _ = made({path: {**whole, "content": content}})
    assert await forge.file(REPOSITORY, ".awo/con fig.yaml", "main") == b"abc"
    assert transport.asked == [(path, {"ref": "main"})]
    absent: tuple[Any, ...] = (missing(), [], {**whole, "type": "symlink"})
    for answer in absent:
        forge, _, _ = made({path: answer})
        assert await forge.file(REPOSITORY, ".awo/con fig.yaml") is None
    forge, _, _ = made({path: {**whole, "size": 2_000_000, "encoding": "none"}})
    with pytest.raises(Permanent) as large:
        await forge.file(REPOSITORY, ".awo/con fig.yaml")
    assert large.value.code == "github_file_too_large"
    forge, _, _ = made({path: {**whole, "content": "a"}})
    with pytest.raises(Transient):
        await forge.file(REPOSITORY, ".awo/con fig.yaml")


async def test_an_issue_of_a_ghost_with_labels_of_both_forms() -> None:
    raw = {
        "number": 4,
        "title": "T",
        "state": "open",
        "html_url": "u",
        "user": None,
        "body": None,
        "labels": ["a", {"name": "b"}],
        "pull_request": {"url": "x"},
    }
    forge, _, _ = made({"GET issues/4": raw})
    issue = await forge.issue(REPOSITORY, 4)
    assert (issue.author, issue.body, issue.labels) == ("ghost", "", ("a", "b"))
    assert issue.is_pull_request


async def test_reactions_go_to_the_issue_or_its_comment() -> None:
    forge, transport, _ = made(
        {
            "POST issues/4/reactions": {},
            "POST issues/comments/9/reactions": {},
            "POST pulls/comments/8/reactions": {},
        }
    )
    await forge.react(REPOSITORY, 4, "eyes")
    await forge.react(REPOSITORY, 4, "+1", 9)
    await forge.react(REPOSITORY, 4, "heart", 8, on_a_line=True)
    sent = [body["content"] for _, body in transport.asked]
    assert sent == ["eyes", "+1", "heart"]


async def test_settings_that_decide_who_sees_it_are_refused() -> None:
    forge, transport, _ = made({"GET ": {"has_wiki": True, "private": True}, "PATCH ": {}})
    assert await forge.settings(REPOSITORY, ["has_wiki"]) == {"has_wiki": True}
    await forge.change_settings(REPOSITORY, {"has_wiki": False})
    assert transport.bodies("PATCH ") == [{"has_wiki": False}]
    for asked in (
        forge.settings(REPOSITORY, ["private"]),
        forge.change_settings(REPOSITORY, {"private": False}),
    ):
        with pytest.raises(Permanent) as raised:
            await asked
        assert raised.value.code == "github_setting_refused"
    assert len(transport.asked) == 2


async def test_protection_names_all_that_the_service_requires() -> None:
    path = "branches/release%2F1/protection"
    forge, transport, _ = made({f"PUT {path}": {}, f"GET {path}": missing()})
    assert await forge.protection(REPOSITORY, "release/1") is None
    await forge.protect(REPOSITORY, "release/1", {"enforce_admins": True})
    assert transport.bodies(f"PUT {path}") == [
        {
            "required_status_checks": None,
            "enforce_admins": True,
            "required_pull_request_reviews": None,
            "restrictions": None,
        }
    ]


async def test_a_workflow_is_dispatched_and_notes_are_made() -> None:
    forge, transport, _ = made(
        {
            "POST actions/workflows/ci.yml/dispatches": None,
            "POST releases/generate-notes": {"name": "v2", "body": "* x"},
        }
    )
    await forge.dispatch(REPOSITORY, "ci.yml", "main", {})
    await forge.dispatch(REPOSITORY, "ci.yml", "main", {"a": "b"})
    assert await forge.release_notes(REPOSITORY, "v2", "v1") == "* x"
    assert [body for _, body in transport.asked] == [
        {"ref": "main"},
        {"ref": "main", "inputs": {"a": "b"}},
        {"tag_name": "v2", "previous_tag_name": "v1"},
    ]


async def test_everything_that_is_posted_counts_as_content() -> None:
    """GitHub does not say what exactly it counts; whoever counts too little is limited."""
    forge, transport, _ = made(
        {
            "POST issues/4/reactions": {},
            "POST issues/comments/9/reactions": {},
            "POST issues/4/labels": [],
            "POST releases/generate-notes": {"name": "n", "body": "b"},
            "POST actions/workflows/w.yml/dispatches": None,
        }
    )
    await forge.react(REPOSITORY, 4, "eyes")
    await forge.react(REPOSITORY, 4, "eyes", 9)
    await forge.set_labels(REPOSITORY, 4, add=["a"], remove=[])
    await forge.release_notes(REPOSITORY, "v1")
    await forge.dispatch(REPOSITORY, "w.yml", "main", {})
    assert transport.creating == [what for what, _ in transport.asked]

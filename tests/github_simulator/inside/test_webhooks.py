"""Webhooks: who is told, of what, in GitHub's shape (every payload is validated by the town)."""

from __future__ import annotations

import pytest
from town import Town

from github_descriptions import NotDescribed, validate_webhook
from github_simulator.changes import founding


def test_every_installed_app_gets_its_own(town: Town) -> None:
    town.do("eve", "POST", "~/issues", {"title": "x"})
    told = [event for event in town.events if event.name == "issues"]
    assert {event.payload["installation"]["id"] for event in told} == set(town.world.installations)
    assert all(event.payload["sender"]["login"] == "eve" for event in told)
    assert told[0].payload["organization"]["login"] == "octo"
    assert told[0].payload["issue"]["author_association"] == "NONE"


def test_an_app_hears_only_what_it_asked_for(town: Town) -> None:
    app = next(each for each in town.world.apps.values() if each.slug == "other")
    app.events = ("push",)
    town.do("eve", "POST", "~/issues", {"title": "x"})
    assert town.heard("issues") and not town.heard("issues", app="other")


def test_a_suspended_installation_hears_only_that(town: Town) -> None:
    installation = next(iter(town.world.installations.values()))
    bob = town.account("bob")
    founding.suspend(town.world, installation, bob)
    town.do("eve", "POST", "~/issues", {"title": "x"})
    assert not town.heard("issues") and town.heard("installation", "suspend")
    founding.unsuspend(town.world, installation, bob)
    founding.select_repositories(town.world, installation, [town.hello], bob)
    removed = town.heard("installation_repositories", "removed")[0].payload
    assert [each["full_name"] for each in removed["repositories_removed"]] == ["octo/secret"]
    founding.uninstall(town.world, installation, bob)
    assert town.heard("installation", "deleted")


def test_a_push_tells_its_commits_and_begins_suites(town: Town) -> None:
    sha = town.commit("feature", {"a.txt": "1"})
    push = town.heard("push")[0].payload
    assert (push["ref"], push["after"], push["created"]) == ("refs/heads/feature", sha, True)
    assert [each["added"] for each in push["commits"]] == [["a.txt"]]
    assert town.heard("check_suite", "requested")[0].payload["check_suite"]["head_sha"] == sha
    assert not town.heard("check_suite", "requested", app="weak"), "it has no right to checks"
    assert town.heard("create")


def test_an_edit_tells_what_it_was(town: Town) -> None:
    number = town.do("ann", "POST", "~/issues", {"title": "One"})["number"]
    comment = town.do("ann", "POST", f"~/issues/{number}/comments", {"body": "a"})
    town.do("ann", "PATCH", f"~/issues/comments/{comment['id']}", {"body": "b"})
    edited = town.heard("issue_comment", "edited")[0].payload
    assert (edited["changes"], edited["comment"]["body"]) == ({"body": {"from": "a"}}, "b")
    town.do("ann", "PATCH", f"~/issues/{number}", {"title": "Two"})
    assert town.heard("issues", "edited")[0].payload["changes"] == {"title": {"from": "One"}}
    town.do("ann", "PATCH", f"~/issues/{number}", {"title": "Two"})
    assert len(town.heard("issues", "edited")) == 1, "nothing changed"


def test_a_review_is_told_in_lower_case(town: Town) -> None:
    number = town.pull()
    town.do("ann", "POST", f"~/pulls/{number}/reviews", {"event": "APPROVE"})
    told = town.heard("pull_request_review", "submitted")[0].payload
    assert (told["review"]["state"], told["review"]["body"]) == ("approved", None)


def test_a_wrong_payload_is_noticed() -> None:
    with pytest.raises(NotDescribed):
        validate_webhook("issues", "opened", {"action": "opened"})
    with pytest.raises(NotDescribed):
        validate_webhook("issues", "eaten", {})

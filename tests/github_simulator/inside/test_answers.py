"""Every operation is asked at least once, and each answer fits GitHub's description of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from town import ROUTER, Town

from github_descriptions import NotDescribed, operations, validate_answer
from github_simulator.routes import ROUTES


def test_accounts_and_repositories(town: Town) -> None:
    assert town.do("ann", "GET", "/user")["login"] == "ann"
    assert town.do("nobody", "GET", "/users/bob")["type"] == "User"
    mine = town.do("awo", "GET", "/installation/repositories")
    assert [each["full_name"] for each in mine["repositories"]] == ["octo/hello", "octo/secret"]
    assert town.do("awo", "GET", "~")["permissions"]["push"] is True
    assert "allow_auto_merge" not in town.do("carl", "GET", "~")
    changed = town.do("bob", "PATCH", "~", {"allow_auto_merge": True, "description": "Hi"})
    assert (changed["allow_auto_merge"], changed["description"]) == (True, "Hi")
    for login, permission in (("bob", "admin"), ("ann", "write"), ("carl", "read")):
        said = town.do("awo", "GET", f"~/collaborators/{login}/permission")
        assert said["permission"] == permission
    assert town.do("awo", "GET", "~/collaborators/eve/permission")["permission"] == "read"
    secret = "/repos/octo/secret/collaborators/eve/permission"
    assert town.do("awo", "GET", secret)["permission"] == "none"


def test_branches_commits_and_contents(town: Town) -> None:
    number = town.pull("fix/one")
    names = [each["name"] for each in town.do("awo", "GET", "~/branches")]
    assert names == ["fix/one", "main"]
    assert town.do("awo", "GET", "~/branches/fix/one")["name"] == "fix/one"
    tip = town.do("awo", "GET", "~/commits/main")
    assert town.do("awo", "GET", "~/commits")[0]["sha"] == tip["sha"]
    compared = town.do("awo", "GET", "~/compare/main...fix/one")
    assert (compared["status"], compared["ahead_by"], len(compared["files"])) == ("ahead", 1, 1)
    found = town.do("awo", "GET", "~/contents/src/app.txt", query={"ref": "fix/one"})
    assert found["encoding"] == "base64" and found["type"] == "file"
    assert {each["type"] for each in town.do("awo", "GET", "~/contents/")} == {"dir", "file"}
    assert (
        town.ask(
            "awo", "GET", "~/contents/README.md", headers={"accept": "application/vnd.github.raw"}
        ).body
        == "# Hello\n"
    )
    assert town.do("awo", "GET", "~/git/ref/heads/fix/one")["ref"] == "refs/heads/fix/one"
    assert len(town.do("awo", "GET", "~/git/matching-refs/heads/fix")) == 1
    made = town.do("awo", "POST", "~/git/refs", {"ref": "refs/heads/two", "sha": tip["sha"]})
    assert made["object"]["sha"] == tip["sha"]
    head = town.do("awo", "GET", f"~/pulls/{number}")["head"]["sha"]
    assert town.do("awo", "PATCH", "~/git/refs/heads/two", {"sha": head})["object"]["sha"] == head
    town.do("awo", "DELETE", "~/git/refs/heads/two")
    assert town.ask("awo", "GET", "~/git/ref/heads/two").status == 404


def test_protection(town: Town) -> None:
    rules = {
        "required_status_checks": {"strict": True, "contexts": ["ci"]},
        "enforce_admins": True,
        "required_pull_request_reviews": {"required_approving_review_count": 2},
        "restrictions": {"users": ["ann"], "teams": [], "apps": ["awo"]},
    }
    town.do("bob", "PUT", "~/branches/main/protection", rules)
    found = town.do("bob", "GET", "~/branches/main/protection")
    assert found["required_status_checks"]["contexts"] == ["ci"]
    assert found["restrictions"]["apps"][0]["slug"] == "awo"
    assert town.do("ann", "GET", "~/branches/main")["protected"] is True
    town.do("bob", "DELETE", "~/branches/main/protection")
    assert town.ask("bob", "GET", "~/branches/main/protection").status == 404


def test_issues_comments_labels_reactions(town: Town) -> None:
    made = town.do("eve", "POST", "~/issues", {"title": "Broken", "labels": ["bug"]})
    assert made["labels"] == [], "labels of who cannot push are dropped"
    at = f"~/issues/{made['number']}"
    town.do("awo", "PATCH", at, {"labels": ["bug", "New one"], "assignees": ["ann"]})
    assert [each["name"] for each in town.do("awo", "GET", f"{at}/labels")] == ["bug", "New one"]
    town.do("awo", "POST", f"{at}/labels", {"labels": ["help wanted"]})
    town.do("awo", "DELETE", f"{at}/labels/New%20one")
    assert len(town.do("awo", "PUT", f"{at}/labels", {"labels": ["bug"]})) == 1
    town.do("awo", "DELETE", f"{at}/labels")
    assert town.do("awo", "GET", "~/labels/help%20wanted")["color"] == "008672"
    town.do("awo", "POST", "~/labels", {"name": "awo", "color": "FFaa00"})
    assert "awo" in [each["name"] for each in town.do("awo", "GET", "~/labels")]
    town.do("awo", "POST", f"{at}/assignees", {"assignees": ["bob", "eve"]})
    town.do("awo", "DELETE", f"{at}/assignees", {"assignees": ["ann"]})
    assert [each["login"] for each in town.do("awo", "GET", at)["assignees"]] == ["bob"]
    comment = town.do("eve", "POST", f"{at}/comments", {"body": "Please"})
    own = f"~/issues/comments/{comment['id']}"
    town.do("eve", "PATCH", own, {"body": "Please!"})
    assert town.do("awo", "GET", own)["body"] == "Please!"
    assert len(town.do("awo", "GET", f"{at}/comments")) == 1
    for place in (at, own):
        assert town.ask("awo", "POST", f"{place}/reactions", {"content": "eyes"}).status == 201
        again = town.ask("awo", "POST", f"{place}/reactions", {"content": "eyes"})
        assert again.status == 200, "the same reaction is there already"
        assert len(town.do("awo", "GET", f"{place}/reactions")) == 1
        town.do("awo", "DELETE", f"{place}/reactions/{again.body['id']}")
    town.do("eve", "DELETE", own)
    town.do("ann", "PUT", f"{at}/lock", {"lock_reason": "resolved"})
    town.do("ann", "DELETE", f"{at}/lock")
    town.do("awo", "PATCH", at, {"state": "closed", "state_reason": "not_planned"})
    assert town.do("awo", "GET", "~/issues") == []
    assert town.do("awo", "GET", "~/issues", query={"state": "closed"})[0]["number"] == 1


def test_pulls_and_reviews(town: Town) -> None:
    number = town.pull(body="What it does", draft=True)
    at = f"~/pulls/{number}"
    assert town.do("awo", "GET", "~/pulls", query={"head": "octo:feature"})[0]["draft"] is True
    assert town.do("awo", "GET", "~/pulls", query={"head": "octo:none"}) == []
    town.do("awo", "PATCH", at, {"title": "Better", "body": "More"})
    files = town.do("awo", "GET", f"{at}/files")
    assert (files[0]["additions"], files[0]["deletions"]) == (2, 2)
    head = town.do("awo", "GET", f"{at}/commits")[0]["sha"]
    town.do("awo", "POST", f"{at}/requested_reviewers", {"reviewers": ["ann"]})
    assert len(town.do("awo", "GET", f"{at}/requested_reviewers")["users"]) == 1
    town.do("awo", "DELETE", f"{at}/requested_reviewers", {"reviewers": ["ann"]})
    line = {"path": "src/app.txt", "line": 10, "side": "RIGHT", "body": "Why?"}
    review = town.do(
        "ann",
        "POST",
        f"{at}/reviews",
        {"event": "REQUEST_CHANGES", "body": "No", "comments": [line]},
    )
    own = f"{at}/reviews/{review['id']}"
    assert town.do("ann", "GET", own)["state"] == "CHANGES_REQUESTED"
    assert len(town.do("ann", "GET", f"{own}/comments")) == 1
    assert town.do("ann", "PUT", f"{own}/dismissals", {"message": "ok"})["state"] == "DISMISSED"
    pending = town.do("ann", "POST", f"{at}/reviews", {"comments": [line]})
    assert pending["state"] == "PENDING" and "submitted_at" not in pending
    assert len(town.do("carl", "GET", f"{at}/reviews")) == 1, "a pending review is its author's"
    submitted = {"event": "APPROVE", "body": "Yes"}
    town.do("ann", "POST", f"{at}/reviews/{pending['id']}/events", submitted)
    comment = town.do(
        "bob", "POST", f"{at}/comments", {**line, "commit_id": head, "start_line": 8, "line": 10}
    )
    reply = town.do("awo", "POST", f"{at}/comments/{comment['id']}/replies", {"body": "Because"})
    assert reply["in_reply_to_id"] == comment["id"]
    assert len(town.do("awo", "GET", f"{at}/comments")) == 4
    assert len(town.do("awo", "GET", "~/pulls/comments")) == 4
    one = f"~/pulls/comments/{comment['id']}"
    assert town.do("awo", "GET", one)["start_line"] == 8
    reaction = town.do("awo", "POST", f"{one}/reactions", {"content": "+1"})
    assert len(town.do("awo", "GET", f"{one}/reactions")) == 1
    town.do("awo", "DELETE", f"{one}/reactions/{reaction['id']}")
    by_position = {"path": "src/app.txt", "position": 4, "body": "Here"}
    town.do("bob", "POST", f"{at}/reviews", {"event": "COMMENT", "comments": [by_position]})
    assert len(town.do("awo", "GET", f"{at}/reviews")) == 5
    assert town.ask("awo", "GET", f"{at}/merge").status == 404
    town.commit("main", {"NEW.md": "new\n"})
    assert town.ask("awo", "PUT", f"{at}/update-branch", {}).status == 202
    diff = {"accept": "application/vnd.github.diff"}
    assert "+line ten" in town.ask("awo", "GET", at, headers=diff).body


def test_checks_and_statuses(town: Town) -> None:
    number = town.pull()
    sha = town.do("awo", "GET", f"~/pulls/{number}")["head"]["sha"]
    body = {"name": "awo", "head_sha": sha, "status": "in_progress", "external_id": "k1"}
    run = town.do("awo", "POST", "~/check-runs", body)
    assert run["pull_requests"][0]["number"] == number
    at = f"~/check-runs/{run['id']}"
    note = {
        "path": "src/app.txt",
        "start_line": 3,
        "end_line": 3,
        "annotation_level": "warning",
        "message": "Look",
    }
    output = {"title": "T", "summary": "S", "annotations": [note] * 50}
    for _ in range(2):
        town.do("awo", "PATCH", at, {"output": output})
    done = town.do("awo", "PATCH", at, {"conclusion": "success", "output": {"summary": "S"}})
    assert (done["status"], done["output"]["annotations_count"]) == ("completed", 100)
    first = town.ask("awo", "GET", f"{at}/annotations", query={"per_page": "100"})
    assert len(first.body) == 100
    assert town.do("awo", "GET", at)["external_id"] == "k1"
    listed = town.do("awo", "GET", f"~/commits/{sha}/check-runs", query={"check_name": "awo"})
    assert listed["total_count"] == 1
    suites = town.do("awo", "GET", "~/commits/feature/check-suites")
    own = next(each for each in suites["check_suites"] if each["app"]["slug"] == "awo")
    assert (own["status"], own["conclusion"]) == ("completed", "success")
    suite = f"~/check-suites/{own['id']}"
    assert town.do("awo", "GET", suite)["head_branch"] == "feature"
    assert town.do("awo", "GET", f"{suite}/check-runs")["total_count"] == 1
    town.do("awo", "POST", f"{suite}/rerequest")
    town.do("awo", "POST", f"{at}/rerequest")
    assert town.heard("check_run", "rerequested") and town.heard("check_suite", "rerequested")
    assert not town.heard("check_run", "rerequested", app="other")
    town.do("ann", "POST", f"~/statuses/{sha}", {"state": "pending", "context": "ci"})
    town.do("ann", "POST", f"~/statuses/{sha}", {"state": "success", "context": "ci"})
    assert len(town.do("awo", "GET", f"~/commits/{sha}/statuses")) == 2
    combined = town.do("awo", "GET", f"~/commits/{sha}/status")
    assert (combined["state"], combined["total_count"]) == ("success", 1)


def test_workflows_and_releases(town: Town) -> None:
    at = "~/actions/workflows/build.yml/dispatches"
    assert town.ask("awo", "POST", at, {"ref": "main", "inputs": {"size": "9"}}).status == 204
    assert town.hello.dispatches[0].inputs == {"size": "9"}
    number = town.pull(who="ann")
    town.do("ann", "PUT", f"~/pulls/{number}/merge", {})
    notes = town.do("awo", "POST", "~/releases/generate-notes", {"tag_name": "v1"})
    assert "From feature by @ann" in notes["body"]
    made = town.do("awo", "POST", "~/releases", {"tag_name": "v1", "generate_release_notes": True})
    assert made["name"] == "v1"
    assert town.do("awo", "GET", "~/releases/latest")["tag_name"] == "v1"
    assert town.do("awo", "GET", "~/releases/tags/v1")["id"] == made["id"]
    town.do("awo", "POST", "~/releases", {"tag_name": "v2", "draft": True})
    assert len(town.do("awo", "GET", "~/releases")) == 2
    assert len(town.do("carl", "GET", "~/releases")) == 1, "drafts are for those who can push"
    assert town.do("awo", "GET", "~/git/ref/tags/v1")["object"]["type"] == "commit"


def test_lists_come_in_pages(town: Town) -> None:
    for number in range(5):
        town.do("ann", "POST", "~/issues", {"title": f"Number {number}"})
    answer = town.ask("ann", "GET", "~/issues", query={"per_page": "2", "page": "2"})
    assert [each["title"] for each in answer.body] == ["Number 2", "Number 1"]
    url = f"https://api.github.com/repositories/{town.hello.id}/issues?per_page=2&page="
    for rel, page in (("next", 3), ("prev", 1), ("first", 1), ("last", 3)):
        assert f'<{url}{page}>; rel="{rel}"' in answer.headers["link"]
    by_id = town.ask("ann", "GET", f"/repositories/{town.hello.id}/issues", query={"page": "1"})
    assert len(by_id.body) == 5


def test_every_operation_is_granted_somewhere_here(founded: Town, tmp_path: Path) -> None:
    """A new route comes with a test that its answer fits."""
    granted = {"pulls/merge", "pulls/check-if-merged", "graphql"}  # test_merging, test_graphql
    for at, journey in enumerate(
        (
            test_accounts_and_repositories,
            test_branches_commits_and_contents,
            test_protection,
            test_issues_comments_labels_reactions,
            test_pulls_and_reviews,
            test_checks_and_statuses,
            test_workflows_and_releases,
        )
    ):
        own = founded.moved(tmp_path / str(at))
        journey(own)
        granted |= own.granted
    assert {route.operation for route in ROUTES} <= granted


def test_operations_are_githubs_own() -> None:
    for route in ROUTES:
        if route.operation == "graphql":
            continue
        own = operations()[route.operation]
        assert own.method == route.method
        wanted = own.template.replace("/contents/{path}", "/contents")
        assert wanted == route.template.replace("/contents/{path}", "/contents")
        found = ROUTER.find(own.method, re.sub(r"{\w+}", "7", own.template))
        assert found is not None and found[0].operation == route.operation


@pytest.mark.parametrize(
    ("status", "body"),
    [(200, {"id": "a word"}), (201, {}), (204, None)],
)
def test_a_wrong_answer_is_noticed(status: int, body: object) -> None:
    with pytest.raises(NotDescribed):
        validate_answer("GET", "/repos/octo/hello", status, body)

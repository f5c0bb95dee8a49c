"""Who may see and do what."""

from __future__ import annotations

import msgspec
import pytest
from town import Town

from github_simulator.changes import founding, pushing
from github_simulator.things.git_store import ZERO

SECRET = "/repos/octo/secret"


def test_a_private_repository_is_seen_by_its_own_only(town: Town) -> None:
    for who, status in (("ann", 200), ("carl", 200), ("awo", 200), ("eve", 404), ("nobody", 404)):
        assert town.ask(who, "GET", SECRET).status == status, who
    hello_only = msgspec.structs.replace(town.actor("awo"), repositories=frozenset({town.hello.id}))
    assert town.ask(hello_only, "GET", SECRET).status == 404
    assert town.ask(hello_only, "GET", "~").status == 200
    assert town.ask(hello_only, "POST", f"{SECRET}/issues", {"title": "x"}).status == 404


def test_a_missing_permission_is_named(town: Town) -> None:
    answer = town.ask("weak", "POST", "~/issues/1/comments", {"body": "x"})
    assert answer.status == 403
    assert answer.headers["x-accepted-github-permissions"] == "issues=write; pull_requests=write"


def test_pull_request_rights_do_not_open_issues(town: Town) -> None:
    number = town.pull()
    issue = town.do("ann", "POST", "~/issues", {"title": "x"})["number"]
    pulls_only = msgspec.structs.replace(
        town.actor("awo"), permissions={"pull_requests": "write", "metadata": "read"}
    )
    comment = {"body": "x"}
    assert town.ask(pulls_only, "POST", f"~/issues/{number}/comments", comment).status == 201
    assert town.ask(pulls_only, "POST", f"~/issues/{issue}/comments", comment).status == 403


def test_an_app_that_is_not_installed_here_reads_what_is_public(town: Town) -> None:
    theirs = founding.add_repository(town.world, town.account("eve"), "own", files={"a": "1"})
    assert town.ask("awo", "GET", "/repos/eve/own").status == 200
    assert town.ask("awo", "POST", "/repos/eve/own/issues", {"title": "x"}).status == 403
    theirs.private = True
    assert town.ask("awo", "GET", "/repos/eve/own").status == 404


def test_a_renamed_repository_redirects_by_id(town: Town) -> None:
    founding.rename(town.world, town.hello, "hallo", town.account("bob"))
    answer = town.ask("ann", "GET", "/repos/octo/hello/issues")
    found = town.world.repository("octo/hallo")
    assert found is not None
    assert answer.status == 301
    assert answer.headers["location"] == f"https://api.github.com/repositories/{found.id}/issues"
    assert town.ask("ann", "GET", f"/repositories/{found.id}/issues").status == 200


def test_who_triages_uses_labels_and_makes_none(town: Town) -> None:
    founding.set_role(town.world, town.hello, "carl", "triage")
    number = town.do("ann", "POST", "~/issues", {"title": "x"})["number"]
    where = f"~/issues/{number}/labels"
    assert town.ask("carl", "POST", where, {"labels": ["BUG"]}).status == 200
    for method in ("POST", "PUT"):
        assert town.ask("carl", method, where, {"labels": ["unheard-of"]}).status == 403
    assert "unheard-of" not in town.hello.labels
    assert town.ask("ann", "POST", where, {"labels": ["unheard-of"]}).status == 200


def test_an_archived_repository_can_be_read_and_brought_back(town: Town) -> None:
    town.do("bob", "PATCH", "~", {"archived": True})
    assert town.ask("ann", "GET", "~/issues").status == 200
    assert town.ask("bob", "PATCH", "~", {"description": "x"}).status == 403
    town.do("bob", "PATCH", "~", {"archived": False})
    assert town.ask("ann", "POST", "~/issues", {"title": "x"}).status == 201


@pytest.mark.parametrize("who", ["ann", "bob", "awo"])
def test_protected_branches_refuse_pushes(town: Town, who: str) -> None:
    git, main = town.world.git(town.hello), "refs/heads/main"
    tip = git.branch("main") or ""
    ahead = town.commit("feature", {"a": "1"})
    other = git.commit_tree(
        git.commit(tip).tree, [], "x", *[town.world.person(town.account("ann"))] * 2
    )

    def why(before: str, after: str) -> str:
        actor = town.actor(who)
        return pushing.refusal(town.world, actor, town.hello, main, before, after) or ""

    assert why(tip, ahead) == ""
    assert "refusing to delete the current branch" in why(tip, ZERO)
    body = {
        "required_status_checks": {"strict": False, "contexts": ["ci"]},
        "enforce_admins": False,
        "required_pull_request_reviews": None,
        "restrictions": None,
    }
    town.do("bob", "PUT", "~/branches/main/protection", body)
    assert why(tip, other).endswith("Cannot force-push to this protected branch")
    expected = "" if who == "bob" else 'Required status check "ci" is expected.'
    assert why(tip, ahead).endswith(expected) and bool(why(tip, ahead)) == bool(expected)
    town.do("ann", "POST", f"~/statuses/{ahead}", {"state": "success", "context": "ci"})
    assert why(tip, ahead) == ""

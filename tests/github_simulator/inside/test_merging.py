"""Merges are real: the commits, trees and branches in git are what the API says."""

from __future__ import annotations

from typing import Any

import pytest
from refused_graphql import ENABLE, ready_to_enable
from refused_requests import PROTECTION
from town import TEXT, Town

from github_simulator.changes import founding


def merge(town: Town, number: int, **body: Any) -> str:
    sha: str = town.do("ann", "PUT", f"~/pulls/{number}/merge", body)["sha"]
    assert town.world.git(town.hello).branch("main") == sha
    assert town.ask("ann", "GET", f"~/pulls/{number}/merge").status == 204
    return sha


def content(town: Town, path: str, ref: str = "main") -> str:
    raw = {"accept": "application/vnd.github.raw"}
    return str(town.ask("ann", "GET", f"~/contents/{path}", query={"ref": ref}, headers=raw).body)


def test_a_merge_commit_has_both_parents(town: Town) -> None:
    git, number = town.world.git(town.hello), town.pull()
    before, head = git.branch("main"), git.branch("feature")
    town.commit("main", {"other.txt": "meanwhile\n"})
    tip = git.branch("main")
    made = git.commit(merge(town, number, commit_title="All of it", commit_message="Yes"))
    assert made.parents == (tip, head)
    assert made.message == "All of it\n\nYes"
    assert before != tip
    assert "line ten" in content(town, "src/app.txt") and content(town, "other.txt")
    pull = town.do("ann", "GET", f"~/pulls/{number}")
    assert (pull["state"], pull["merged"], pull["merged_by"]["login"]) == ("closed", True, "ann")
    assert pull["changed_files"] == 1, "the diff stays what it was"


def test_a_squash_has_one_parent_and_a_rebase_keeps_the_commits(town: Town) -> None:
    git = town.world.git(town.hello)
    first, second = town.pull("one"), None
    town.commit("two", {"a.txt": "1\n"})
    town.commit("two", {"b.txt": "2\n"})
    second = town.do("awo", "POST", "~/pulls", {"title": "Two", "head": "two", "base": "main"})
    base = git.branch("main")
    squashed = git.commit(merge(town, first, merge_method="squash"))
    assert squashed.parents == (base,)
    assert squashed.message == f"From one (#{first})"
    tip = merge(town, second["number"], merge_method="rebase")
    messages = [git.commit(sha).message for sha in git.log(f"{squashed.sha}..{tip}")]
    assert messages == ["Change b.txt", "Change a.txt"]
    assert git.commit(tip).author.name == "ann"


def test_conflicts_show_and_block(town: Town) -> None:
    number = town.pull()
    assert town.do("ann", "GET", f"~/pulls/{number}")["mergeable"] is None
    assert town.do("ann", "GET", f"~/pulls/{number}")["mergeable"] is True
    town.commit("main", {"src/app.txt": TEXT.replace("line 10\n", "line 10!\n")})
    seen = [town.do("ann", "GET", f"~/pulls/{number}") for _ in range(2)]
    states = [(each["mergeable"], each["mergeable_state"]) for each in seen]
    assert states == [(None, "unknown"), (False, "dirty")]


def test_states_of_a_protected_base(town: Town) -> None:
    town.world.lazy_mergeability = False
    rules = {
        "required_status_checks": {"strict": True, "contexts": ["ci"]},
        "required_pull_request_reviews": {"required_approving_review_count": 1},
    }
    number = town.pull(draft=True)
    at = f"~/pulls/{number}"

    def state() -> str:
        return str(town.do("ann", "GET", at)["mergeable_state"])

    def say(context: str, state: str) -> None:
        head = town.hello.pulls[number].head_sha
        town.do("ann", "POST", f"~/statuses/{head}", {"state": state, "context": context})

    assert state() == "draft"
    town.hello.pulls[number].draft = False
    assert state() == "clean"
    say("extra", "failure")
    assert state() == "unstable"
    town.do("bob", "PUT", "~/branches/main/protection", {**PROTECTION, **rules})
    assert state() == "blocked"
    say("ci", "success")
    town.do("carl", "POST", f"{at}/reviews", {"event": "APPROVE"})
    assert state() == "blocked", "carl has no write access"
    town.do("bob", "POST", f"{at}/reviews", {"event": "APPROVE"})
    assert state() == "unstable"
    town.commit("main", {"b.txt": "1"}, who="bob")
    assert state() == "behind"
    town.do("bob", "POST", f"{at}/reviews", {"event": "REQUEST_CHANGES", "body": "No"})
    assert state() == "blocked", "the last opinion counts"


@pytest.mark.parametrize("last", ["status", "check", "review"])
def test_auto_merge_waits_for_what_is_required(town: Town, last: str) -> None:
    rules: dict[str, Any] = {"required_status_checks": {"strict": False, "contexts": ["ci"]}}
    if last == "review":
        rules["required_pull_request_reviews"] = {"required_approving_review_count": 1}
    number, id = ready_to_enable(town, **rules)
    said = town.graphql("awo", ENABLE, id=id, method="SQUASH")
    request = said["data"]["enablePullRequestAutoMerge"]["pullRequest"]["autoMergeRequest"]
    assert request == {"mergeMethod": "SQUASH", "enabledBy": {"login": "awo"}}
    assert town.do("awo", "GET", f"~/pulls/{number}")["auto_merge"]["merge_method"] == "squash"
    head = town.hello.pulls[number].head_sha
    run = {"name": "ci", "head_sha": head, "conclusion": "failure"}
    town.do("awo", "POST", "~/check-runs", run)
    assert town.hello.pulls[number].merged is False
    if last == "status":
        town.do("awo", "POST", "~/check-runs", {**run, "conclusion": "success"})
    else:
        town.do("other", "POST", "~/check-runs", {**run, "conclusion": "success"})
    if last == "review":
        assert town.hello.pulls[number].merged is False
        town.do("ann", "POST", f"~/pulls/{number}/reviews", {"event": "APPROVE"})
    assert town.hello.pulls[number].merged is True
    closed = town.heard("pull_request", "closed")
    assert [event.payload["pull_request"]["merged"] for event in closed] == [True]
    assert town.heard("pull_request", "auto_merge_enabled")


def test_a_merge_closes_issues_and_deletes_the_branch(town: Town) -> None:
    issue = town.do("eve", "POST", "~/issues", {"title": "Broken"})["number"]
    town.do("bob", "PATCH", "~", {"delete_branch_on_merge": True})
    number = town.pull(body=f"Fixes #{issue}")
    merge(town, number)
    found = town.do("eve", "GET", f"~/issues/{issue}")
    assert (found["state"], found["closed_by"]["login"]) == ("closed", "ann")
    assert town.ask("ann", "GET", "~/branches/feature").status == 404
    assert town.do("ann", "GET", f"~/pulls/{number}")["merged"] is True
    kept = town.do("ann", "GET", f"~/pulls/{number}/files")
    assert len(kept) == 1, "the head is kept as refs/pull/N/head"


def test_pushes_move_pull_requests(town: Town) -> None:
    number = town.pull()
    before = town.hello.pulls[number].head_sha
    line = {"path": "src/app.txt", "line": 10, "body": "Why?", "commit_id": before}
    comment = town.do("ann", "POST", f"~/pulls/{number}/comments", line)
    town.commit("feature", {"src/app.txt": TEXT.replace("line 30\n", "line thirty\n")})
    told = town.heard("pull_request", "synchronize")[0].payload
    assert (told["before"], told["after"]) == (before, town.hello.pulls[number].head_sha)
    found = town.do("ann", "GET", f"~/pulls/comments/{comment['id']}")
    assert (found["line"], found["original_line"]) == (None, 10), "it is outdated"
    # The head arrives in main by a push: that merges it too.
    head = town.hello.pulls[number].head_sha
    town.do("ann", "PATCH", "~/git/refs/heads/main", {"sha": head})
    assert town.hello.pulls[number].merged is True


def test_a_deleted_branch_closes_its_pull_request(town: Town) -> None:
    number = town.pull()
    town.do("ann", "DELETE", "~/git/refs/heads/feature")
    pull = town.do("ann", "GET", f"~/pulls/{number}")
    assert (pull["state"], pull["merged"]) == ("closed", False)


def test_a_pull_request_from_a_fork(town: Town) -> None:
    fork = founding.add_fork(town.world, town.hello, town.account("eve"))
    git = town.world.git(fork)
    eve = town.world.person(town.account("eve"))
    git.write("patch", {"eve.txt": "hi\n"}, "From outside", eve, parent=git.branch("main"))
    body = {"title": "Mine", "head": "eve:patch", "base": "main"}
    made = town.do("eve", "POST", "~/pulls", body)
    assert made["head"]["repo"]["full_name"] == "eve/hello"
    assert made["head"]["repo"]["fork"] is True and made["changed_files"] == 1
    assert made["author_association"] == "NONE"
    founding.commit(town.world, fork, "patch", {"eve.txt": "ho\n"}, "More", town.account("eve"))
    assert town.do("ann", "GET", f"~/pulls/{made['number']}")["commits"] == 2
    merge(town, made["number"])
    assert content(town, "eve.txt") == "ho\n"

"""For every rule about issues, pull requests, reviews and checks one request that it refuses."""

from __future__ import annotations

from typing import Any

from refused_requests import NO_SHA, PROTECTION, Example, asks
from town import TEXT, Town

from github_simulator.call import Answer
from github_simulator.changes import founding
from github_simulator.things.check import Status

LINE = {"path": "src/app.txt", "line": 10, "side": "RIGHT", "body": "Why?"}


def issue(town: Town, **more: Any) -> str:
    return f"~/issues/{town.do('ann', 'POST', '~/issues', {'title': 'x', **more})['number']}"


def on_issue(who: str, method: str, tail: str, body: Any) -> Example:
    return lambda town: town.ask(who, method, issue(town) + tail, body)


def _issues_off(town: Town) -> Answer:
    town.hello.has_issues = False
    return town.ask("ann", "POST", "~/issues", {"title": "x"})


def _locked(town: Town) -> Answer:
    at = issue(town)
    town.do("ann", "PUT", f"{at}/lock", {})
    return town.ask("eve", "POST", f"{at}/comments", {"body": "x"})


def _many_people(town: Town) -> Answer:
    logins = [f"person-{number}" for number in range(11)]
    for login in logins:
        founding.add_account(town.world, login)
        founding.set_role(town.world, town.hello, login, "read")
    return town.ask("ann", "POST", "~/issues", {"title": "x", "assignees": logins})


def opens(**body: Any) -> Example:
    def example(town: Town) -> Answer:
        town.commit("feature", {"a": "1"})
        asked = {"title": "x", "head": "feature", "base": "main", **body}
        return town.ask("awo", "POST", "~/pulls", asked)

    return example


def _no_commits(town: Town) -> Answer:
    sha = town.world.git(town.hello).branch("main")
    town.do("awo", "POST", "~/git/refs", {"ref": "refs/heads/empty", "sha": sha})
    return town.ask("awo", "POST", "~/pulls", {"title": "x", "head": "empty", "base": "main"})


def _no_drafts(town: Town) -> Answer:
    town.hello.drafts = False
    return opens(draft=True)(town)


def _unrelated(town: Town) -> Answer:
    git = town.world.git(town.hello)
    person = town.world.person(town.account("ann"))
    tree = git.commit(git.branch("main") or "").tree
    git.update("refs/heads/alone", git.commit_tree(tree, [], "Alone", person, person))
    return town.ask("awo", "POST", "~/pulls", {"title": "x", "head": "alone", "base": "main"})


def _pull_exists(town: Town) -> Answer:
    town.pull()
    body = {"title": "x", "head": "octo:feature", "base": "main"}
    return town.ask("awo", "POST", "~/pulls", body)


def _no_title(town: Town) -> Answer:
    town.commit("feature", {"a": "1"})
    return town.ask("awo", "POST", "~/pulls", {"head": "feature", "base": "main"})


def _reopen(prepare: str) -> Example:
    def example(town: Town) -> Answer:
        at = f"~/pulls/{town.pull()}"
        if prepare == "merged":
            town.do("ann", "PUT", f"{at}/merge", {})
        else:
            town.do("awo", "PATCH", at, {"state": "closed"})
        if prepare == "gone":
            town.do("ann", "DELETE", "~/git/refs/heads/feature")
        if prepare == "exists":
            body = {"title": "x", "head": "feature", "base": "main"}
            town.do("awo", "POST", "~/pulls", body)
        return town.ask("awo", "PATCH", at, {"state": "open"})

    return example


def _base_closed(town: Town) -> Answer:
    at = f"~/pulls/{town.pull()}"
    town.commit("other", {"b": "1"})
    town.do("awo", "PATCH", at, {"state": "closed"})
    return town.ask("awo", "PATCH", at, {"base": "other"})


def on_pull(who: str, method: str, tail: str, body: Any, **more: Any) -> Example:
    return lambda town: town.ask(who, method, f"~/pulls/{town.pull(**more)}{tail}", body)


def _conflict(method: str, tail: str) -> Example:
    def example(town: Town) -> Answer:
        at = f"~/pulls/{town.pull()}"
        town.commit("main", {"src/app.txt": TEXT.replace("line 10\n", "line 10!\n")})
        return town.ask("ann", method, at + tail, {})

    return example


def _merge_closed(town: Town) -> Answer:
    at = f"~/pulls/{town.pull()}"
    town.do("ann", "PATCH", at, {"state": "closed"})
    return town.ask("ann", "PUT", f"{at}/merge", {})


def _merge_method(town: Town) -> Answer:
    town.hello.allow_squash_merge = False
    at = f"~/pulls/{town.pull()}"
    return town.ask("ann", "PUT", f"{at}/merge", {"merge_method": "squash"})


def protected(town: Town, **rules: Any) -> int:
    """The number of a pull request into a protected main."""
    number = town.pull()
    town.do("bob", "PUT", "~/branches/main/protection", {**PROTECTION, **rules})
    return number


def merges(**rules: Any) -> Example:
    return lambda town: town.ask("ann", "PUT", f"~/pulls/{protected(town, **rules)}/merge", {})


def _merge_threads(town: Town) -> Answer:
    at = f"~/pulls/{protected(town, required_conversation_resolution=True)}"
    town.do("ann", "POST", f"{at}/reviews", {"event": "COMMENT", "comments": [LINE]})
    return town.ask("ann", "PUT", f"{at}/merge", {})


def _merge_behind(town: Town) -> Answer:
    checks = {"strict": True, "contexts": []}
    at = f"~/pulls/{protected(town, required_status_checks=checks)}"
    town.commit("main", {"b": "1"})
    return town.ask("ann", "PUT", f"{at}/merge", {})


def reviews(who: str = "ann", **body: Any) -> Example:
    return on_pull(who, "POST", "/reviews", body)


def _second_pending(town: Town) -> Answer:
    at = f"~/pulls/{town.pull()}/reviews"
    town.do("ann", "POST", at, {})
    return town.ask("ann", "POST", at, {})


def _not_pending(town: Town) -> Answer:
    at = f"~/pulls/{town.pull()}/reviews"
    made = town.do("ann", "POST", at, {"event": "APPROVE"})
    return town.ask("ann", "POST", f"{at}/{made['id']}/events", {"event": "APPROVE"})


def _not_dismissable(town: Town) -> Answer:
    at = f"~/pulls/{town.pull()}/reviews"
    made = town.do("ann", "POST", at, {"event": "COMMENT", "body": "x"})
    return town.ask("ann", "PUT", f"{at}/{made['id']}/dismissals", {"message": "x"})


def comments(**body: Any) -> Example:
    def example(town: Town) -> Answer:
        number = town.pull()
        head = town.hello.pulls[number].head_sha
        asked = {"path": "src/app.txt", "body": "x", "commit_id": head, **body}
        return town.ask("ann", "POST", f"~/pulls/{number}/comments", asked)

    return example


def _reply_to_reply(town: Town) -> Answer:
    number = town.pull()
    at = f"~/pulls/{number}/comments"
    head = town.hello.pulls[number].head_sha
    first = town.do("ann", "POST", at, {**LINE, "commit_id": head})
    reply = town.do("ann", "POST", f"{at}/{first['id']}/replies", {"body": "x"})
    return town.ask("ann", "POST", f"{at}/{reply['id']}/replies", {"body": "x"})


def checks(**body: Any) -> Example:
    def example(town: Town) -> Answer:
        head = town.world.git(town.hello).branch("main")
        return town.ask("awo", "POST", "~/check-runs", {"name": "x", "head_sha": head, **body})

    return example


def _note(**more: Any) -> dict[str, Any]:
    note = {"path": "a", "start_line": 1, "end_line": 1, "annotation_level": "notice"}
    return {**note, "message": "x", **more}


def _output(**more: Any) -> dict[str, Any]:
    return {"title": "T", "summary": "S", **more}


def _other_app(town: Town) -> Answer:
    head = town.world.git(town.hello).branch("main")
    run = town.do("other", "POST", "~/check-runs", {"name": "x", "head_sha": head})
    return town.ask("awo", "PATCH", f"~/check-runs/{run['id']}", {"status": "in_progress"})


def says(**body: Any) -> Example:
    def example(town: Town) -> Answer:
        head = town.world.git(town.hello).branch("main")
        return town.ask("awo", "POST", f"~/statuses/{head}", {"state": "success", **body})

    return example


def _many_statuses(town: Town) -> Answer:
    head = town.world.git(town.hello).branch("main") or ""
    for number in range(1000):
        status = Status(
            id=number,
            sha=head,
            state="pending",
            context="ci",
            description=None,
            target_url=None,
            creator_id=town.account("ann").id,
            created_ms=0,
        )
        town.hello.statuses.append(status)
    return town.ask("ann", "POST", f"~/statuses/{head}", {"state": "success", "context": "ci"})


ACTION = {"label": "Fix", "identifier": "fix", "description": "Fix it"}

EXAMPLES: dict[str, Example] = {
    "issues_off": _issues_off,
    "title_blank": asks("ann", "POST", "~/issues", {"title": " "}),
    "title_long": asks("ann", "POST", "~/issues", {"title": "x" * 257}),
    "body_long": on_issue("ann", "POST", "/comments", {"body": "x" * 65_537}),
    "body_blank": on_issue("ann", "POST", "/comments", {"body": " \n"}),
    "locked": _locked,
    "not_author": on_issue("carl", "PATCH", "", {"title": "Mine"}),
    "assignee_invalid": asks("ann", "POST", "~/issues", {"title": "x", "assignees": ["eve"]}),
    "assignees_many": _many_people,
    "label_exists": asks("ann", "POST", "~/labels", {"name": "BUG"}),
    "label_name": asks("ann", "POST", "~/labels", {"name": "x" * 51}),
    "label_color": asks("ann", "POST", "~/labels", {"name": "x", "color": "#ffffff"}),
    "label_shape": on_issue("ann", "POST", "/labels", {"labels": [{"color": "ffffff"}]}),
    "labels_many": on_issue("ann", "PUT", "/labels", {"labels": [f"l{n}" for n in range(101)]}),
    "head_invalid": opens(head="none"),
    "base_invalid": opens(base="none"),
    "no_commits": _no_commits,
    "no_drafts": _no_drafts,
    "unrelated": _unrelated,
    "pull_exists": _pull_exists,
    "title_or_issue": _no_title,
    "reopen_gone": _reopen("gone"),
    "reopen_exists": _reopen("exists"),
    "reopen_merged": _reopen("merged"),
    "base_closed": _base_closed,
    "reviewer_author": lambda town: town.ask(
        "bob",
        "POST",
        f"~/pulls/{town.pull(who='ann')}/requested_reviewers",
        {"reviewers": ["ann"]},
    ),
    "reviewer_stranger": on_pull("bob", "POST", "/requested_reviewers", {"reviewers": ["eve"]}),
    "branch_head_moved": on_pull("ann", "PUT", "/update-branch", {"expected_head_sha": NO_SHA}),
    "branch_current": on_pull("ann", "PUT", "/update-branch", {}),
    "branch_conflict": _conflict("PUT", "/update-branch"),
    "merge_draft": on_pull("ann", "PUT", "/merge", {}, draft=True),
    "merge_closed": _merge_closed,
    "merge_conflict": _conflict("PUT", "/merge"),
    "merge_method": _merge_method,
    "merge_head_moved": on_pull("ann", "PUT", "/merge", {"sha": NO_SHA}),
    "merge_checks": merges(required_status_checks={"strict": False, "contexts": ["ci"]}),
    "merge_reviews": merges(required_pull_request_reviews={"required_approving_review_count": 1}),
    "merge_threads": _merge_threads,
    "merge_behind": _merge_behind,
    "merge_linear": merges(required_linear_history=True),
    "own_review": lambda town: town.ask(
        "ann", "POST", f"~/pulls/{town.pull(who='ann')}/reviews", {"event": "APPROVE"}
    ),
    "review_body": reviews(event="REQUEST_CHANGES"),
    "review_commit": reviews(event="APPROVE", commit_id=NO_SHA),
    "review_lines": reviews(event="COMMENT", comments=[{**LINE, "line": 20}]),
    "review_path": reviews(event="COMMENT", comments=[{**LINE, "path": "README.md"}]),
    "review_pending": _second_pending,
    "review_not_pending": _not_pending,
    "review_not_dismissable": _not_dismissable,
    "comment_lines": comments(line=20, side="RIGHT"),
    "comment_path": comments(line=1, path="README.md"),
    "comment_commit": comments(line=10, commit_id=NO_SHA),
    "comment_range": comments(line=10, start_line=11),
    "comment_hunk": comments(line=30, start_line=10),
    "comment_line_missing": comments(),
    "reply_to_reply": _reply_to_reply,
    "check_commit": checks(head_sha=NO_SHA),
    "check_conclusion": checks(status="completed"),
    "check_stale": checks(conclusion="stale"),
    "check_long": checks(output=_output(summary="x" * 65_536)),
    "check_annotations": checks(output=_output(annotations=[_note()] * 51)),
    "check_name": checks(name=" "),
    "check_url": checks(details_url="javascript:alert(1)"),
    "check_lines": checks(output=_output(annotations=[_note(start_line=2, end_line=1)])),
    "check_columns": checks(output=_output(annotations=[_note(end_line=2, start_column=1)])),
    "check_actions": checks(actions=[{**ACTION, "label": "x" * 21}]),
    "check_of_other_app": _other_app,
    "status_commit": asks("ann", "POST", f"~/statuses/{NO_SHA}", {"state": "success"}),
    "status_long": says(description="x" * 141),
    "status_url": says(target_url="ftp://example.com"),
    "statuses_many": _many_statuses,
}

"""What the simulator's records say of each write: how often it is there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Any

from github_matrix import FINDINGS, LABELS
from github_writes import ASKS, ONE, WRITES

Records = dict[str, Any]
_KEY = re.compile(r"<!-- awo:(\S+) -->")


def verdicts(made: Records, final: Records) -> dict[str, str]:
    """By the name of the write: its outcome, or what is wrong."""
    found = {**_change(made), **_talk(made), **_checks(made), **_administration(made)}
    found |= _undone(final)
    assert set(found) == {write.name for write in WRITES}
    return found


def _change(made: Records) -> dict[str, str]:
    offered, merged = _pull(made, "offer"), _pull(made, "merge")
    heads = {ref.removeprefix("refs/heads/"): sha for ref, sha in made["branches"].items()}
    pulls = made["pull_requests"]
    pushed = [name for name in heads if "wo-" in name]
    lines = [one for one in made["review_comments"] if one["number"] == offered.get("number")]
    return {
        "push the branch": _each([_order(name) for name in pushed], 2)
        if all(heads.get(one["head_ref"]) == one["head_sha"] for one in pulls)
        else "the branches are not where the pull requests are",
        "open a pull request": _each([one["head_ref"] for one in pulls], 2),
        "update it": _is("files changed" in str(offered.get("body"))),
        "mark it ready": _is(offered.get("draft") is False),
        "review it on its lines": _each([*_keys(made["reviews"], ":review"), *_places(lines)], 2),
        "resolve a thread": _is(bool(lines) and all(one["resolved_by"] for one in lines)),
        "turn on auto-merge": _is(bool(offered.get("auto_merge"))),
        # The first commit, and the one that merged.
        "merge": _each([one["number"] for one in made["merges"]], 1)
        if merged.get("merged") and len(made["main"]) == 2
        else f"{len(made['main']) - 1} commits more on main",
    }


def _talk(made: Records) -> dict[str, str]:
    comments = made["comments"]
    progress = [one for one in comments if ":progress-comment -->" in one["body"]]
    done = [one for one in progress if "⚠️ done, but unverified" in one["body"]]
    commands = [one["id"] for one in comments if one["body"].startswith("/awo ")]
    issues = [one["id"] for one in made["issues"]]
    reactions = [(one["on"], one["content"]) for one in made["reactions"]]
    first = made["issues"][0]
    return {
        "progress comment": _each(_keys(progress, ":progress-comment"), len(LABELS)),
        "edit it in place": _is({one["number"] for one in done} >= {1, 2}),
        "comment of a task": _each(_keys(comments, ":comment:comment:"), 1),
        "answer to a command": _each(_keys(comments, "say:"), len(commands)),
        "comment as feedback": _each(_keys(comments, "feedback:"), 1),
        "react to an issue": _each([one for one in reactions if one[0] in issues], len(issues)),
        "react to a comment": _each(
            [one for one in reactions if one[0] in commands], len(commands)
        ),
        "add a label": _each([one for one in first["labels"] if one == "in-progress"], 1),
        "remove a label": _is("later" not in first["labels"]),
        "close an issue": _is(first["state"] == "closed"),
    }


def _checks(made: Records) -> dict[str, str]:
    checks = made["checks"]
    progress = [one for one in checks if ":progress-check:" in one["external_id"]]
    extra = [one for one in checks if ":check:extra:" in one["external_id"]]
    given = [one for one in checks if one["external_id"].startswith("feedback:")]
    said = [note["message"] for one in extra for note in one["annotations"]]
    statuses = [(one["sha"], one["context"]) for one in made["statuses"]]
    heads = {one["head_sha"] for one in made["pull_requests"]}
    return {
        # One of each order's last commit; the draft's may have been superseded before it had one.
        "progress check": _each([one["external_id"] for one in progress], None)
        if {one["head_sha"] for one in progress} >= heads
        else "missing",
        "conclude it": _is(all(one["conclusion"] for one in progress)),
        "check of a task": _each([one["external_id"] for one in extra], 1),
        "annotations beyond 50": _each(said, FINDINGS),
        "check as feedback": _each([one["external_id"] for one in given], 1),
        "status of a commit": _each(statuses, 2),
    }


def _administration(made: Records) -> dict[str, str]:
    started = len(made["dispatches"])
    [said] = [one["body"] for one in made["comments"] if one["number"] == 3 and _ended(one)]
    told = started == 1 if "✅ done" in said else "may have been started already" in said
    return {
        "change settings": _is(made["settings"]["description"] == "changed"),
        "protect a branch": _is("main" in made["protections"]),
        "start a workflow": ASKS if started <= 1 and told else f"{started}, and nobody was asked",
    }


def _undone(final: Records) -> dict[str, str]:
    issue, pull = final["issues"][0], _pull(final, "offer")
    branches = [ref for ref in final["branches"] if ref.endswith(str(pull.get("head_ref")))]
    return {
        "undo: close the pull request": _is(pull.get("state") == "closed" and not pull["merged"]),
        "undo: delete the branch": _is(not branches),
        "undo: take labels off": _is("in-progress" not in issue["labels"]),
        "undo: put labels back": _each([one for one in issue["labels"] if one == "later"], 1),
        "undo: reopen the issue": _is(issue["state"] == "open"),
        "undo: restore settings": _is(final["settings"]["description"] is None),
    }


def _each(found: Iterable[Hashable], expected: int | None) -> str:
    """Each of them is there once, and they are as many as expected."""
    count = Counter(found)
    doubled = {str(one): times for one, times in count.items() if times > 1}
    if doubled:
        return f"doubled: {doubled}"
    fits = bool(count) if expected is None else len(count) == expected
    return ONE if fits else f"{len(count)} instead of {expected}"


def _is(holds: bool) -> str:
    return ONE if holds else "not done"


def _keys(written: list[Records], part: str) -> list[str]:
    keys = [found[1] for one in written if (found := _KEY.search(one["body"] or ""))]
    return [key for key in keys if part in key]


def _places(comments: list[Records]) -> list[tuple[str, int]]:
    return [(one["path"], one["line"]) for one in comments]


def _order(branch: str) -> str:
    return branch[branch.index("wo-") :]


def _ended(comment: Records) -> bool:
    return ":progress-comment -->" in comment["body"]


def _pull(now: Records, workflow: str) -> Records:
    """That of the order with this workflow, or nothing."""
    number = list(LABELS.values()).index(workflow) + 1
    orders = [one["body"] for one in now["comments"] if one["number"] == number and _ended(one)]
    keys = [found[1].split(":")[0] for body in orders if (found := _KEY.search(body))]
    pulls = [one for one in now["pull_requests"] if keys and keys[0] in one["head_ref"]]
    return pulls[0] if pulls else {}

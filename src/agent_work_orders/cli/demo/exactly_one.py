"""Judging the demonstration on GitHub by the simulator's records alone: exactly one of each."""

from __future__ import annotations

from typing import Any

from agent_work_orders.cli.outcome import FAILED, Told


def verify(records: dict[str, Any]) -> list[tuple[str, str]]:
    """What there is, a line each. Told when something is missing or there twice."""
    wrong = [f"{name}: {count}" for name, count in _counts(records).items() if count != 1]
    wrong += _faults(records)
    if wrong:
        raise Told(
            "demo_not_verified", f"Not exactly one of each: {'; '.join(wrong)}", exit_code=FAILED
        )
    pull = records["pull_requests"][0]
    return [
        ("pull request", f"#{pull['number']} {pull['title']}: draft, then ready"),
        ("branch", f"{_branches(records)[0]}, pushed by git over HTTP"),
        ("comment", "one, edited in place, finished"),
        ("check", "one, concluded with success"),
        ("reactions", "one on the issue, one on the approval that counted"),
    ]


def _counts(records: dict[str, Any]) -> dict[str, int]:
    """How many there are of what there should be one of."""
    comments = records["comments"]
    eyes = [one["on"] for one in records["reactions"] if one["content"] == "eyes"]
    issues = [one["id"] for one in records["issues"]]
    approvals = [one["id"] for one in comments if one["body"].startswith("/awo approve")]
    actions = [one["action"] for one in records["deliveries"] if one["event"] == "pull_request"]
    return {
        "pull requests": len(records["pull_requests"]),
        "times it was opened": actions.count("opened"),
        "times it was made ready": actions.count("ready_for_review"),
        "branches": len(_branches(records)),
        "progress comments": sum(":progress-comment -->" in one["body"] for one in comments),
        "checks with success": sum(one["conclusion"] == "success" for one in records["checks"]),
        "eyes on the issue": sum(on in issues for on in eyes),
        "eyes on an approval": sum(on in approvals for on in eyes),
    }


def _faults(records: dict[str, Any]) -> list[str]:
    checks = records["checks"]
    judged = {
        "the pull request is not ready for review": any(
            one["draft"] or one["state"] != "open" for one in records["pull_requests"]
        ),
        "nothing was pushed over HTTP": not records["pushes"],
        "a commit has two checks": len({one["head_sha"] for one in checks}) != len(checks),
        "a check was not concluded": not all(one["conclusion"] for one in checks),
        "the comment does not say that it is done": not any(
            "✅ done" in one["body"] for one in records["comments"] if "<!-- awo:" in one["body"]
        ),
    }
    return [words for words, wrong in judged.items() if wrong]


def _branches(records: dict[str, Any]) -> list[str]:
    """Those of orders."""
    heads = [str(ref).removeprefix("refs/heads/") for ref in records["branches"]]
    return [name for name in heads if "wo-" in name]

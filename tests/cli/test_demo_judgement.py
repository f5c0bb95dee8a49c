"""The demonstration on GitHub believes the records, and nothing that is there twice or missing."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from agent_work_orders.cli.demo.exactly_one import verify
from agent_work_orders.cli.outcome import Told

GOOD: dict[str, Any] = {
    "pull_requests": [{"number": 2, "title": "Fix it", "draft": False, "state": "open"}],
    "branches": {"refs/heads/main": "a", "refs/heads/feat-wo-abcdefgh": "b"},
    "comments": [
        {"id": 11, "body": "✅ done <!-- awo:wo-x:progress-comment -->"},
        {"id": 12, "body": "/awo approve 123456789012"},
    ],
    "checks": [{"head_sha": "b", "conclusion": "success"}],
    "issues": [{"id": 1}],
    "reactions": [{"on": 1, "content": "eyes"}, {"on": 12, "content": "eyes"}],
    "deliveries": [
        {"event": "pull_request", "action": "opened"},
        {"event": "pull_request", "action": "ready_for_review"},
    ],
    "pushes": 2,
}
DAMAGE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pull requests: 2": lambda r: r["pull_requests"].append(r["pull_requests"][0]),
    "pull requests: 0": lambda r: r["pull_requests"].clear(),
    "times it was opened: 2": lambda r: r["deliveries"].append(r["deliveries"][0]),
    "times it was made ready: 0": lambda r: r["deliveries"].pop(),
    "branches: 2": lambda r: r["branches"].update({"refs/heads/feat-wo-other": "c"}),
    "progress comments: 2": lambda r: r["comments"].append(r["comments"][0]),
    "checks with success: 0": lambda r: r["checks"][0].update(conclusion="failure"),
    "eyes on the issue: 0": lambda r: r["reactions"].pop(0),
    "eyes on an approval: 0": lambda r: r["reactions"].pop(),
    "the pull request is not ready": lambda r: r["pull_requests"][0].update(draft=True),
    "nothing was pushed": lambda r: r.update(pushes=0),
    "a commit has two checks": lambda r: r["checks"].append(r["checks"][0]),
    "a check was not concluded": lambda r: r["checks"].append(
        {"head_sha": "c", "conclusion": None}
    ),
    "does not say that it is done": lambda r: r["comments"][0].update(
        body="<!-- awo:wo-x:progress-comment -->"
    ),
}


def test_one_of_each_is_told() -> None:
    assert ("branch", "feat-wo-abcdefgh, pushed by git over HTTP") in verify(GOOD)


@pytest.mark.parametrize("words", DAMAGE)
def test_anything_else_is_named(words: str) -> None:
    records = copy.deepcopy(GOOD)
    DAMAGE[words](records)
    with pytest.raises(Told, match=words):
        verify(records)

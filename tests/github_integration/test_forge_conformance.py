"""Both forges keep the contract of forge.py; GitHub's against the simulator's world."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_work_orders.github_integration.forge import Hub, Repository
from agent_work_orders.github_integration.local_forge import LocalForge
from agent_work_orders.github_integration.resources import pulls, reviews
from agent_work_orders.testing.conformance.forge import ForgeConformance
from agent_work_orders.testing.conformance.hub import HubConformance
from agent_work_orders.testing.fakes.simulated_transport import SimulatedHub, lost

sys.path.append(str(Path(__file__).parents[1]))
from github_descriptions import graphql_fields, validate_request


class LocalDesk:
    def __init__(self, folder: Path) -> None:
        self.forge = LocalForge(folder)
        self.repository = Repository(key="repo-1")
        self._pushed = 0

    def push(self, branch: str, *, changes: bool = True) -> tuple[str, str]:
        self._pushed += 1
        base = "0" * 40
        return (f"{self._pushed:040x}" if changes else base), base


def described(method: str, path: str, query: Any, body: Any) -> None:
    """Every request of ours is one that GitHub describes, to the last field."""
    if path != "/graphql":
        validate_request(method, path, query, body)


class SimulatedDesk:
    def __init__(self, folder: Path) -> None:
        self.hub = SimulatedHub(folder)
        self.hub.transport.watch = described
        self.forge: Hub = self.hub.forge
        self.repository = self.hub.repository
        self._pushed = 0

    def push(self, branch: str, *, changes: bool = True) -> tuple[str, str]:
        git = self.hub.world.git(self.hub.stored)
        base = git.branch("main")
        assert base is not None
        if not changes:
            self.hub.act(
                "octocat", "POST", "git/refs", {"ref": f"refs/heads/{branch}", "sha": base}
            )
            return base, base
        self._pushed += 1
        files: dict[str, str | bytes | None] = {"README.md": f"one\nzwei {self._pushed}\nthree\n"}
        return self.hub.commit(branch, files, "Change"), base

    def act(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.hub.act("octocat", method, path, body)
        assert answer.status < 300, answer
        return answer.body

    def lose_next_answer(self, method: str) -> None:
        def once(asked: str, _path: str) -> Exception | None:
            if asked != method:
                return None
            self.hub.transport.after = lambda _method, _path: None
            return lost()

        self.hub.transport.after = once


class TestLocalForge(ForgeConformance):
    @pytest.fixture
    def desk(self, tmp_path: Path) -> LocalDesk:
        return LocalDesk(tmp_path)


class TestGithubForge(ForgeConformance, HubConformance):
    @pytest.fixture
    def desk(self, tmp_path: Path) -> SimulatedDesk:
        return SimulatedDesk(tmp_path)


# All that our questions name, by the type that has it.
ASKED = {
    "Query": {"repository"},
    "Repository": {"pullRequest"},
    "PullRequest": {"id", "isDraft", "merged", "autoMergeRequest", "reviewThreads"},
    "AutoMergeRequest": {"mergeMethod"},
    "PullRequestReviewThreadConnection": {"pageInfo", "nodes"},
    "PageInfo": {"hasNextPage", "endCursor"},
    "PullRequestReviewThread": {"id", "isResolved", "path", "line", "comments"},
    "PullRequestReviewCommentConnection": {"nodes"},
    "PullRequestReviewComment": {"author"},
    "Actor": {"login"},
    "Mutation": {
        "markPullRequestReadyForReview",
        "enablePullRequestAutoMerge",
        "resolveReviewThread",
    },
    "MarkPullRequestReadyForReviewInput": {"pullRequestId"},
    "MarkPullRequestReadyForReviewPayload": {"pullRequest"},
    "EnablePullRequestAutoMergeInput": {"pullRequestId", "mergeMethod"},
    "EnablePullRequestAutoMergePayload": {"pullRequest"},
    "ResolveReviewThreadInput": {"threadId"},
    "ResolveReviewThreadPayload": {"thread"},
}
QUESTIONS = (
    pulls._READY,
    pulls._AUTO_MERGE_STATE,
    pulls._AUTO_MERGE,
    reviews._THREADS,
    reviews._RESOLVE,
)


def test_every_question_is_one_that_the_schema_answers() -> None:
    known = graphql_fields()
    for kind, names in ASKED.items():
        assert names <= set(known[kind]), kind
    assert {"owner", "name"} <= known["Query"]["repository"]
    assert {"number"} <= known["Repository"]["pullRequest"]
    assert {"first", "after"} <= known["PullRequest"]["reviewThreads"]
    assert {"first"} <= known["PullRequestReviewThread"]["comments"]
    listed = set().union(*ASKED.values())
    arguments = {"owner", "name", "number", "first", "after", "input"}
    for question in QUESTIONS:
        inside = question.split("{", 1)[1]
        words = set(re.findall(r"(?<![$\w])[A-Za-z]+", inside))
        assert words <= listed | arguments, words - listed - arguments

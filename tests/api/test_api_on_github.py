"""The documents' endpoints with GitHub behind them: the simulator, over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent_work_orders import settings as settings_room
from agent_work_orders.settings import Settings
from github_simulator.directing import scenery
from github_simulator.server import GithubSimulator
from github_simulator.standing import Cast, found

FINDING = {"path": "basket.py", "line": 2, "severity": "error", "message": "Adds nothing up."}
SAID = f"```json\n{json.dumps({'summary': 'Not yet.', 'findings': [FINDING]})}\n```"
VERIFY = "/api/github/verify-repository"


@pytest.fixture
async def github(tmp_path: Path) -> AsyncIterator[GithubSimulator]:
    async with GithubSimulator(tmp_path / "github") as github:
        yield github


@pytest.fixture
def cast(github: GithubSimulator, tmp_path: Path) -> Cast:
    return found(github, tmp_path, "", {"basket.py": "def total(prices):\n    return 0\n"})


@pytest.fixture
def app_id(github: GithubSimulator, cast: Cast, request: pytest.FixtureRequest) -> str:
    """As somebody configures it: the App's number, or its client id."""
    app = github.world.apps[cast.app_id]
    return app.client_id if getattr(request, "param", "") == "client id" else str(app.id)


@pytest.fixture
def settings(cast: Cast, app_id: str, tmp_path: Path) -> Settings:
    script = tmp_path / "script.yaml"
    script.write_text(json.dumps({"version": 1, "default": [{"text": SAID}]}))
    environ = {
        "AWO_DRAIN_S": "0",
        "AWO_SYNCHRONOUS": "NORMAL",
        "AWO_DEFAULT_AGENT": "scripted",
        "AWO_AGENT_SCRIPT": str(script),
        "AWO_GIT_ORIGINS": cast.url,
        "GITHUB_API_URL": cast.url,
        "GITHUB_SERVER_URL": cast.url,
        "GITHUB_APP_ID": app_id,
        "GITHUB_PRIVATE_KEY": cast.private_key_file,
    }
    return settings_room.load(environ, home=tmp_path / "home")


async def test_a_repository_is_verified_with_the_apps_access(client: Any, cast: Cast) -> None:
    answer = await client.post(VERIFY, json={"repository_url": cast.clone_url})
    whole = answer.json()
    assert whole["verification_success"], whole
    assert (whole["repository"]["repository_owner"], whole["repository"]["repository_name"]) == (
        "sample",
        "basket",
    )
    assert (whole["repository"]["is_accessible"], whole["repository"]["default_branch"]) == (
        True,
        "main",
    )


async def test_one_without_the_app_is_told_what_to_do(client: Any, cast: Cast) -> None:
    answer = await client.post(VERIFY, json={"repository_url": f"{cast.url}/sample/other.git"})
    assert answer.status_code == 200
    whole = answer.json()
    assert not whole["verification_success"] and not whole["repository"]["is_accessible"]
    assert "not installed" in whole["error_message"] and whole["error_hint"]


@pytest.mark.parametrize("app_id", ["number", "client id"], indirect=True)
async def test_a_review_that_is_submitted_ends_on_the_pull_request(
    client: Any, github: GithubSimulator, cast: Cast, reach: Any, app_id: str
) -> None:
    """`/api/submit` to `/task/{id}`: the review stands on the line, the check says so."""
    assert app_id.startswith("Iv") or app_id == str(cast.app_id)
    commit = scenery.Commit(
        login="writer",
        repository=cast.repository,
        branch="change",
        files={"basket.py": "def total(prices):\n    return prices\n"},
        message="Change it",
    )
    sha = scenery.commit(github, commit)["sha"]
    pull = {"title": "Sum", "head": "change", "base": "main", "body": ""}
    act = scenery.Act(
        login="writer", method="POST", path=f"/repos/{cast.repository}/pulls", body=pull
    )
    number = scenery.act(github, act)["body"]["number"]
    where = {"owner": "sample", "name": "basket", "cloneUrl": cast.clone_url}
    data = {
        "prNumber": number, "prTitle": "Sum", "prBody": "", "repository": where,
        "baseSha": sha, "headSha": sha, "changedFiles": [],
    }  # fmt: skip
    made = await client.post("/api/submit", json={"type": "pr-review", "data": data})
    order_id = made.json()["id"]
    await reach(client, order_id, "completed")
    task = (await client.get(f"/task/{order_id}")).json()
    assert (task["type"], task["status"], task["result"]["success"]) == (
        "pr-review",
        "completed",
        True,
    )
    (repository,) = github.world.repositories.values()
    [review] = repository.reviews.values()
    [remark] = repository.review_comments.values()
    assert (review.state, remark.path, remark.line) == ("CHANGES_REQUESTED", "basket.py", 2)
    [check] = repository.check_runs.values()
    assert (check.head_sha, check.conclusion) == (sha, "failure")

"""Check suites, check runs, statuses."""

from __future__ import annotations

from typing import Any

from github_simulator.shapes import history, people, pull, repo
from github_simulator.things.check import CheckRun, CheckSuite, Status
from github_simulator.things.repository import Repository
from github_simulator.things.review import PullRequest
from github_simulator.things.stamps import maybe_stamp, node_id, stamp
from github_simulator.world import World

# From worst to best: a suite has the worst conclusion of its runs.
_WORST = (
    "action_required",
    "timed_out",
    "failure",
    "cancelled",
    "stale",
    "neutral",
    "skipped",
    "success",
)


def run(world: World, repository: Repository, run: CheckRun) -> dict[str, Any]:
    url = f"{repo.api_url(world, repository)}/check-runs/{run.id}"
    page = f"{repo.web_url(world, repository)}/runs/{run.id}"
    return {
        "id": run.id,
        "name": run.name,
        "node_id": node_id("CR", run.id),
        "head_sha": run.head_sha,
        "external_id": run.external_id,
        "url": url,
        "html_url": page,
        "details_url": run.details_url or page,
        "status": run.status,
        "conclusion": run.conclusion,
        "started_at": maybe_stamp(run.started_ms),
        "completed_at": maybe_stamp(run.completed_ms),
        "output": {
            "title": run.title,
            "summary": run.summary,
            "text": run.text,
            "annotations_count": len(run.annotations),
            "annotations_url": f"{url}/annotations",
        },
        "check_suite": {"id": run.suite_id},
        "app": people.app_by_id(world, run.app_id),
        "pull_requests": [
            pull.minimal(world, repository, each) for each in pulls_of(repository, run.head_sha)
        ],
    }


def hook_run(world: World, repository: Repository, own: CheckRun) -> dict[str, Any]:
    """In a webhook a run carries its suite."""
    suite_ = repository.check_suites[own.suite_id]
    whole = suite(world, repository, suite_)
    kept = ("id", "node_id", "head_branch", "head_sha", "status", "conclusion", "url", "before")
    more = ("after", "pull_requests", "app", "created_at", "updated_at")
    return {
        **run(world, repository, own),
        "check_suite": {name: whole[name] for name in (*kept, *more)},
    }


def suite(world: World, repository: Repository, suite: CheckSuite) -> dict[str, Any]:
    runs = [each for each in repository.check_runs.values() if each.suite_id == suite.id]
    url = f"{repo.api_url(world, repository)}/check-suites/{suite.id}"
    status, conclusion = summed(runs)
    return {
        "id": suite.id,
        "node_id": node_id("CS", suite.id),
        "head_branch": suite.head_branch,
        "head_sha": suite.head_sha,
        "status": status,
        "conclusion": conclusion,
        "url": url,
        "before": suite.before,
        "after": suite.head_sha,
        "pull_requests": [
            pull.minimal(world, repository, each) for each in pulls_of(repository, suite.head_sha)
        ],
        "app": people.app_by_id(world, suite.app_id),
        "created_at": stamp(suite.created_ms),
        "updated_at": stamp(suite.updated_ms),
        "rerequestable": True,
        "runs_rerequestable": True,
        "latest_check_runs_count": len(runs),
        "check_runs_url": f"{url}/check-runs",
        "head_commit": history.simple_commit(world, repository, suite.head_sha),
        "repository": repo.brief(world, repository),
    }


def summed(runs: list[CheckRun]) -> tuple[str, str | None]:
    """Status and conclusion of a suite, from its runs."""
    if not runs or all(each.status == "queued" for each in runs):
        return "queued", None
    if any(each.status != "completed" for each in runs):
        return "in_progress", None
    conclusions = {each.conclusion for each in runs}
    return "completed", next(name for name in _WORST if name in conclusions)


def annotation(
    world: World, repository: Repository, run: CheckRun, own: dict[str, Any]
) -> dict[str, Any]:
    path = own["path"]
    names = ("start_line", "end_line", "start_column", "end_column", "annotation_level", "title")
    return {
        "path": path,
        **{name: own.get(name) for name in (*names, "message", "raw_details")},
        "blob_href": f"{repo.web_url(world, repository)}/blob/{run.head_sha}/{path}",
    }


def pulls_of(repository: Repository, sha: str) -> list[PullRequest]:
    """Open ones from the same repository: a check tells nothing of those from forks."""
    return [
        each
        for each in repository.pulls.values()
        if each.head_sha == sha
        and each.head_repository_id == repository.id
        and repository.issues[each.number].state == "open"
    ]


def status(world: World, repository: Repository, status: Status) -> dict[str, Any]:
    return {
        **simple_status(world, repository, status),
        "creator": people.user_by_id(world, status.creator_id),
    }


def simple_status(world: World, repository: Repository, status: Status) -> dict[str, Any]:
    return {
        "url": f"{repo.api_url(world, repository)}/statuses/{status.sha}",
        "avatar_url": f"{world.server_url}/avatars/{status.creator_id}",
        "id": status.id,
        "node_id": node_id("SC", status.id),
        "state": status.state,
        "description": status.description,
        "target_url": status.target_url,
        "context": status.context,
        "created_at": stamp(status.created_ms),
        "updated_at": stamp(status.created_ms),
    }


def newest(repository: Repository, sha: str) -> list[Status]:
    """Of each context the last."""
    found: dict[str, Status] = {}
    for each in repository.statuses:
        if each.sha == sha:
            found[each.context] = each
    return list(found.values())


def combined(statuses: list[Status]) -> str:
    states = {each.state for each in statuses}
    if states & {"failure", "error"}:
        return "failure"
    return "pending" if not states or "pending" in states else "success"

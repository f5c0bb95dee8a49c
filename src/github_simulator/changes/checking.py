"""Check runs: reading what an App sends, and telling what became of it."""

from __future__ import annotations

from typing import Any

from github_simulator.changes import merging, webhooks
from github_simulator.rules import refusals
from github_simulator.shapes import verdict
from github_simulator.things.accounts import Account
from github_simulator.things.check import CheckRun
from github_simulator.things.repository import Repository
from github_simulator.things.stamps import parse_stamp
from github_simulator.world import World

# checks/create
ANNOTATIONS_LIMIT = 50
TEXT_LIMIT = 65_535
ACTIONS_LIMIT = 3
ACTION_LIMITS = {"label": 20, "identifier": 20, "description": 40}


def check(body: dict[str, Any]) -> None:
    """What no single field's type says."""
    name, url = body.get("name"), body.get("details_url")
    refusals.CHECK_NAME.when(
        name is not None and not name.strip(), 'Invalid request.\n\n"name" wasn\'t supplied.'
    )
    refusals.CHECK_URL.when(
        bool(url) and not str(url).lower().startswith(("http://", "https://")),
        "Invalid request.\n\ndetails_url must use http or https scheme",
    )
    conclusion = body.get("conclusion")
    refusals.CHECK_CONCLUSION.when(
        body.get("status") == "completed" and not conclusion,
        'Invalid request.\n\n"conclusion" wasn\'t supplied.',
    )
    refusals.CHECK_STALE.when(
        conclusion == "stale", "Invalid request.\n\nstale is not a member of the conclusions."
    )
    output = body.get("output") or {}
    for name in ("summary", "text"):
        size = len(output.get(name) or "")
        refusals.CHECK_LONG.when(
            size > TEXT_LIMIT,
            f"Invalid request.\n\nOnly {TEXT_LIMIT} characters are allowed; {size} were supplied.",
        )
    annotations = output.get("annotations") or []
    refusals.CHECK_ANNOTATIONS.when(
        len(annotations) > ANNOTATIONS_LIMIT,
        f"Invalid request.\n\nNo more than {ANNOTATIONS_LIMIT} items are allowed; "
        f"{len(annotations)} were supplied.",
    )
    for each in annotations:
        refusals.CHECK_LINES.when(
            each["end_line"] < each["start_line"],
            "Invalid request.\n\nend_line must not be before start_line.",
        )
        columns = {"start_column", "end_column"} & set(each)
        refusals.CHECK_COLUMNS.when(
            columns and each["start_line"] != each["end_line"],
            "Invalid request.\n\nstart_column and end_column are allowed on one line only.",
        )
    _check_actions(body.get("actions") or [])


def _check_actions(actions: list[dict[str, str]]) -> None:
    refusals.CHECK_ACTIONS.when(
        len(actions) > ACTIONS_LIMIT,
        f"Invalid request.\n\nNo more than {ACTIONS_LIMIT} items are allowed; "
        f"{len(actions)} were supplied.",
    )
    for each in actions:
        for name, limit in ACTION_LIMITS.items():
            refusals.CHECK_ACTIONS.when(
                len(each[name]) > limit,
                f"Invalid request.\n\nOnly {limit} characters are allowed; "
                f"{len(each[name])} were supplied.",
            )


def apply(world: World, run: CheckRun, body: dict[str, Any]) -> None:
    """Annotations are added to those that are there; everything else is replaced."""
    for field in ("name", "details_url", "external_id"):
        if field in body:
            setattr(run, field, body[field])
    if body.get("conclusion"):
        run.status, run.conclusion = "completed", body["conclusion"]
    elif "status" in body:
        run.status, run.conclusion = body["status"], None
    now = world.now_ms()
    if body.get("started_at"):
        run.started_ms = parse_stamp(body["started_at"])
    elif run.started_ms is None and run.status != "queued":
        run.started_ms = now
    if run.status == "completed":
        run.completed_ms = parse_stamp(body.get("completed_at") or "") or run.completed_ms or now
    else:
        run.completed_ms = None
    output = body.get("output") or {}
    run.title = output.get("title", run.title)
    run.summary = output.get("summary", run.summary)
    run.text = output.get("text", run.text)
    run.annotations.extend(output.get("annotations") or [])
    run.actions = body.get("actions", run.actions)


def tell(world: World, repository: Repository, run: CheckRun, by: Account, was: str | None) -> None:
    """`was` is the status before, None for a new run. A suite ends with its last run."""
    own = verdict.hook_run(world, repository, run)
    if was is None:
        webhooks.emit(world, "check_run", "created", repository, by, check_run=own)
    suite = repository.check_suites[run.suite_id]
    suite.updated_ms = world.now_ms()
    if run.status == "completed" and was != "completed":
        webhooks.emit(world, "check_run", "completed", repository, by, check_run=own)
        shape = verdict.suite(world, repository, suite)
        if shape["status"] == "completed":
            webhooks.emit(world, "check_suite", "completed", repository, by, check_suite=shape)
    merging.look_again(world, repository, run.head_sha)


def rerequest_run(world: World, repository: Repository, run: CheckRun, by: Account) -> None:
    """The Re-run button of one run: its App alone hears of it and makes a new one."""
    own = verdict.hook_run(world, repository, run)
    webhooks.emit(
        world, "check_run", "rerequested", repository, by, only_app=run.app_id, check_run=own
    )


def request_action(
    world: World, repository: Repository, run: CheckRun, identifier: str, by: Account
) -> None:
    """A button that the run's App put there."""
    webhooks.emit(
        world,
        "check_run",
        "requested_action",
        repository,
        by,
        only_app=run.app_id,
        check_run=verdict.hook_run(world, repository, run),
        requested_action={"identifier": identifier},
    )


def rerequest_suite(world: World, repository: Repository, suite_id: int, by: Account) -> None:
    suite = repository.check_suites[suite_id]
    shape = verdict.suite(world, repository, suite)
    webhooks.emit(
        world,
        "check_suite",
        "rerequested",
        repository,
        by,
        only_app=suite.app_id,
        check_suite=shape,
    )

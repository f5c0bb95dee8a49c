"""Check runs. Only Apps write them, each its own."""

from __future__ import annotations

from github_simulator.asking import access
from github_simulator.asking.paging import page
from github_simulator.call import Answer, Call, Field, Route
from github_simulator.changes import checking, pushes, writing
from github_simulator.rules import refusals
from github_simulator.shapes import verdict
from github_simulator.things.check import CONCLUSIONS, CheckRun
from github_simulator.things.git_store import ZERO
from github_simulator.things.repository import Repository

STATUSES = ("queued", "in_progress", "completed")
# The others are for GitHub Actions.
ALL_STATUSES = (*STATUSES, "waiting", "requested", "pending")


def create(call: Call) -> Answer:
    repository, body, world = access.repository(call), call.body, call.world
    sha, app_id = body["head_sha"], call.actor.app_id or 0
    known = world.git(repository).has_commit(sha)
    refusals.CHECK_COMMIT.when(not known, f"No commit found for SHA: {sha}")
    checking.check(body)
    suite = pushes.find_suite(repository, app_id, sha)
    if suite is None:
        heads = world.git(repository).refs("refs/heads/")
        at = next((name for name, tip in heads.items() if tip == sha), None)
        branch = None if at is None else at.removeprefix("refs/heads/")
        suite = pushes.make_suite(world, repository, app_id, sha, branch, ZERO)
    run = CheckRun(
        id=world.next_id(),
        suite_id=suite.id,
        app_id=app_id,
        name=body["name"],
        head_sha=sha,
        external_id="",
        details_url=None,
        status="queued",
        conclusion=None,
        started_ms=call.now_ms,
        completed_ms=None,
    )
    checking.apply(world, run, body)
    repository.check_runs[run.id] = run
    checking.tell(world, repository, run, writing.author(call), None)
    return Answer(status=201, body=verdict.run(world, repository, run))


def update(call: Call) -> Answer:
    repository, world = access.repository(call), call.world
    run = _find(call, repository)
    refusals.CHECK_OF_OTHER_APP.when(
        run.app_id != call.actor.app_id,
        f"Invalid app_id `{call.actor.app_id}` - check run can only be modified by the GitHub App "
        "that created it.",
    )
    checking.check(call.body)
    was = run.status
    checking.apply(world, run, call.body)
    checking.tell(world, repository, run, writing.author(call), was)
    return Answer(body=verdict.run(world, repository, run))


def get(call: Call) -> Answer:
    repository = access.repository(call)
    return Answer(body=verdict.run(call.world, repository, _find(call, repository)))


def annotations_of(call: Call) -> Answer:
    repository = access.repository(call)
    run = _find(call, repository)
    return page(
        call, run.annotations, lambda each: verdict.annotation(call.world, repository, run, each)
    )


def rerequest(call: Call) -> Answer:
    repository = access.repository(call)
    run = _find(call, repository)
    checking.rerequest_run(call.world, repository, run, writing.author(call))
    return Answer(status=201, body={})


def of_ref(call: Call) -> Answer:
    repository, ref = access.repository(call), call.params["ref"]
    sha = refusals.COMMIT_MISSING.found(
        call.world.git(repository).resolve(ref), f"No commit found for SHA: {ref}"
    )
    return listed(
        call, repository, [r for r in repository.check_runs.values() if r.head_sha == sha]
    )


def listed(call: Call, repository: Repository, runs: list[CheckRun]) -> Answer:
    """Newest first; of those with one name by one App only the newest, unless all are wanted."""
    query = call.query
    runs = sorted(runs, key=lambda run: -run.id)
    if query.get("filter", "latest") == "latest":
        latest: dict[tuple[str, int], CheckRun] = {}
        for run in runs:
            latest.setdefault((run.name, run.app_id), run)
        runs = list(latest.values())
    if query.get("check_name"):
        runs = [run for run in runs if run.name == query["check_name"]]
    if query.get("status"):
        runs = [run for run in runs if run.status == query["status"]]
    if query.get("app_id"):
        runs = [run for run in runs if str(run.app_id) == query["app_id"]]
    return page(
        call, runs, lambda each: verdict.run(call.world, repository, each), under="check_runs"
    )


def _find(call: Call, repository: Repository) -> CheckRun:
    return refusals.CHECK_MISSING.found(repository.check_runs.get(int(call.params["check_run_id"])))


_AT = "/repos/{owner}/{repo}/check-runs"
_ONE = _AT + "/{check_run_id}"
_READ, _WRITE = (("checks", "read"),), (("checks", "write"),)
_NUMBER = ("integer",)
FILTERS = {"filter": ("latest", "all"), "status": ("queued", "in_progress", "completed")}


def _output(*, title: bool) -> Field:
    annotation = (
        Field(name="path", required=True),
        Field(name="start_line", kinds=_NUMBER, required=True),
        Field(name="end_line", kinds=_NUMBER, required=True),
        Field(name="start_column", kinds=_NUMBER),
        Field(name="end_column", kinds=_NUMBER),
        Field(name="annotation_level", required=True, enum=("notice", "warning", "failure")),
        Field(name="message", required=True),
        Field(name="title"),
        Field(name="raw_details"),
    )
    image = (
        Field(name="alt", required=True),
        Field(name="image_url", required=True),
        Field(name="caption"),
    )
    fields = (
        Field(name="title", required=title),
        Field(name="summary", required=True),
        Field(name="text"),
        Field(name="annotations", kinds=("array",), items=("object",), fields=annotation),
        Field(name="images", kinds=("array",), items=("object",), fields=image),
    )
    return Field(name="output", kinds=("object",), fields=fields)


_COMMON = (
    Field(name="details_url"),
    Field(name="external_id"),
    Field(name="started_at"),
    Field(name="conclusion", enum=CONCLUSIONS),
    Field(name="completed_at"),
    Field(
        name="actions",
        kinds=("array",),
        items=("object",),
        fields=tuple(Field(name=each, required=True) for each in checking.ACTION_LIMITS),
    ),
)

ROUTES = (
    Route(
        method="POST",
        template=_AT,
        operation="checks/create",
        needs=_WRITE,
        by="apps",
        body=(
            Field(name="name", required=True),
            Field(name="head_sha", required=True),
            Field(name="status", enum=STATUSES),
            *_COMMON,
            _output(title=True),
        ),
        handler=create,
    ),
    Route(
        method="PATCH",
        template=_ONE,
        operation="checks/update",
        needs=_WRITE,
        by="apps",
        body=(
            Field(name="name"),
            Field(name="status", enum=ALL_STATUSES),
            *_COMMON,
            _output(title=False),
        ),
        handler=update,
    ),
    Route(method="GET", template=_ONE, operation="checks/get", needs=_READ, handler=get),
    Route(
        method="GET",
        template=_ONE + "/annotations",
        operation="checks/list-annotations",
        needs=_READ,
        handler=annotations_of,
    ),
    Route(
        method="POST",
        template=_ONE + "/rerequest",
        operation="checks/rerequest-run",
        needs=_WRITE,
        by="apps",
        handler=rerequest,
    ),
    Route(
        method="GET",
        template="/repos/{owner}/{repo}/commits/{ref}/check-runs",
        operation="checks/list-for-ref",
        needs=_READ,
        choices=FILTERS,
        handler=of_ref,
    ),
)

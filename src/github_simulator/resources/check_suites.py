"""Check suites: one for each App and head."""

from __future__ import annotations

from github_simulator.asking import access
from github_simulator.asking.paging import page
from github_simulator.call import Answer, Call, Route
from github_simulator.changes import checking, writing
from github_simulator.resources import check_runs
from github_simulator.rules import refusals
from github_simulator.shapes import verdict
from github_simulator.things.check import CheckSuite
from github_simulator.things.repository import Repository


def of_ref(call: Call) -> Answer:
    repository, ref = access.repository(call), call.params["ref"]
    sha = refusals.COMMIT_MISSING.found(
        call.world.git(repository).resolve(ref), f"No commit found for SHA: {ref}"
    )
    found = [each for each in repository.check_suites.values() if each.head_sha == sha]
    if call.query.get("app_id"):
        found = [each for each in found if str(each.app_id) == call.query["app_id"]]
    return page(
        call, found, lambda each: verdict.suite(call.world, repository, each), under="check_suites"
    )


def get(call: Call) -> Answer:
    repository = access.repository(call)
    return Answer(body=verdict.suite(call.world, repository, _find(call, repository)))


def runs(call: Call) -> Answer:
    repository = access.repository(call)
    suite = _find(call, repository)
    found = [each for each in repository.check_runs.values() if each.suite_id == suite.id]
    return check_runs.listed(call, repository, found)


def rerequest(call: Call) -> Answer:
    repository = access.repository(call)
    suite = _find(call, repository)
    checking.rerequest_suite(call.world, repository, suite.id, writing.author(call))
    return Answer(status=201, body={})


def _find(call: Call, repository: Repository) -> CheckSuite:
    return refusals.SUITE_MISSING.found(
        repository.check_suites.get(int(call.params["check_suite_id"]))
    )


_ONE = "/repos/{owner}/{repo}/check-suites/{check_suite_id}"
_READ = (("checks", "read"),)
ROUTES = (
    Route(
        method="GET",
        template="/repos/{owner}/{repo}/commits/{ref}/check-suites",
        operation="checks/list-suites-for-ref",
        needs=_READ,
        handler=of_ref,
    ),
    Route(method="GET", template=_ONE, operation="checks/get-suite", needs=_READ, handler=get),
    Route(
        method="GET",
        template=_ONE + "/check-runs",
        operation="checks/list-for-suite",
        needs=_READ,
        choices=check_runs.FILTERS,
        handler=runs,
    ),
    Route(
        method="POST",
        template=_ONE + "/rerequest",
        operation="checks/rerequest-suite",
        needs=(("checks", "write"),),
        by="apps",
        handler=rerequest,
    ),
)

"""Labels of a repository, and of its issues."""

from __future__ import annotations

import re

from github_simulator.asking import access
from github_simulator.asking.paging import page
from github_simulator.call import Answer, Call, Field, Route
from github_simulator.changes import labelling, webhooks, writing
from github_simulator.rules import refusals
from github_simulator.shapes import repo, talk
from github_simulator.things.repository import Label, Repository


def every(call: Call) -> Answer:
    repository = access.repository(call)
    labels = list(repository.labels.values())
    return page(call, labels, lambda each: repo.label(call.world, repository, each))


def get(call: Call) -> Answer:
    repository = access.repository(call)
    label = refusals.LABEL_MISSING.found(repository.labels.get(call.params["name"].lower()))
    return Answer(body=repo.label(call.world, repository, label))


def create(call: Call) -> Answer:
    repository, name = access.repository(call), call.body["name"]
    labelling.check_name(name)
    color = call.body.get("color", "ededed")
    refusals.LABEL_COLOR.invalid(
        not re.fullmatch(r"[0-9a-fA-F]{6}", color), "Label", "color", code="invalid"
    )
    refusals.LABEL_EXISTS.invalid(
        name.lower() in repository.labels, "Label", "name", code="already_exists"
    )
    label = Label(
        id=call.world.next_id(),
        name=name,
        color=color.lower(),
        description=call.body.get("description"),
    )
    repository.labels[name.lower()] = label
    shape = repo.label(call.world, repository, label)
    webhooks.emit(call.world, "label", "created", repository, writing.author(call), label=shape)
    return Answer(status=201, body=shape)


def of_issue(call: Call) -> Answer:
    repository = access.repository(call)
    issue = writing.issue(call, repository)
    labels = [repository.labels[name] for name in issue.labels]
    return page(call, labels, lambda each: repo.label(call.world, repository, each))


def add(call: Call) -> Answer:
    repository = access.repository(call)
    issue = writing.issue(call, repository)
    wanted = [*issue.labels, *labelling.names(_asked(call))]
    _check_new(call, repository, wanted)
    labelling.check_count(wanted)
    labelling.put(call, repository, issue, wanted)
    return Answer(body=talk.labels(call.world, repository, issue))


def _check_new(call: Call, repository: Repository, wanted: list[str]) -> None:
    """Who triages may use the repository's labels, and make none."""
    if any(name.lower() not in repository.labels for name in wanted):
        access.check_role(call, repository, "write")


def put(call: Call) -> Answer:
    repository = access.repository(call)
    issue = writing.issue(call, repository)
    wanted = labelling.names(_asked(call))
    _check_new(call, repository, wanted)
    labelling.check_count(wanted)
    labelling.put(call, repository, issue, wanted)
    return Answer(body=talk.labels(call.world, repository, issue))


def clear(call: Call) -> Answer:
    repository = access.repository(call)
    labelling.put(call, repository, writing.issue(call, repository), [])
    return Answer(status=204)


def remove(call: Call) -> Answer:
    repository, name = access.repository(call), call.params["name"].lower()
    issue = writing.issue(call, repository)
    refusals.LABEL_NOT_THERE.when(name not in issue.labels)
    labelling.put(call, repository, issue, [each for each in issue.labels if each != name])
    return Answer(body=talk.labels(call.world, repository, issue))


def _asked(call: Call) -> list[object]:
    """`{"labels": […]}`, or the list alone."""
    asked = call.body.get("labels", call.body.get("", []))
    return list(asked)


_READ = (("issues", "read"), ("pull_requests", "read"))
_WRITE = (("issues", "write"), ("pull_requests", "write"))
_ALL = "/repos/{owner}/{repo}/labels"
_OF = "/repos/{owner}/{repo}/issues/{issue_number}/labels"
_LABELS = (
    Field(name="labels", kinds=("array",), items=("string", "object")),
    Field(name="", kinds=("array",), items=("string", "object")),
)


ROUTES = (
    Route(
        method="GET",
        template=_ALL,
        operation="issues/list-labels-for-repo",
        needs=_READ,
        handler=every,
    ),
    Route(
        method="POST",
        template=_ALL,
        operation="issues/create-label",
        needs=_WRITE,
        role="write",
        body=(
            Field(name="name", required=True),
            Field(name="color"),
            Field(name="description", kinds=("string", "null")),
        ),
        handler=create,
    ),
    Route(
        method="GET",
        template=_ALL + "/{name}",
        operation="issues/get-label",
        needs=_READ,
        handler=get,
    ),
    Route(
        method="GET",
        template=_OF,
        operation="issues/list-labels-on-issue",
        needs=_READ,
        handler=of_issue,
    ),
    Route(
        method="POST",
        template=_OF,
        operation="issues/add-labels",
        needs=_WRITE,
        role="triage",
        body=_LABELS,
        handler=add,
    ),
    Route(
        method="PUT",
        template=_OF,
        operation="issues/set-labels",
        needs=_WRITE,
        role="triage",
        body=_LABELS,
        handler=put,
    ),
    Route(
        method="DELETE",
        template=_OF,
        operation="issues/remove-all-labels",
        needs=_WRITE,
        role="triage",
        handler=clear,
    ),
    Route(
        method="DELETE",
        template=_OF + "/{name}",
        operation="issues/remove-label",
        needs=_WRITE,
        role="triage",
        handler=remove,
    ),
)

"""Who works on an issue."""

from __future__ import annotations

from github_simulator.asking import access
from github_simulator.call import Answer, Call, Field, Route
from github_simulator.changes import labelling, writing
from github_simulator.shapes import talk


def add(call: Call) -> Answer:
    """Who cannot be assigned is silently left out."""
    repository = access.repository(call)
    issue = writing.issue(call, repository)
    named = labelling.people_named(call, repository, call.body.get("assignees") or [])
    wanted = [*issue.assignees, *(account.id for account in named)]
    labelling.check_assignee_count(len(set(wanted)))
    labelling.assign(call, repository, issue, wanted)
    return Answer(status=201, body=talk.issue(call.world, repository, issue))


def remove(call: Call) -> Answer:
    repository = access.repository(call)
    issue = writing.issue(call, repository)
    named = labelling.people_named(call, repository, call.body.get("assignees") or [])
    gone = {account.id for account in named}
    labelling.assign(call, repository, issue, [i for i in issue.assignees if i not in gone])
    return Answer(body=talk.issue(call.world, repository, issue))


_AT = "/repos/{owner}/{repo}/issues/{issue_number}/assignees"
_WRITE = (("issues", "write"), ("pull_requests", "write"))
_BODY = (Field(name="assignees", kinds=("array",), items=("string",)),)

ROUTES = (
    Route(
        method="POST",
        template=_AT,
        operation="issues/add-assignees",
        needs=_WRITE,
        role="triage",
        body=_BODY,
        handler=add,
    ),
    Route(
        method="DELETE",
        template=_AT,
        operation="issues/remove-assignees",
        needs=_WRITE,
        role="triage",
        body=(Field(name="assignees", kinds=("array",), items=("string",), required=True),),
        handler=remove,
    ),
)

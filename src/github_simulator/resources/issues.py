"""Issues. In lists and by number pull requests are issues too."""

from __future__ import annotations

from typing import Any

from github_simulator.asking import access
from github_simulator.asking.paging import page
from github_simulator.call import Answer, Call, Field, Route
from github_simulator.changes import closing, labelling, pulling, writing
from github_simulator.resources.pulls import check_reopen
from github_simulator.rules import refusals
from github_simulator.shapes import talk
from github_simulator.things.conversation import Issue
from github_simulator.things.repository import Repository
from github_simulator.things.stamps import parse_stamp


def every(call: Call) -> Answer:
    repository, query = access.repository(call), call.query
    refusals.ISSUES_OFF.when(not repository.has_issues)
    state = query.get("state", "open")
    found = [i for i in repository.issues.values() if state in ("all", i.state)]
    if query.get("labels"):
        wanted = {name.strip().lower() for name in query["labels"].split(",")}
        found = [issue for issue in found if wanted <= set(issue.labels)]
    logins = {id: account.login.lower() for id, account in call.world.accounts.items()}
    if query.get("creator"):
        found = [i for i in found if logins[i.author_id] == query["creator"].lower()]
    if query.get("assignee", "*") != "*":
        login = query["assignee"].lower()
        if login == "none":
            found = [i for i in found if not i.assignees]
        else:
            found = [i for i in found if login in {logins[a] for a in i.assignees}]
    since = parse_stamp(query.get("since", ""))
    if since is not None:
        found = [issue for issue in found if issue.updated_ms >= since]
    sort = {"updated": "updated_ms"}.get(query.get("sort", "created"), "number")
    descending = query.get("direction", "desc") == "desc"
    found.sort(key=lambda issue: (getattr(issue, sort), issue.number), reverse=descending)
    return page(call, found, lambda issue: talk.issue(call.world, repository, issue))


def get(call: Call) -> Answer:
    repository = access.repository(call)
    return Answer(body=talk.issue(call.world, repository, writing.issue(call, repository)))


def create(call: Call) -> Answer:
    repository, body = access.repository(call), call.body
    refusals.ISSUES_OFF.when(not repository.has_issues)
    title = str(body["title"])
    writing.check_title(title, "Issue")
    writing.check_body(body.get("body"), "Issue")
    # Of people who cannot push, labels and assignees are silently dropped.
    trusted = call.actor.kind == "installation" or access.can_push(call, repository)
    labels = labelling.names(body.get("labels") or []) if trusted else []
    labelling.check_count(labels)
    logins = [*(body.get("assignees") or []), *filter(None, [body.get("assignee")])]
    logins = logins if trusted else []
    labelling.check_assignees(call, repository, logins)
    repository.last_number += 1
    issue = Issue(
        id=call.world.next_id(),
        number=repository.last_number,
        title=title,
        body=body.get("body"),
        author_id=writing.author(call).id,
        app_id=writing.via_app(call),
        created_ms=call.now_ms,
        updated_ms=call.now_ms,
    )
    repository.issues[issue.number] = issue
    labelling.tell(call, repository, issue, "opened")
    labelling.put(call, repository, issue, labels)
    assigned = labelling.people_named(call, repository, logins)
    labelling.assign(call, repository, issue, [account.id for account in assigned])
    shape = talk.issue(call.world, repository, issue)
    return Answer(status=201, body=shape, headers={"location": shape["url"]})


def update(call: Call) -> Answer:
    repository, body = access.repository(call), call.body
    issue = writing.issue(call, repository)
    trusted = call.actor.kind == "installation" or access.can_push(call, repository)
    own = issue.author_id == writing.author(call).id
    refusals.NOT_AUTHOR.when(not trusted and not own)
    title = body.get("title")
    writing.check_title(None if title is None else str(title), "Issue")
    writing.check_body(body.get("body"), "Issue")
    labels = labelling.names(body.get("labels") or [])
    labelling.check_count(labels)
    logins = body.get("assignees") or []
    labelling.check_assignees(call, repository, logins)
    state = body.get("state") or issue.state
    if issue.is_pull and state == "open" and issue.state == "closed":
        check_reopen(call, repository, repository.pulls[issue.number])
    _edit(call, repository, issue)
    if trusted and "labels" in body:
        labelling.put(call, repository, issue, labels)
    if trusted and "assignees" in body:
        found = labelling.people_named(call, repository, logins)
        labelling.assign(call, repository, issue, [account.id for account in found])
    _set_state(call, repository, issue, state, body.get("state_reason"))
    return Answer(body=talk.issue(call.world, repository, issue))


def _edit(call: Call, repository: Repository, issue: Issue) -> None:
    changes: dict[str, Any] = {}
    for name in ("title", "body"):
        if name in call.body and call.body[name] != getattr(issue, name):
            changes[name] = {"from": getattr(issue, name) or ""}
            setattr(issue, name, call.body[name])
    if changes:
        writing.touch(call, issue)
        labelling.tell(call, repository, issue, "edited", changes=changes)


def _set_state(
    call: Call, repository: Repository, issue: Issue, state: str, reason: str | None
) -> None:
    world, by = call.world, writing.author(call)
    if state == issue.state:
        return
    if issue.is_pull:
        act = pulling.close if state == "closed" else pulling.reopen
        act(world, repository, repository.pulls[issue.number], by)
    elif state == "closed":
        closing.close(world, repository, issue, by, reason or "completed")
    else:
        closing.reopen(world, repository, issue, by)


def lock(call: Call) -> Answer:
    repository = access.repository(call)
    issue = writing.issue(call, repository)
    issue.locked, issue.lock_reason = True, call.body.get("lock_reason")
    return Answer(status=204)


def unlock(call: Call) -> Answer:
    repository = access.repository(call)
    issue = writing.issue(call, repository)
    issue.locked, issue.lock_reason = False, None
    return Answer(status=204)


_AT = "/repos/{owner}/{repo}/issues"
_ONE = _AT + "/{issue_number}"
_READ = (("issues", "read"), ("pull_requests", "read"))
_WRITE = (("issues", "write"), ("pull_requests", "write"))
_COMMON = (
    Field(name="body", kinds=("string", "null")),
    Field(name="labels", kinds=("array",), items=("string", "object")),
    Field(name="assignees", kinds=("array",), items=("string",)),
    Field(name="assignee", kinds=("string", "null")),
)

ROUTES = (
    Route(
        method="GET",
        template=_AT,
        operation="issues/list-for-repo",
        needs=_READ,
        choices={
            "state": ("open", "closed", "all"),
            "sort": ("created", "updated", "comments"),
            "direction": ("asc", "desc"),
        },
        handler=every,
    ),
    Route(
        method="POST",
        template=_AT,
        operation="issues/create",
        needs=(("issues", "write"),),
        body=(Field(name="title", kinds=("string", "integer"), required=True), *_COMMON),
        handler=create,
    ),
    Route(method="GET", template=_ONE, operation="issues/get", needs=_READ, handler=get),
    Route(
        method="PATCH",
        template=_ONE,
        operation="issues/update",
        needs=_WRITE,
        body=(
            Field(name="title", kinds=("string", "integer", "null")),
            *_COMMON,
            Field(name="state", enum=("open", "closed")),
            Field(
                name="state_reason",
                kinds=("string", "null"),
                enum=("completed", "not_planned", "duplicate", "reopened"),
            ),
        ),
        handler=update,
    ),
    Route(
        method="PUT",
        template=_ONE + "/lock",
        operation="issues/lock",
        needs=_WRITE,
        role="write",
        body=(Field(name="lock_reason", enum=("off-topic", "too heated", "resolved", "spam")),),
        handler=lock,
    ),
    Route(
        method="DELETE",
        template=_ONE + "/lock",
        operation="issues/unlock",
        needs=_WRITE,
        role="write",
        handler=unlock,
    ),
)

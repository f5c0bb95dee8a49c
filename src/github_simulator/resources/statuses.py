"""Commit statuses, the older way to say how a commit fares."""

from __future__ import annotations

from github_simulator.asking import access
from github_simulator.asking.paging import page
from github_simulator.call import Answer, Call, Field, Route
from github_simulator.changes import merging, webhooks, writing
from github_simulator.rules import refusals
from github_simulator.shapes import history, repo, verdict
from github_simulator.things.check import Status
from github_simulator.things.repository import Repository
from github_simulator.things.stamps import stamp

# repos/create-commit-status
DESCRIPTION_LIMIT = 140
STATUSES_LIMIT = 1000


def create(call: Call) -> Answer:
    repository, sha, body = access.repository(call), call.params["sha"], call.body
    world = call.world
    known = world.git(repository).has_commit(sha)
    refusals.STATUS_COMMIT.when(not known, f"No commit found for SHA: {sha}")
    context, description = body.get("context", "default"), body.get("description")
    refusals.STATUS_LONG.invalid(
        description is not None and len(description) > DESCRIPTION_LIMIT,
        "Status",
        "description",
        message=f"description is too long (maximum is {DESCRIPTION_LIMIT} characters)",
    )
    url = body.get("target_url")
    refusals.STATUS_URL.invalid(
        bool(url) and not str(url).startswith(("http://", "https://")),
        "Status",
        "target_url",
        message="target_url must use http(s) scheme",
    )
    same = sum((each.sha, each.context) == (sha, context) for each in repository.statuses)
    refusals.STATUSES_MANY.invalid(
        same >= STATUSES_LIMIT,
        "Status",
        "base",
        message="This SHA and context has reached the maximum number of statuses.",
    )
    status = Status(
        id=world.next_id(),
        sha=sha,
        state=body["state"],
        context=context,
        description=description,
        target_url=url or None,
        creator_id=writing.author(call).id,
        created_ms=call.now_ms,
    )
    repository.statuses.append(status)
    _tell(call, repository, status)
    merging.look_again(world, repository, sha)
    return Answer(status=201, body=verdict.status(world, repository, status))


def _tell(call: Call, repository: Repository, status: Status) -> None:
    world = call.world
    heads = world.git(repository).refs("refs/heads/")
    url = f"{repo.api_url(world, repository)}/commits/{status.sha}"
    webhooks.emit(
        world,
        "status",
        None,
        repository,
        writing.author(call),
        id=status.id,
        sha=status.sha,
        name=world.full_name(repository),
        avatar_url=None,
        target_url=status.target_url,
        context=status.context,
        description=status.description,
        state=status.state,
        commit=history.commit(world, repository, status.sha),
        branches=[
            {
                "name": name.removeprefix("refs/heads/"),
                "commit": {"sha": status.sha, "url": url},
                "protected": name.removeprefix("refs/heads/") in repository.protections,
            }
            for name, tip in heads.items()
            if tip == status.sha
        ],
        created_at=stamp(status.created_ms),
        updated_at=stamp(status.created_ms),
    )


def of_ref(call: Call) -> Answer:
    repository = access.repository(call)
    sha = _sha(call, repository)
    found = [each for each in reversed(repository.statuses) if each.sha == sha]
    return page(call, found, lambda each: verdict.status(call.world, repository, each))


def combined(call: Call) -> Answer:
    repository = access.repository(call)
    sha = _sha(call, repository)
    found = verdict.newest(repository, sha)
    url = f"{repo.api_url(call.world, repository)}/commits/{sha}"
    more = {
        "state": verdict.combined(found),
        "sha": sha,
        "repository": repo.brief(call.world, repository),
        "commit_url": url,
        "url": f"{url}/status",
    }
    return page(
        call,
        found,
        lambda each: verdict.simple_status(call.world, repository, each),
        under="statuses",
        extra=more,
    )


def _sha(call: Call, repository: Repository) -> str:
    ref = call.params["ref"]
    found = call.world.git(repository).resolve(ref)
    return refusals.COMMIT_MISSING.found(found, f"No commit found for SHA: {ref}")


_READ = (("statuses", "read"),)
_AT = "/repos/{owner}/{repo}/commits/{ref}"
_MAYBE = ("string", "null")
ROUTES = (
    Route(
        method="POST",
        template="/repos/{owner}/{repo}/statuses/{sha}",
        operation="repos/create-commit-status",
        needs=(("statuses", "write"),),
        role="write",
        body=(
            Field(name="state", required=True, enum=("error", "failure", "pending", "success")),
            Field(name="target_url", kinds=_MAYBE),
            Field(name="description", kinds=_MAYBE),
            Field(name="context"),
        ),
        handler=create,
    ),
    Route(
        method="GET",
        template=_AT + "/statuses",
        operation="repos/list-commit-statuses-for-ref",
        needs=_READ,
        handler=of_ref,
    ),
    Route(
        method="GET",
        template=_AT + "/status",
        operation="repos/get-combined-status-for-ref",
        needs=_READ,
        handler=combined,
    ),
)

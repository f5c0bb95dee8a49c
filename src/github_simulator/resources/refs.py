"""Git references."""

from __future__ import annotations

from github_simulator.asking import access
from github_simulator.asking.paging import page
from github_simulator.call import Answer, Call, Field, Route
from github_simulator.changes import pushing, writing
from github_simulator.rules import refusals
from github_simulator.shapes import history
from github_simulator.things.git_store import ZERO
from github_simulator.things.repository import Repository


def get(call: Call) -> Answer:
    repository, name = access.repository(call), f"refs/{call.params['ref']}"
    sha = refusals.REF_MISSING.found(call.world.git(repository).refs(name).get(name))
    return Answer(body=history.ref(call.world, repository, name, sha))


def matching(call: Call) -> Answer:
    repository = access.repository(call)
    found = call.world.git(repository).refs(f"refs/{call.params['ref']}")
    return page(call, list(found.items()), lambda each: history.ref(call.world, repository, *each))


def create(call: Call) -> Answer:
    repository, name, sha = access.repository(call), call.body["ref"], call.body["sha"]
    git = call.world.git(repository)
    shaped = name.startswith("refs/") and name.count("/") >= 2 and git.valid_ref(name)
    refusals.REF_MALFORMED.when(not shaped)
    refusals.REF_OBJECT.when(not git.has_commit(sha))
    refusals.REF_EXISTS.when(name in git.refs(name))
    _allow(call, repository, name, ZERO, sha)
    git.update(name, sha)
    call.world.pushed(repository, name, ZERO, sha, writing.author(call))
    return Answer(status=201, body=history.ref(call.world, repository, name, sha))


def update(call: Call) -> Answer:
    repository, name, sha = access.repository(call), f"refs/{call.params['ref']}", call.body["sha"]
    git = call.world.git(repository)
    before = refusals.REF_GONE.found(git.refs(name).get(name))
    refusals.REF_OBJECT.when(not git.has_commit(sha))
    forced = not git.contains(sha, before)
    refusals.NOT_FAST_FORWARD.when(forced and not call.body.get("force"))
    _allow(call, repository, name, before, sha)
    git.update(name, sha)
    call.world.pushed(repository, name, before, sha, writing.author(call))
    return Answer(body=history.ref(call.world, repository, name, sha))


def delete(call: Call) -> Answer:
    repository, name = access.repository(call), f"refs/{call.params['ref']}"
    git = call.world.git(repository)
    before = refusals.REF_GONE.found(git.refs(name).get(name))
    _allow(call, repository, name, before, ZERO)
    git.delete(name)
    call.world.pushed(repository, name, before, ZERO, writing.author(call))
    return Answer(status=204)


def _allow(call: Call, repository: Repository, name: str, before: str, after: str) -> None:
    why = pushing.refusal(call.world, call.actor, repository, name, before, after)
    refusals.PROTECTED_REF.when(why is not None, why or "")


_WRITE = (("contents", "write"),)
ROUTES = (
    Route(
        method="GET",
        template="/repos/{owner}/{repo}/git/ref/{ref}",
        operation="git/get-ref",
        needs=(("contents", "read"),),
        handler=get,
    ),
    Route(
        method="GET",
        template="/repos/{owner}/{repo}/git/matching-refs/{ref}",
        operation="git/list-matching-refs",
        needs=(("contents", "read"),),
        handler=matching,
    ),
    Route(
        method="POST",
        template="/repos/{owner}/{repo}/git/refs",
        operation="git/create-ref",
        needs=_WRITE,
        role="write",
        body=(Field(name="ref", required=True), Field(name="sha", required=True)),
        handler=create,
    ),
    Route(
        method="PATCH",
        template="/repos/{owner}/{repo}/git/refs/{ref}",
        operation="git/update-ref",
        needs=_WRITE,
        role="write",
        body=(Field(name="sha", required=True), Field(name="force", kinds=("boolean",))),
        handler=update,
    ),
    Route(
        method="DELETE",
        template="/repos/{owner}/{repo}/git/refs/{ref}",
        operation="git/delete-ref",
        needs=_WRITE,
        role="write",
        handler=delete,
    ),
)

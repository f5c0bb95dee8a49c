"""A repository's settings, and who may do what in it."""

from __future__ import annotations

from github_simulator.asking import access
from github_simulator.call import Answer, Call, Field, Route
from github_simulator.changes import founding
from github_simulator.rules import refusals
from github_simulator.shapes import people, repo
from github_simulator.things.accounts import role_at_least

FLAGS = (
    "has_issues",
    "has_projects",
    "has_wiki",
    "allow_squash_merge",
    "allow_merge_commit",
    "allow_rebase_merge",
    "allow_auto_merge",
    "allow_update_branch",
    "delete_branch_on_merge",
)
# What `permission` says of a role; `role_name` says it exactly.
_COARSE = {"triage": "read", "maintain": "write"}


def get(call: Call) -> Answer:
    repository = access.repository(call)
    role = access.role(call.world, call.actor, repository)
    settings = role_at_least(role, "write")
    return Answer(body=repo.full(call.world, repository, repo.flags(role), settings=settings))


def update(call: Call) -> Answer:
    repository, body, world = access.repository(call), call.body, call.world
    refusals.ARCHIVED.when(repository.archived and body.get("archived") is not False)
    name = body.get("name") or repository.name
    owner = world.accounts[repository.owner_id].login
    other = world.repository(f"{owner}/{name}")
    refusals.NAME_TAKEN.invalid(
        other is not None and other is not repository,
        "Repository",
        "name",
        message="name already exists on this account",
    )
    branch = body.get("default_branch", repository.default_branch)
    refusals.DEFAULT_BRANCH_MISSING.invalid(
        "default_branch" in body and world.git(repository).branch(branch) is None,
        "Repository",
        "default_branch",
        code="invalid",
        message=f"The branch {branch} was not found. Please push that ref first or create it.",
    )
    methods = ("allow_merge_commit", "allow_squash_merge", "allow_rebase_merge")
    refusals.NO_MERGE_METHOD.invalid(
        not any(body.get(each, getattr(repository, each)) for each in methods),
        "Repository",
        "merge_commit_allowed",
        message="Sorry, you need to allow at least one merge strategy.",
    )
    if name != repository.name:
        founding.rename(world, repository, name, world.sender(call.actor))
    for field in ("description", "homepage", "default_branch", "archived", *FLAGS):
        if field in body:
            setattr(repository, field, body[field])
    if "visibility" in body or "private" in body:
        repository.private = body.get("visibility", "") == "private" or bool(body.get("private"))
    repository.updated_ms = call.now_ms
    return get(call) if name == call.params["repo"] else _renamed(call, name)


def _renamed(call: Call, name: str) -> Answer:
    repository = call.world.repository(f"{call.params['owner']}/{name}")
    if repository is None:
        return Answer(status=404)
    role = access.role(call.world, call.actor, repository)
    return Answer(body=repo.full(call.world, repository, repo.flags(role), settings=True))


def permission(call: Call) -> Answer:
    """What a person may do here: `none` for a stranger, `read` for one in a public repository."""
    repository = access.repository(call)
    account = refusals.ACCOUNT_MISSING.found(call.world.account(call.params["username"]))
    role = call.world.role(account.id, repository)
    if role == "none" and not repository.private:
        role = "read"
    user = {
        **people.user(call.world, account),
        "permissions": repo.flags(role),
        "role_name": role,
    }
    return Answer(body={"permission": _COARSE.get(role, role), "user": user, "role_name": role})


ROUTES = (
    Route(
        method="GET",
        template="/repos/{owner}/{repo}",
        operation="repos/get",
        needs=(("metadata", "read"),),
        handler=get,
    ),
    Route(
        method="PATCH",
        template="/repos/{owner}/{repo}",
        operation="repos/update",
        needs=(("administration", "write"),),
        role="admin",
        body=(
            Field(name="name"),
            Field(name="description", kinds=("string", "null")),
            Field(name="homepage", kinds=("string", "null")),
            Field(name="private", kinds=("boolean",)),
            Field(name="visibility", enum=("public", "private")),
            Field(name="default_branch"),
            Field(name="archived", kinds=("boolean",)),
            *(Field(name=each, kinds=("boolean",)) for each in FLAGS),
        ),
        handler=update,
    ),
    Route(
        method="GET",
        template="/repos/{owner}/{repo}/collaborators/{username}/permission",
        operation="repos/get-collaborator-permission-level",
        needs=(("metadata", "read"),),
        role="write",
        handler=permission,
    ),
)

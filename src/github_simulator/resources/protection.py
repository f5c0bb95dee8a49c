"""Protection of branches, by its exact name. (GitHub's patterns are made in its settings only.)"""

from __future__ import annotations

from typing import Any

from github_simulator.asking import access
from github_simulator.call import Answer, Call, Field, Route
from github_simulator.rules import refusals
from github_simulator.shapes import repo
from github_simulator.things.repository import (
    Protection,
    Repository,
    RequiredChecks,
    RequiredReviews,
)


def _branch(call: Call, repository: Repository) -> str:
    name = call.params["branch"]
    refusals.BRANCH_MISSING.found(call.world.git(repository).branch(name))
    return name


def get(call: Call) -> Answer:
    repository = access.repository(call)
    name = _branch(call, repository)
    rules = refusals.UNPROTECTED.found(repository.protections.get(name))
    return Answer(body=repo.protection(call.world, repository, name, rules))


def put(call: Call) -> Answer:
    repository = access.repository(call)
    name = _branch(call, repository)
    repository.protections[name] = rules = _read(call.body)
    return Answer(body=repo.protection(call.world, repository, name, rules))


def delete(call: Call) -> Answer:
    repository = access.repository(call)
    name = _branch(call, repository)
    refusals.UNPROTECTED.found(repository.protections.get(name))
    del repository.protections[name]
    return Answer(status=204)


def _read(body: dict[str, Any]) -> Protection:
    checks, reviews = body["required_status_checks"], body["required_pull_request_reviews"]
    restrictions = body["restrictions"]
    return Protection(
        checks=None if checks is None else _checks(checks),
        reviews=None
        if reviews is None
        else RequiredReviews(
            count=reviews.get("required_approving_review_count", 1),
            dismiss_stale=reviews.get("dismiss_stale_reviews", False),
            code_owners=reviews.get("require_code_owner_reviews", False),
            last_push=reviews.get("require_last_push_approval", False),
        ),
        enforce_admins=bool(body["enforce_admins"]),
        push_users=None if restrictions is None else tuple(restrictions["users"]),
        push_apps=() if restrictions is None else tuple(restrictions.get("apps", ())),
        linear_history=bool(body.get("required_linear_history")),
        force_pushes=bool(body.get("allow_force_pushes")),
        deletions=bool(body.get("allow_deletions")),
        conversation_resolution=bool(body.get("required_conversation_resolution")),
        block_creations=bool(body.get("block_creations")),
        lock_branch=bool(body.get("lock_branch")),
        fork_syncing=bool(body.get("allow_fork_syncing")),
    )


def _checks(asked: dict[str, Any]) -> RequiredChecks:
    """`checks` says the same as the older `contexts`, with the App that must have made them."""
    apps = {each["context"]: each.get("app_id") for each in asked.get("checks", ())}
    contexts = dict.fromkeys([*asked["contexts"], *apps])
    return RequiredChecks(
        strict=asked["strict"],
        contexts=tuple(contexts),
        apps={context: None if app == -1 else app for context, app in apps.items()},
    )


_AT = "/repos/{owner}/{repo}/branches/{branch}/protection"
_READ, _WRITE = (("administration", "read"),), (("administration", "write"),)
_FLAG = ("boolean",)
_MAYBE = ("boolean", "null")
_LIST = ("array",)

ROUTES = (
    Route(
        method="GET",
        template=_AT,
        operation="repos/get-branch-protection",
        needs=_READ,
        role="admin",
        handler=get,
    ),
    Route(
        method="PUT",
        template=_AT,
        operation="repos/update-branch-protection",
        needs=_WRITE,
        role="admin",
        body=(
            Field(
                name="required_status_checks",
                kinds=("object", "null"),
                required=True,
                fields=(
                    Field(name="strict", kinds=_FLAG, required=True),
                    Field(name="contexts", kinds=_LIST, items=("string",), required=True),
                    Field(
                        name="checks",
                        kinds=_LIST,
                        items=("object",),
                        fields=(
                            Field(name="context", required=True),
                            Field(name="app_id", kinds=("integer",)),
                        ),
                    ),
                ),
            ),
            Field(name="enforce_admins", kinds=_MAYBE, required=True),
            Field(
                name="required_pull_request_reviews",
                kinds=("object", "null"),
                required=True,
                fields=(
                    Field(name="dismiss_stale_reviews", kinds=_FLAG),
                    Field(name="require_code_owner_reviews", kinds=_FLAG),
                    Field(name="required_approving_review_count", kinds=("integer",)),
                    Field(name="require_last_push_approval", kinds=_FLAG),
                ),
            ),
            Field(
                name="restrictions",
                kinds=("object", "null"),
                required=True,
                fields=(
                    Field(name="users", kinds=_LIST, items=("string",), required=True),
                    Field(name="teams", kinds=_LIST, items=("string",), required=True),
                    Field(name="apps", kinds=_LIST, items=("string",)),
                ),
            ),
            Field(name="required_linear_history", kinds=_FLAG),
            Field(name="allow_force_pushes", kinds=_MAYBE),
            Field(name="allow_deletions", kinds=_FLAG),
            Field(name="block_creations", kinds=_FLAG),
            Field(name="required_conversation_resolution", kinds=_FLAG),
            Field(name="lock_branch", kinds=_FLAG),
            Field(name="allow_fork_syncing", kinds=_FLAG),
        ),
        handler=put,
    ),
    Route(
        method="DELETE",
        template=_AT,
        operation="repos/delete-branch-protection",
        needs=_WRITE,
        role="admin",
        handler=delete,
    ),
)

"""Branches."""

from __future__ import annotations

from typing import Any

from github_simulator.asking import access
from github_simulator.asking.paging import page
from github_simulator.call import Answer, Call, Route
from github_simulator.rules import refusals
from github_simulator.shapes import history, repo
from github_simulator.things.repository import Repository


def every(call: Call) -> Answer:
    repository = access.repository(call)
    heads = call.world.git(repository).refs("refs/heads/")
    names = [name.removeprefix("refs/heads/") for name in heads]
    if "protected" in call.query:
        wanted = call.query["protected"] == "true"
        names = [name for name in names if (name in repository.protections) == wanted]
    url = repo.api_url(call.world, repository)

    def shape(name: str) -> dict[str, Any]:
        sha = heads[f"refs/heads/{name}"]
        return {
            "name": name,
            "commit": {"sha": sha, "url": f"{url}/commits/{sha}"},
            "protected": name in repository.protections,
            "protection": _protection(repository, name),
            "protection_url": f"{url}/branches/{name}/protection",
        }

    return page(call, names, shape)


def one(call: Call) -> Answer:
    repository, name = access.repository(call), call.params["branch"]
    sha = refusals.BRANCH_MISSING.found(call.world.git(repository).branch(name))
    url = repo.api_url(call.world, repository)
    return Answer(
        body={
            "name": name,
            "commit": history.commit(call.world, repository, sha),
            "_links": {
                "self": f"{url}/branches/{name}",
                "html": f"{repo.web_url(call.world, repository)}/tree/{name}",
            },
            "protected": name in repository.protections,
            "protection": _protection(repository, name),
            "protection_url": f"{url}/branches/{name}/protection",
        }
    )


def _protection(repository: Repository, name: str) -> dict[str, Any]:
    rules = repository.protections.get(name)
    checks = rules.checks if rules is not None else None
    contexts = list(checks.contexts) if checks is not None else []
    return {
        "enabled": rules is not None,
        "required_status_checks": {
            "enforcement_level": "off" if checks is None else "non_admins",
            "contexts": contexts,
            "checks": [{"context": each, "app_id": None} for each in contexts],
        },
    }


ROUTES = (
    Route(
        method="GET",
        template="/repos/{owner}/{repo}/branches",
        operation="repos/list-branches",
        needs=(("contents", "read"),),
        handler=every,
    ),
    Route(
        method="GET",
        template="/repos/{owner}/{repo}/branches/{branch}",
        operation="repos/get-branch",
        needs=(("contents", "read"),),
        handler=one,
    ),
)

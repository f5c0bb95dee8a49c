"""Accounts, and the repositories of an installation."""

from __future__ import annotations

from github_simulator.asking import access
from github_simulator.asking.paging import page
from github_simulator.call import Answer, Call, Route
from github_simulator.rules import refusals
from github_simulator.shapes import people, repo


def own_repositories(call: Call) -> Answer:
    world = call.world
    installation = world.installations[call.actor.installation_id or 0]
    found = [
        world.repositories[each]
        for each in people.installed_on(world, installation)
        if access.reaches(world, call.actor, world.repositories[each])
    ]
    selection = "all" if installation.repository_ids is None else "selected"
    return page(
        call,
        found,
        lambda each: repo.repository(world, each),
        under="repositories",
        extra={"repository_selection": selection},
    )


def me(call: Call) -> Answer:
    return Answer(body=people.own_profile(call.world, call.world.accounts[call.actor.account_id]))


def account(call: Call) -> Answer:
    found = refusals.ACCOUNT_MISSING.found(call.world.account(call.params["username"]))
    return Answer(body=people.profile(call.world, found))


ROUTES = (
    Route(
        method="GET",
        template="/installation/repositories",
        operation="apps/list-repos-accessible-to-installation",
        by="installation",
        handler=own_repositories,
    ),
    Route(
        method="GET",
        template="/user",
        operation="users/get-authenticated",
        by="user",
        handler=me,
    ),
    Route(
        method="GET",
        template="/users/{username}",
        operation="users/get-by-username",
        handler=account,
    ),
)

"""All operations, and the one way to ask them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

from github_simulator.asking import access, bodies
from github_simulator.call import Answer, Call, Refusal, Route
from github_simulator.graphql import endpoint
from github_simulator.resources import (
    accounts,
    assignees,
    branches,
    check_runs,
    check_suites,
    comments,
    commits,
    contents,
    issues,
    labels,
    merges,
    protection,
    pulls,
    reactions,
    refs,
    releases,
    repositories,
    review_comments,
    reviewers,
    reviews,
    statuses,
    workflows,
)
from github_simulator.rules import refusals
from github_simulator.things.actor import Actor
from github_simulator.world import World

_MODULES = (
    accounts,
    assignees,
    branches,
    check_runs,
    check_suites,
    comments,
    commits,
    contents,
    endpoint,
    issues,
    labels,
    merges,
    protection,
    pulls,
    reactions,
    refs,
    releases,
    repositories,
    review_comments,
    reviewers,
    reviews,
    statuses,
    workflows,
)
ROUTES: tuple[Route, ...] = tuple(route for module in _MODULES for route in module.ROUTES)

# Parameters that may hold slashes: refs and paths do.
_LONG = ("branch", "ref", "path", "basehead")
# A resource's name in `errors`, by the operation's category.
_RESOURCES = {"issues": "Issue", "pulls": "PullRequest", "checks": "CheckRun"}


class Router:
    """Over the routes of this package and those that the outside adds."""

    def __init__(self, routes: Iterable[Route] = ROUTES) -> None:
        # What is more literal goes first: `/commits/{ref}/status` before `/commits/{ref}`.
        ordered = sorted(routes, key=lambda route: -len(re.sub(r"{\w+}", "", route.template)))
        self._routes = [(_pattern(route.template), route) for route in ordered]

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]] | None:
        wanted = "GET" if method == "HEAD" else method
        for pattern, route in self._routes:
            if route.method == wanted and (found := pattern.fullmatch(path)):
                return route, {name: unquote(value) for name, value in found.groupdict().items()}
        return None

    def answer(
        self,
        world: World,
        actor: Actor,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """`path` as it was sent, percent-encoded and without its query."""
        path = by_name(world, path)
        try:
            route, params = refusals.NO_SUCH_ROUTE.found(self.find(method, path))
        except Refusal as refusal:
            return refusal.answer("")
        call = Call(
            world=world,
            actor=actor,
            route=route,
            path=path,
            params=params,
            query=dict(query or {}),
            body=None,
            headers=dict(headers or {}),
            now_ms=world.now_ms(),
        )
        try:
            return _perform(call, body)
        except Refusal as refusal:
            return refusal.answer(route.operation)


def _perform(call: Call, raw: bytes) -> Answer:
    route = call.route
    access.check_kind(call)
    if route.by != "app" and "owner" in call.params and "repo" in call.params:
        repository = access.repository(call)
        access.check_permission(call, repository)
        writes = route.method != "GET" and route.operation != "repos/update"
        refusals.ARCHIVED.when(writes and repository.archived)
    resource = _RESOURCES.get(route.operation.partition("/")[0], "Search")
    bodies.check_query(route, dict(call.query), resource)
    body = None if route.method == "GET" else bodies.read(route, raw)
    return route.handler(
        Call(
            world=call.world,
            actor=call.actor,
            route=route,
            path=call.path,
            params=call.params,
            query=call.query,
            body=body,
            headers=call.headers,
            now_ms=call.now_ms,
        )
    )


def by_name(world: World, path: str) -> str:
    """GitHub's own links name a repository by id: `/repositories/12/issues`."""
    found = re.fullmatch(r"/repositories/(\d+)(/.*)?", path)
    repository = world.repositories.get(int(found[1])) if found else None
    if found is None or repository is None:
        return path
    return f"/repos/{world.full_name(repository)}{found[2] or ''}"


def _pattern(template: str) -> re.Pattern[str]:
    def group(found: re.Match[str]) -> str:
        name = found[1]
        if name in _LONG:
            return f"(?P<{name}>.{'*' if name == 'path' else '+'})"
        if name.endswith(("_id", "_number")) and name != "workflow_id":
            return rf"(?P<{name}>\d{{1,18}})"
        return f"(?P<{name}>[^/]+)"

    return re.compile(re.sub(r"{(\w+)}", group, template))

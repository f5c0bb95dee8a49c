"""What the forge of GitHub needs to speak with the service; client.py does it.

Rules:
- `path` begins below the repository (`issues/7/comments`, "" is the repository itself), already
  percent-encoded; the transport puts `/repos/<owner>/<name>/` before it, finds the credential of
  that repository, waits for the governor's turn, bounds time and size.
- Nothing here repeats a request that may have been applied. A read may be repeated.
- A repository that was renamed or moved is followed for reads by its redirect, for writes only
  within the same host and with the same method and body (307, 308).

Errors are those of forge.py. `github_refused` and `github_not_found` carry in their context
`status` (an int), `said` (the service's `message`) and `errors` (a list of texts: each entry of
its `errors`, as its own message or as `resource.field code`), because some refusals mean something
particular to their callers. For a 404 the transport itself finds out whether the repository is
still there: `github_not_found` if it is, else `github_access_lost`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from agent_work_orders.github_integration.forge import Repository
from agent_work_orders.github_integration.quota import Priority

Method = Literal["POST", "PATCH", "PUT", "DELETE"]
Query = Mapping[str, str | int]


class Transport(Protocol):
    async def get(
        self,
        repository: Repository,
        path: str,
        *,
        query: Query | None = None,
        priority: Priority = "order",
        fresh: bool = False,
    ) -> Any:
        """The answer's JSON. `fresh`: never from the cache without asking (a conditional request
        is asking); for reads that decide whether a write is repeated."""
        ...

    async def pages(
        self,
        repository: Repository,
        path: str,
        *,
        query: Query | None = None,
        limit: int = 3_000,
        items: str | None = None,
        priority: Priority = "order",
        fresh: bool = False,
    ) -> list[Any]:
        """All items of a list, page by page (`per_page` 100, `Link: rel="next"` of the same
        host), `limit` at most. `items`: under which name an answer that is an object has them
        (`check_runs`)."""
        ...

    async def send(
        self,
        method: Method,
        repository: Repository,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        priority: Priority = "order",
        creates: bool = False,
    ) -> Any:
        """A write, sent once. The answer's JSON, None for an empty one (204). `creates`: content
        that people are notified of (comment, review, pull request, check), which is limited more
        strictly."""
        ...

    async def graphql(
        self,
        repository: Repository,
        query: str,
        variables: Mapping[str, Any],
        *,
        writes: bool,
        priority: Priority = "order",
    ) -> dict[str, Any]:
        """The answer's `data`. Its `errors` (status 200) are `github_refused` with their messages
        as `errors`; type NOT_FOUND is `github_not_found`, FORBIDDEN `github_permission_missing`,
        RATE_LIMITED `QuotaHeld`."""
        ...

    async def need(self, repository: Repository, permissions: Mapping[str, str]) -> None:
        """Environmental `github_permission_missing`, with those that the credential lacks."""
        ...

    async def account(self) -> str:
        """The login that our writes carry: `<app>[bot]` of an App, the user of a token."""
        ...

"""Speaks with GitHub for the forge. The contract is transport.py; the errors are forge.py's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import urlencode

from agent_work_orders.clock import Clock
from agent_work_orders.errors import Broken, Environmental, NotFound, Transient, Unanswered
from agent_work_orders.github_integration.credential import Credential
from agent_work_orders.github_integration.forge import Repository
from agent_work_orders.github_integration.full_name import is_full_name
from agent_work_orders.github_integration.http import answers, graphql
from agent_work_orders.github_integration.http.etags import Etags
from agent_work_orders.github_integration.http.governor import Sleep
from agent_work_orders.github_integration.http.limits import GRAPHQL
from agent_work_orders.github_integration.http.one_request import HttpAnswer, HttpRequest
from agent_work_orders.github_integration.http.pages import PER_PAGE, Walk
from agent_work_orders.github_integration.http.retrying import Retrying, encoded
from agent_work_orders.github_integration.identity.credentials import Credentials
from agent_work_orders.github_integration.quota import Priority, QuotaHeld
from agent_work_orders.github_integration.transport import Method, Query

T = TypeVar("T")

LAG_S = (0.25, 0.5, 1.0, 2.0)
"""How long what was just written may stay unseen: replicas follow within a second or two."""
MOST_PAGES = 100


class GithubClient:
    def __init__(
        self,
        retrying: Retrying,
        credentials: Credentials,
        clock: Clock,
        *,
        sleep: Sleep,
        etags: Etags | None = None,
    ) -> None:
        self._retrying = retrying
        self._credentials = credentials
        self._clock = clock
        self._sleep = sleep
        self._etags = etags or Etags()

    # -- reading

    async def get(
        self,
        repository: Repository,
        path: str,
        *,
        query: Query | None = None,
        priority: Priority = "order",
        fresh: bool = False,
    ) -> Any:
        """`fresh` changes nothing: what is kept is never used without asking."""
        url = self._url(repository, path, query)
        return answers.value(await self._read(repository, url, priority))

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
        url: str | None = self._url(repository, path, {"per_page": PER_PAGE, **(query or {})})
        walk, found, last = Walk(str(url)), list[Any](), None
        for _ in range(MOST_PAGES):
            if url is None or len(found) >= limit:
                break
            answer = await self._read(repository, url, priority)
            page = _items(url, answers.value(answer), items)
            if page and page == last:
                break  # the service does not turn the page
            found += page
            last = page
            url = walk.after(answer.headers.get("link", ""), len(page))
        return found[:limit]

    async def settled(self, read: Callable[[], Awaitable[T | None]]) -> T | None:
        """What was just written may not be seen at once: read a few times until it is there."""
        for wait_s in (*LAG_S, None):
            try:
                found = await read()
            except NotFound:
                found = None
            if found is not None or wait_s is None:
                return found
            await self._sleep(wait_s)
        return None

    async def _read(self, repository: Repository, url: str, priority: Priority) -> HttpAnswer:
        what = f"read {_place(self._retrying.api_url, url)}"
        credential = await self._credentials.of(repository.full_name)
        known = self._etags.get(credential.name, url)
        etag = known.headers["etag"] if known is not None else ""
        request = HttpRequest(method="GET", url=url, etag=etag, priority=priority)
        answer = await self._asked(what, request, repository, credential)
        if answer.status == 304 and known is not None:
            return known
        self._etags.put(credential.name, url, answer)
        return answer

    # -- writing

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
        url = self._url(repository, path, None)
        request = HttpRequest(
            method=method,
            url=url,
            body=None if body is None else encoded(body),
            writes=True,
            # What counts as content is not documented: everything posted is counted.
            creates=creates or method == "POST",
            priority=priority,
        )
        what = f"{method} {_place(self._retrying.api_url, url)}"
        credential = await self._credentials.of(repository.full_name)
        return answers.value(await self._asked(what, request, repository, credential))

    async def graphql(
        self,
        repository: Repository,
        query: str,
        variables: Mapping[str, Any],
        *,
        writes: bool,
        priority: Priority = "order",
    ) -> dict[str, Any]:
        request = HttpRequest(
            method="POST",
            url=graphql.address(self._retrying.api_url),
            body=encoded({"query": query, "variables": variables}),
            writes=writes,
            priority=priority,
            lane=f":{GRAPHQL}",
        )
        what = f"ask GraphQL about {repository.full_name}"
        for wait_s in (*LAG_S[-2:], None):
            credential = await self._credentials.of(repository.full_name)
            answer = await self._asked(what, request, repository, credential)
            try:
                return graphql.data(what, answers.value(answer), credential.name)
            except graphql.RateLimited:
                until_ms = self._clock.now_ms() + graphql.UNTOLD_MS
                raise QuotaHeld(credential.name, "primary_limit", until_ms) from None
            except answers.Untrusted as error:
                if writes:
                    raise Unanswered(
                        "github_answer_lost",
                        f"It is not known whether GitHub did it ({what}): {error}",
                        hint="It is looked up before it is done again.",
                    ) from error
                if wait_s is None:
                    raise _strange(what, str(error)) from error
                await self._sleep(wait_s)
        raise AssertionError("the last round returns or raises")

    async def need(self, repository: Repository, permissions: Mapping[str, str]) -> None:
        lacking = list[str]()
        for _ in range(2):
            credential = await self._credentials.of(repository.full_name)
            lacking = await self._lacking(repository, credential, permissions)
            # What was granted a moment ago is in the next token only.
            if not lacking or not await self._credentials.refused(credential):
                break
        if lacking:
            raise Environmental(
                "github_permission_missing",
                f"{credential.name} lacks {', '.join(lacking)} on {repository.full_name}: what an "
                "agent makes could not be delivered",
                hint="Grant it in the settings of the App (and accept it for the installation) or "
                "of the token, then retry the order; `awo github check` says what is missing.",
                needed=", ".join(lacking),
            )

    async def _lacking(
        self, repository: Repository, credential: Credential, permissions: Mapping[str, str]
    ) -> list[str]:
        if credential.permissions is None:
            # Of a token only this is told, and of the person rather than of the token.
            facts = await self.get(repository, "")
            may_push = isinstance(facts, dict) and (facts.get("permissions") or {}).get("push")
            return ["contents: write"] if may_push is False else []
        return [
            f"{name}: {level}"
            for name, level in permissions.items()
            if not answers.reaches(credential.permissions.get(name, ""), level)
        ]

    async def account(self) -> str:
        return await self._credentials.account()

    # -- both

    async def _asked(
        self, what: str, request: HttpRequest, repository: Repository, credential: Credential
    ) -> HttpAnswer:
        """The answer of a success, or its failure. A credential that is not accepted any more is
        replaced once."""
        answer = await self._retrying.ask(what, request, credential)
        if answer.status == 401 and await self._credentials.refused(credential):
            credential = await self._credentials.of(repository.full_name)
            answer = await self._retrying.ask(what, request, credential)
        if answer.status < 400:
            return answer
        failure = answers.refusal(what, answer, credential, repository=repository.full_name)
        if isinstance(failure, NotFound):
            await self._still_there(repository, credential, request.url)
        raise failure

    async def _still_there(self, repository: Repository, credential: Credential, url: str) -> None:
        """Environmental `github_access_lost` when it is the repository itself that is not."""
        itself = self._url(repository, "", None)
        if url != itself:
            request = HttpRequest(method="GET", url=itself, priority="person")
            what = f"look for {repository.full_name}"
            answer = await self._retrying.ask(what, request, credential)
            if answer.status != 404:
                return
        raise answers.access_lost(
            repository.full_name, f"it is gone, renamed, or not visible to {credential.name}"
        )

    def _url(self, repository: Repository, path: str, query: Query | None) -> str:
        name = repository.full_name
        parts = path.split("/")
        odd = any(char <= " " or char in '?#\\"<>' or char > "~" for char in path)
        if not is_full_name(name) or odd or {".", ".."} & {*parts}:
            raise Broken(
                "github_path_invalid",
                f"Not a path of a repository on GitHub: {name[:200]!r} {path[:200]!r}",
                hint="Report this with the order's log.",
            )
        url = f"{self._retrying.api_url}/repos/{name}" + (f"/{path}" if path else "")
        return f"{url}?{urlencode(query)}" if query else url


def _items(url: str, page: Any, items: str | None) -> list[Any]:
    found = page.get(items) if items is not None and isinstance(page, dict) else page
    if not isinstance(found, list):
        raise _strange("read a list", f"there is none at {url[:200]}")
    return found


def _place(api_url: str, url: str) -> str:
    """The address for people: without the host and the query."""
    return url.removeprefix(api_url).partition("?")[0][:200]


def _strange(what: str, why: str) -> Transient:
    return Transient(
        "github_unreachable",
        f"GitHub's answer cannot be read to {what}: {why}",
        hint="Check the network and https://www.githubstatus.com; it is tried again.",
    )

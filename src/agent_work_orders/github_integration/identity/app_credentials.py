"""Credentials of a GitHub App: its own proof, and tokens of its installations.

Rules:
- Tokens live in memory only; each that is minted is handed to the redactor first.
- One is used until 5 minutes before it ends; many who need the same at once cause one request.
- Each is for one repository; for git or an agent it is also narrowed to the permissions asked for.
- One that is no longer needed is revoked: git's when the last order of its repository ended, all
  of them when the server stops, the oldest when there are too many.
- The service's clock counts, not ours: it is read from `Date` when a proof was refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from agent_work_orders.clock import Clock
from agent_work_orders.errors import AgentWorkOrdersError, Environmental, NotFound, Permanent
from agent_work_orders.github_integration.credential import Credential
from agent_work_orders.github_integration.http import answers
from agent_work_orders.github_integration.http.limits import date_ms
from agent_work_orders.github_integration.http.one_request import HttpAnswer, HttpRequest
from agent_work_orders.github_integration.http.retrying import Retrying, encoded
from agent_work_orders.github_integration.identity.app_key import AppKey
from agent_work_orders.github_integration.identity.credentials import (
    Permissions,
    good,
    strange,
    text,
)

EARLY_MS = 300_000
MOST_KEPT = 2_000
GIVE_BACK_S = 3.0
"""A server that stops does not wait longer for this; the tokens die within the hour anyway."""


class _Token(msgspec.Struct, frozen=True, kw_only=True):
    credential: Credential
    ends_ms: int


_BY_ID = re.compile(r"/repositories/([0-9]{1,19})(?=/)")

Key = tuple[int, str, tuple[tuple[str, str], ...]]


class AppCredentials:
    def __init__(
        self,
        retrying: Retrying,
        key: AppKey,
        clock: Clock,
        *,
        learn: Callable[[str], None],
        installation_id: int = 0,
    ) -> None:
        """`learn` is told every token before it is used."""
        self._retrying = retrying
        self._key = key
        self._clock = clock
        self._learn = learn
        self._fixed = installation_id
        self._installations: OrderedDict[str, int] = OrderedDict()
        self._moved: dict[str, int] = {}
        """The id of a repository that has another name by now: the old one leads there, but a token
        cannot be asked for by it."""
        self._tokens: OrderedDict[Key, _Token] = OrderedDict()
        self._minting: dict[Key, asyncio.Task[_Token]] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        self._ahead_ms = 0
        self._login = ""
        self._shown = ""

    async def of(self, repository: str) -> Credential:
        return await self._kept(repository, {})

    async def narrowed(self, repository: str, permissions: Permissions) -> Credential:
        return await self._kept(repository, permissions)

    async def minted(self, repository: str, permissions: Permissions) -> Credential:
        token = await self._of_installation(
            repository,
            lambda installation: self._mint(installation, repository, permissions),
        )
        return token.credential

    async def revoke(self, credential: Credential) -> None:
        request = HttpRequest(method="DELETE", url=f"{self._retrying.api_url}/installation/token")
        answer = await self._retrying.ask("revoke a token", request, credential)
        if answer.status not in (204, 401):
            raise answers.refusal("revoke a token", answer, credential)
        await self.refused(credential)

    async def refused(self, credential: Credential) -> bool:
        for key, token in list(self._tokens.items()):
            if token.credential.token == credential.token:
                del self._tokens[key]
        return True

    async def release(self, repository: str) -> None:
        """Those of few permissions are git's; the API's may be needed to say how it ended."""
        gits = [key for key in self._tokens if key[1] == repository.lower() and key[2]]
        await self._give_back([self._tokens.pop(key) for key in gits])

    async def close(self) -> None:
        every = [*self._tokens.values()]
        self._tokens.clear()
        await self._give_back(every)

    async def account(self) -> str:
        if not self._login:
            found = await self._as_app("learn the App's name", "GET", "/app")
            self._login = f"{text(found, 'slug')}[bot]"
        return self._login

    # -- tokens

    async def _kept(self, repository: str, permissions: Permissions) -> Credential:
        async def find(installation: int) -> _Token:
            key = (installation, repository.lower(), tuple(sorted(permissions.items())))
            known = self._tokens.get(key)
            if known is not None and known.ends_ms - EARLY_MS > self._clock.now_ms():
                self._tokens.move_to_end(key)
                return known
            return await self._single(
                key, lambda: self._mint(installation, repository, permissions)
            )

        return (await self._of_installation(repository, find)).credential

    async def _single(self, key: Key, mint: Callable[[], Coroutine[Any, Any, _Token]]) -> _Token:
        """One request for all who wait; one who leaves does not end it for the others."""
        task = self._minting.get(key)
        if task is None:
            task = asyncio.ensure_future(mint())
            self._minting[key] = task
            task.add_done_callback(lambda done: self._minted(key, done))
        return await asyncio.shield(task)

    def _minted(self, key: Key, task: asyncio.Task[_Token]) -> None:
        self._minting.pop(key, None)
        if task.cancelled() or task.exception() is not None:
            return
        self._tokens[key] = task.result()
        while len(self._tokens) > MOST_KEPT:
            oldest = self._tokens.popitem(last=False)[1]
            leaving = asyncio.ensure_future(self._give_back([oldest]))
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)

    async def _give_back(self, tokens: Iterable[_Token]) -> None:
        """As far as the service can be asked now."""

        async def quietly(token: _Token) -> None:
            with contextlib.suppress(AgentWorkOrdersError):
                await self.revoke(token.credential)

        alive = [token for token in tokens if token.ends_ms > self._clock.now_ms()]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GIVE_BACK_S):
                await asyncio.gather(*map(quietly, alive))

    async def _mint(self, installation: int, repository: str, permissions: Permissions) -> _Token:
        wanted: dict[str, Any] = {"repositories": [repository.rpartition("/")[2]]}
        if repository.lower() in self._moved:
            wanted = {"repository_ids": [self._moved[repository.lower()]]}
        if permissions:
            wanted["permissions"] = dict(permissions)
        path = f"/app/installations/{installation}/access_tokens"
        what = f"get a token for {repository}"
        try:
            found = await self._as_app(what, "POST", path, wanted, repository=repository)
        except Permanent as refusal:
            if refusal.context.get("status") != 422:
                raise
            raise _not_granted(repository, permissions, str(refusal.context["said"])) from refusal
        token = text(found, "token")
        self._learn(token)
        try:
            ends = datetime.fromisoformat(text(found, "expires_at"))
        except ValueError:
            raise strange("know how long a token lives") from None
        granted = found.get("permissions")
        return _Token(
            credential=Credential(
                name=f"installation:{installation}",
                token=token,
                permissions=granted if isinstance(granted, dict) else None,
            ),
            ends_ms=int(ends.timestamp() * 1000) - self._ahead_ms,
        )

    # -- installations

    async def _of_installation(
        self, repository: str, use: Callable[[int], Coroutine[Any, Any, _Token]]
    ) -> _Token:
        """`use` with the repository's installation; one that is gone is looked up anew once."""
        if self._fixed:
            try:
                return await self._lost_when_gone(repository, use(self._fixed))
            except Environmental as gone:
                if gone.code != "github_access_lost" or repository.lower() in self._moved:
                    raise
                # It may have another name by now.
                with contextlib.suppress(AgentWorkOrdersError):
                    await self._installation(repository)
                if repository.lower() not in self._moved:
                    raise
            return await self._lost_when_gone(repository, use(self._fixed))
        known = self._installations.get(repository.lower())
        if known is not None:
            try:
                return await use(known)
            except (NotFound, Environmental) as gone:
                if gone.code not in ("github_not_found", "github_access_lost"):
                    raise
                self._installations.pop(repository.lower(), None)
        found = await self._installation(repository)
        return await self._lost_when_gone(repository, use(found))

    async def _lost_when_gone(self, repository: str, using: Coroutine[Any, Any, _Token]) -> _Token:
        try:
            return await using
        except NotFound:
            raise answers.access_lost(
                repository, f"the installation of App {self._key.app_id} is gone"
            ) from None

    async def _installation(self, repository: str) -> int:
        what = f"find the App's installation for {repository}"
        try:
            found, found_at = await self._answered(
                what, "GET", f"/repos/{repository}/installation", repository=repository
            )
        except NotFound:
            raise answers.access_lost(
                repository, f"App {self._key.app_id} is not installed there"
            ) from None
        if found.get("suspended_at"):
            raise answers.access_lost(
                repository, f"the installation of App {self._key.app_id} is suspended"
            )
        number = found.get("id")
        if not isinstance(number, int):
            raise strange(what)
        self._installations[repository.lower()] = number
        self._remember_move(repository, found_at)
        while len(self._installations) > MOST_KEPT:
            self._installations.popitem(last=False)
        return number

    def _remember_move(self, repository: str, address: str) -> None:
        """`address` is where the answer came from in the end."""
        by_id = _BY_ID.search(address)
        if by_id is not None:
            self._moved[repository.lower()] = int(by_id[1])
        else:
            self._moved.pop(repository.lower(), None)

    async def _as_app(self, *asked: Any, **more: Any) -> dict[str, Any]:
        return (await self._answered(*asked, **more))[0]

    async def _answered(
        self,
        what: str,
        method: str,
        path: str,
        wanted: Mapping[str, Any] | None = None,
        *,
        repository: str = "",
    ) -> tuple[dict[str, Any], str]:
        """And from where. Minting twice is harmless, so nothing here `writes`."""
        request = HttpRequest(
            method=method,
            url=self._retrying.api_url + path,
            body=None if wanted is None else encoded(wanted),
            priority="person",
        )
        answer, credential = await self.as_app(what, request)
        return good(what, answer, credential, repository), answer.url

    async def as_app(self, what: str, request: HttpRequest) -> tuple[HttpAnswer, Credential]:
        """Ask with the App's own proof, made anew once if it is refused. The answer is below 500,
        a refusal too; the credential is the one that was used."""
        credential = self._proof()
        answer = await self._retrying.ask(what, request, credential)
        if answer.status == 401:
            at_ms = date_ms(answer.headers)
            self._ahead_ms = 0 if at_ms is None else at_ms - self._clock.now_ms()
            credential = self._proof(anew=True)
            answer = await self._retrying.ask(what, request, credential)
        return answer, credential

    def _proof(self, *, anew: bool = False) -> Credential:
        proof = self._key.proof(self._clock.now_ms() + self._ahead_ms, anew=anew)
        if proof != self._shown:
            self._shown = proof
            self._learn(proof)
        return Credential(name=f"app:{self._key.app_id}", token=proof)


def _not_granted(repository: str, permissions: Permissions, said: str) -> Environmental:
    if "permission" in said.lower():
        needed = ", ".join(f"{name}={level}" for name, level in sorted(permissions.items()))
        return Environmental(
            "github_permission_missing",
            f"The App's installation for {repository} was not granted all of {needed}: {said}",
            hint="Grant it in the App's settings and accept it for the installation.",
            needed=needed,
        )
    return answers.access_lost(repository, said)

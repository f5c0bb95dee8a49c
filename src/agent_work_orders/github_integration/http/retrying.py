"""Retrying until there is an answer that can be believed, as far as that is safe.

Rules:
- Every request waits for the governor's turn. An answer that is a limit goes back there: the
  governor waits a moment, or raises `QuotaHeld`.
- What certainly was not sent is tried again, and so is every read; after that it is Transient
  `github_unreachable`. A write that may have arrived is never repeated: Unknown
  `github_answer_lost`.
- A redirect is followed only within the API's own address and to a repository by its id, a read
  for 301, 302, 307 and 308, a write for 307 and 308 (it was not performed then). The credential
  goes nowhere else.
"""

from __future__ import annotations

import asyncio
import random
import re
from typing import Any
from urllib.parse import urljoin, urlsplit

import msgspec

from agent_work_orders.clock import Clock
from agent_work_orders.errors import Permanent, Transient, Unanswered
from agent_work_orders.github_integration.credential import Credential
from agent_work_orders.github_integration.http import answers
from agent_work_orders.github_integration.http.governor import Sleep
from agent_work_orders.github_integration.http.limits import limited
from agent_work_orders.github_integration.http.one_request import (
    Exchange,
    HttpAnswer,
    HttpRequest,
    Lost,
    NotSent,
    TooMuch,
)
from agent_work_orders.github_integration.quota import Governor, QuotaHeld

ATTEMPTS = 3
LIMITS = 3
REDIRECTS = 3
BACKOFF_S = 0.5
UNTOLD_MS = 60_000
_MOVED = (301, 302, 303, 307, 308)
_BY_ID = re.compile(r"/repositories/[0-9]{1,19}(?=/|\Z)")


class Retrying:
    def __init__(
        self,
        exchange: Exchange,
        governor: Governor,
        clock: Clock,
        *,
        api_url: str,
        chance: random.Random,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.api_url = api_url
        self._exchange = exchange
        self._governor = governor
        self._clock = clock
        self._chance = chance
        self._sleep = sleep

    async def ask(self, what: str, request: HttpRequest, credential: Credential) -> HttpAnswer:
        """The answer, below 500; a 2xx or 4xx of a write is JSON. `what` completes "to …"."""
        moves = 0
        while True:
            answer = await self._believed(what, request, credential)
            if answer.status not in _MOVED:
                return answer
            moves += 1
            place = self._followed(request, answer.headers.get("location", ""), answer.status)
            if place is None or moves > REDIRECTS:
                raise Permanent(
                    "github_redirected",
                    f"GitHub sends us elsewhere to {what}; that is not followed",
                    hint="Check GITHUB_API_URL; if the repository was renamed, use its new name.",
                    status=answer.status,
                    said="",
                    errors=[],
                )
            request = msgspec.structs.replace(request, url=place, etag="")

    async def _believed(
        self, what: str, request: HttpRequest, credential: Credential
    ) -> HttpAnswer:
        limits = attempts = 0
        while True:
            attempts += 1
            try:
                answer = await self._once(request, credential)
                limit = limited(answer.status, answer.headers, answer.body, self._clock.now_ms())
                if limit is not None:
                    limits += 1
                    if limits >= LIMITS:
                        wait_ms = UNTOLD_MS if limit.wait_ms is None else limit.wait_ms
                        until_ms = self._clock.now_ms() + wait_ms
                        raise QuotaHeld(credential.name, limit.reason, until_ms)
                    attempts -= 1
                    continue
                _check(request, answer)
                return answer
            except TooMuch as error:
                if request.writes:
                    raise _lost(what, error) from error
                raise Permanent(
                    "github_answer_too_large",
                    f"GitHub's answer is too large to {what}: {error}",
                    hint="Ask for less, or for a smaller file.",
                ) from error
            except (Lost, answers.Untrusted) as error:
                if request.writes:
                    raise _lost(what, error) from error
                await self._again(what, attempts, error)
            except NotSent as error:
                await self._again(what, attempts, error)

    async def _once(self, request: HttpRequest, credential: Credential) -> HttpAnswer:
        async with self._governor.turn(
            credential.name + request.lane,
            priority=request.priority,
            writes=request.method not in ("GET", "HEAD"),
            creates=request.creates,
        ) as turn:
            try:
                answer = await self._exchange.send(request, credential)
            except (Lost, NotSent) as error:
                if not isinstance(error, TooMuch):
                    turn.lost()
                raise
            turn.answered(answer.status, answer.headers, answer.body)
        return answer

    async def _again(self, what: str, attempts: int, error: Exception) -> None:
        """Wait before the next attempt, or give up."""
        if attempts >= ATTEMPTS:
            raise Transient(
                "github_unreachable",
                f"GitHub cannot be reached to {what}: {error}",
                hint="Check the network and https://www.githubstatus.com; it is tried again.",
            ) from error
        await self._sleep(BACKOFF_S * 2 ** (attempts - 1) * (1 + self._chance.random()))

    def _followed(self, request: HttpRequest, location: str, status: int) -> str | None:
        """Where a redirect leads, if it may be followed."""
        if request.writes and status not in (307, 308):
            return None
        try:
            place = urljoin(request.url, location)
            base, found = urlsplit(self.api_url), urlsplit(place)
            home = (base.scheme, base.hostname, base.port)
            away = (found.scheme, found.hostname, found.port)
        except ValueError:
            return None
        path = found.path.removeprefix(base.path)
        inside = found.path.startswith(base.path) and _BY_ID.match(path) and ".." not in path
        if not location or home != away or found.username is not None or not inside:
            return None
        return place


def _check(request: HttpRequest, answer: HttpAnswer) -> None:
    """Raises Lost or Untrusted for what cannot be believed: also of a refusal, because it may be
    some proxy's word and not the service's."""
    status = answer.status
    if status in _MOVED or (status == 304 and request.etag):
        return
    if status == 408 or not (200 <= status < 300 or 400 <= status < 500):
        raise Lost(f"it answered {status}")
    answers.value(answer)


def _lost(what: str, error: Exception) -> Unanswered:
    return Unanswered(
        "github_answer_lost",
        f"It is not known whether GitHub did it ({what}): {error}",
        hint="It is looked up before it is done again.",
    )


def encoded(value: Any) -> bytes:
    return msgspec.json.encode(value)

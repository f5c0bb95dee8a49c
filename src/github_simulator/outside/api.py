"""The REST and GraphQL side of the simulator: from a request to an answer on the wire.

The order is GitHub's: what stands before the application (load balancer, faults), the form of the
request, the credential, the limits, and only then what was asked.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from email.utils import formatdate
from typing import Any

import msgspec

from github_simulator import routes
from github_simulator.call import Answer, Refusal, documentation
from github_simulator.outside import door_rules, etags, mishaps
from github_simulator.outside.app_routes import AppRoutes
from github_simulator.outside.credentials import Credentials, limit_key
from github_simulator.outside.deliveries import Deliveries
from github_simulator.outside.faults import Fault, Faults
from github_simulator.outside.limits import Exceeded, Limits, pool_of
from github_simulator.outside.records import Asked, Requests
from github_simulator.outside.web_pages import WebPages
from github_simulator.outside.wire import (
    BODY_LIMIT_BYTES,
    Exchange,
    Gone,
    Request,
    TooLong,
)
from github_simulator.things.actor import NOBODY, Actor
from github_simulator.world import World

API_VERSION = "2022-11-28"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})
JSON_TYPE = "application/json; charset=utf-8"
ACCEPTED = ("application/json", "application/vnd.github", "application/*", "*/*")
RATE_LIMIT = "rate-limit/get"
ENCODINGS = ("", "identity")


class Api:
    def __init__(
        self,
        world: World,
        credentials: Credentials,
        deliveries: Deliveries,
        limits: Limits,
        faults: Faults,
        requests: Requests,
        pages: WebPages,
    ) -> None:
        self._world = world
        self._credentials = credentials
        self._limits = limits
        self._faults = faults
        self._requests = requests
        # How long GitHub takes for an answer.
        self.latency_s = 0.0
        self._router = routes.Router(
            (*routes.ROUTES, *AppRoutes(credentials, deliveries, pages).routes())
        )

    async def serve(self, exchange: Exchange, path: str) -> None:
        """`path` without the prefix of an enterprise server."""
        request = exchange.request
        operation = self.operation(request.method, path)
        fault: Fault | None = None
        actor, told, came_ms = NOBODY, None, self._world.now_ms()
        try:
            inside = await exchange.body() if self._faults.looks_inside else b""
            fault = self._faults.take(request.method, path, operation, inside)
            if fault is not None and not fault.after and fault.kind != "secondary":
                await mishaps.before(exchange, fault, self._moved(path, request))
                return
            body = await exchange.body(BODY_LIMIT_BYTES if door_rules.TOO_LARGE.holds else 2**40)
            door_rules.NO_USER_AGENT.when(not request.headers.get("user-agent"))
            actor = self._credentials.who(request.headers.get("authorization"))
            key = limit_key(actor, request.client)
            told = self._limits.told_for_ms(key, pool_of(operation))
            _check_form(request)
            if operation == RATE_LIMIT:
                await self._send(exchange, path, self._rate_limit(key), actor, None)
                return
            refused = self._limits.enter(key, request.method, operation)
            if refused is not None:
                await self._send(exchange, path, _limited(refused), actor, None)
                return
            try:
                await asyncio.sleep(self.latency_s)
                answer = self._answer(request, path, actor, key, body, fault)
                await self._send(exchange, path, answer, actor, fault)
            finally:
                self._limits.leave(key)
        except TooLong:
            rule = door_rules.TOO_LARGE
            await self._refuse(exchange, rule.id, rule.status, rule.message)
        except Refusal as refusal:
            await self._refuse(exchange, refusal.rule, refusal.status, refusal.message)
        except Gone:
            exchange.hang_up()
        finally:
            self._faults.over(fault, exchange.status)
            self._record(exchange, path, operation, actor, came_ms, told, fault)

    def act(
        self,
        actor: Actor,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """The same routes for the simulator's own people, without limits and faults."""
        raw = b"" if body is None else msgspec.json.encode(body)
        bare, _, query = path.partition("?")
        asked = dict(pair.partition("=")[::2] for pair in query.split("&") if pair)
        return self._router.answer(
            self._world, actor, method, bare, query=asked, body=raw, headers=headers or {}
        )

    def operation(self, method: str, path: str) -> str:
        if path == "/rate_limit":
            return RATE_LIMIT
        found = self._router.find(method, routes.by_name(self._world, path))
        return "" if found is None else found[0].operation

    def _answer(
        self,
        request: Request,
        path: str,
        actor: Actor,
        key: str,
        body: bytes,
        fault: Fault | None,
    ) -> Answer:
        if fault is not None and fault.kind == "secondary":
            seconds = int(fault.seconds) or self._limits.rules.block_s
            return _limited(self._limits.block(key, seconds))
        answer = self._router.answer(
            self._world,
            actor,
            request.method,
            path,
            query=request.query,
            body=body,
            headers=request.headers,
        )
        answer = _conditional(request, self._veiled(request, path, answer, fault), key)
        if answer.status == 304 and actor.kind != "nobody":
            self._limits.refund(key)
        return answer

    def _veiled(self, request: Request, path: str, answer: Answer, fault: Fault | None) -> Answer:
        """A read that comes too early does not see what was just written."""
        if request.method in ("GET", "HEAD"):
            if answer.status != 200:
                return answer
            hidden, body = self._faults.veil(f"{self._world.api_url}{path}", answer.body)
            if hidden:
                return Refusal(rule="lag", status=404, message="Not Found").answer("")
            return msgspec.structs.replace(answer, body=body)
        if fault is not None and fault.kind == "lag" and answer.status == 201:
            self._faults.hide(answer.body, fault.reads)
        return answer

    def _rate_limit(self, key: str) -> Answer:
        core = self._limits.rate_of(key)
        other = self._limits.rate_of(key, "graphql")
        search = {**core, "limit": 30, "remaining": 30, "used": 0}
        resources = {"core": core, "graphql": other, "search": search}
        return Answer(body={"resources": resources, "rate": core})

    async def _send(
        self,
        exchange: Exchange,
        path: str,
        answer: Answer,
        actor: Actor,
        fault: Fault | None,
    ) -> None:
        content, kind = _content(answer)
        pool = "graphql" if path == "/graphql" else "core"
        headers = self._headers(limit_key(actor, exchange.request.client), pool)
        if actor.scopes is not None:
            headers["x-oauth-scopes"] = ", ".join(actor.scopes)
        if kind:
            headers["content-type"] = kind
        headers |= {name.lower(): value for name, value in answer.headers.items()}
        if fault is not None and fault.after:
            await mishaps.answer(exchange, fault, answer.status, headers, content)
        else:
            await exchange.answer(answer.status, headers, content)

    def _headers(self, key: str, pool: str) -> dict[str, str]:
        shown = self._limits.tell_rate(key, pool)
        return {
            "server": "github.com",
            "date": self._date(),
            "x-github-media-type": "github.v3; format=json",
            "x-github-api-version-selected": API_VERSION,
            "x-github-request-id": self._request_id(),
            "x-ratelimit-limit": str(shown["limit"]),
            "x-ratelimit-remaining": str(shown["remaining"]),
            "x-ratelimit-reset": str(shown["reset"]),
            "x-ratelimit-used": str(shown["used"]),
            "x-ratelimit-resource": pool,
            "x-content-type-options": "nosniff",
            "vary": etags.VARY,
        }

    def _date(self) -> str:
        """By the simulated clock: clients may find out from it how wrong their own is."""
        return formatdate(self._world.now_ms() // 1000, usegmt=True)

    def _request_id(self) -> str:
        digest = hashlib.sha256(str(self._requests.total).encode()).hexdigest().upper()
        return f"{digest[:4]}:{digest[4:10]}:{digest[10:17]}:{digest[17:24]}:{digest[24:32]}"

    async def _refuse(self, exchange: Exchange, rule: str, status: int, message: str) -> None:
        if rule == door_rules.NO_USER_AGENT.id:
            page = {"content-type": "text/html; charset=utf-8", "connection": "close"}
            await exchange.answer(status, page, f"\r\n{message}\r\n".encode())
            return
        body = {"message": message, "documentation_url": documentation(""), "status": str(status)}
        headers = {
            "server": "github.com",
            "date": self._date(),
            "content-type": JSON_TYPE,
            "x-github-media-type": "github.v3; format=json",
            "x-github-request-id": self._request_id(),
        }
        await exchange.answer(status, headers, msgspec.json.encode(body))

    def _moved(self, path: str, request: Request) -> str:
        """Where GitHub sends who uses an old name: the same by id."""
        named = path.split("/", 4)
        if len(named) > 3 and named[1] == "repos":
            found = self._world.repository(f"{named[2]}/{named[3]}")
            if found is not None:
                path = "/".join([f"/repositories/{found.id}", *named[4:]])
        query = f"?{request.query_string}" if request.query_string else ""
        return f"{self._world.api_url}{path}{query}"

    def _record(
        self,
        exchange: Exchange,
        path: str,
        operation: str,
        actor: Actor,
        came_ms: int,
        told: int | None,
        fault: Fault | None,
    ) -> None:
        self._requests.add(
            Asked(
                method=exchange.request.method,
                path=path,
                operation=operation,
                actor=actor.login,
                status=exchange.status,
                at_ms=self._world.now_ms(),
                came_ms=came_ms,
                connection=exchange.request.connection,
                credential=limit_key(actor, exchange.request.client),
                remaining=exchange.remaining,
                told_for_ms=told,
                fault="" if fault is None else fault.kind,
            )
        )


def _check_form(request: Request) -> None:
    headers = request.headers
    door_rules.METHOD.when(request.method not in METHODS)
    version = headers.get("x-github-api-version")
    door_rules.API_VERSION.when(
        version is not None and version != API_VERSION,
        f"'{(version or '')[:40]}' {door_rules.API_VERSION.message}",
    )
    accept = headers.get("accept", "*/*")
    kinds = [kind.split(";")[0].strip().lower() for kind in accept.split(",")]
    door_rules.ACCEPT.when(
        not any(kind.startswith(ACCEPTED) for kind in kinds),
        f"Unsupported 'Accept' header: '{accept[:80]}'. {door_rules.ACCEPT.message}",
    )
    door_rules.ENCODING.when(headers.get("content-encoding", "") not in ENCODINGS)


def _limited(refused: Exceeded) -> Answer:
    page = "about-secondary-rate-limits" if refused.kind == "secondary" else "primary-rate-limit"
    headers = {}
    if refused.retry_after_s is not None:
        headers["retry-after"] = str(refused.retry_after_s)
    return Answer(
        status=refused.status,
        headers=headers,
        body={
            "message": refused.message,
            "documentation_url": "https://docs.github.com/rest/using-the-rest-api/"
            f"rate-limits-for-the-rest-api#{page}",
            "status": str(refused.status),
        },
    )


def _conditional(request: Request, answer: Answer, key: str) -> Answer:
    """An `ETag` for what can be read, 304 for who has it."""
    if request.method not in ("GET", "HEAD") or answer.status != 200:
        return answer
    content, kind = _content(answer)
    etag = etags.tag(
        content + answer.headers.get("link", "").encode(),
        credential=key,
        accept=request.headers.get("accept", ""),
        strong=kind != JSON_TYPE,
    )
    modified = etags.last_modified(answer.body)
    headers = {
        **answer.headers,
        "etag": etag,
        "cache-control": "private, max-age=60, s-maxage=60",
    }
    if modified is not None:
        headers["last-modified"] = modified
    if etags.unchanged(request.headers, etag, modified):
        return Answer(status=304, headers=headers)
    return Answer(status=200, body=answer.body, headers=headers)


def _content(answer: Answer) -> tuple[bytes, str]:
    """The bytes and their type. A text or bytes with a type of their own are sent as they are."""
    own = next((v for n, v in answer.headers.items() if n.lower() == "content-type"), "")
    if answer.body is None and answer.status in (204, 205, 304):
        return b"", ""
    if isinstance(answer.body, bytes):
        return answer.body, own or "application/octet-stream"
    if isinstance(answer.body, str) and own:
        return answer.body.encode(), own
    if answer.body is None:
        return b"", own
    return msgspec.json.encode(answer.body), JSON_TYPE

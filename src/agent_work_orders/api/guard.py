"""The outermost layer: what every request must satisfy before anything looks at it.

- Host must be ours (a rebinding page has a foreign one); an Origin, if there is one, too.
- Every answer carries a request id and headers that keep browsers from doing anything with it.
- An exception that nobody expected ends here as a 500 that says nothing but its id.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent_work_orders import ids
from agent_work_orders.api import problems
from agent_work_orders.api.turns import Turns
from agent_work_orders.engines.perform import Log
from agent_work_orders.errors import AgentWorkOrdersError, BadRequest, Forbidden, TooLarge

MAX_QUERY_BYTES = 8_192
# A name or an address, and a port: what any other reading could take for another host is refused.
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?", re.ASCII)
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})

_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
_CSP = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
_NO_STORE = (b"cache-control", b"no-store")


class Guard:
    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Iterable[str],
        origins: Iterable[str],
        any_address: bool,
        log: Log,
    ) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts) | _LOOPBACK
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)
        self._any_address = any_address
        self._log = log
        self._turns = Turns()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        await self._turns.take()
        request_id = ids.new_id("req")
        scope.setdefault("state", {})["request_id"] = request_id
        answer = _Answer(send, request_id)
        try:
            self._check(scope)
            await self._app(scope, receive, answer)
        except AgentWorkOrdersError as error:
            if not answer.started:
                await problems.of(error, scope)(scope, receive, answer)
        except Exception as error:  # noqa: BLE001 - the border of a request
            fields = {"request_id": request_id, "path": scope["path"], "exc_info": error}
            self._log("", "http_request_crashed", "error", fields)
            if not answer.started:
                await problems.response(problems.internal(), scope)(scope, receive, answer)

    def _check(self, scope: Scope) -> None:
        headers: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            if name in (b"host", b"origin"):
                if name in headers:
                    raise _bad_host("two values")
                headers[name] = value
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if not self._our_host(host):
            raise _bad_host(host)
        origin = headers.get(b"origin")
        if origin is not None:
            said = origin.decode("latin-1").lower()
            if said not in (f"http://{host}", f"https://{host}") and said not in self._origins:
                raise Forbidden(
                    "origin_refused",
                    f"Requests from the origin {said[:100]!r} are not accepted",
                    hint="Add it to AWO_ALLOWED_ORIGINS if it is yours.",
                )
        if len(scope.get("query_string", b"")) > MAX_QUERY_BYTES:
            raise TooLarge(
                "query_too_large",
                f"The query has more than {MAX_QUERY_BYTES} bytes",
                hint="Ask for less at once.",
            )
        if "\0" in scope["path"]:
            raise BadRequest("path_invalid", "The address contains NUL", hint="Remove it.")

    def _our_host(self, host: str) -> bool:
        read = _HOST.fullmatch(host)
        if read is None:
            return False
        name = read["name"]
        if host in self._hosts or name in self._hosts:
            return True
        # An address cannot be rebound: only names can.
        return self._any_address and _is_address(name)


class _Answer:
    """Adds the headers that every answer has."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id.encode()
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            given = list(message.get("headers", ()))
            names = {name.lower() for name, _ in given}
            more = [(b"x-request-id", self._request_id), *_HEADERS]
            more += [pair for pair in (_CSP, _NO_STORE) if pair[0] not in names]
            message = {**message, "headers": given + more}
        await self._send(message)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _bad_host(host: str) -> Forbidden:
    return Forbidden(
        "host_refused",
        f"This server is not called {host[:100]!r}",
        hint="Use its own address, or add the name to AWO_ALLOWED_HOSTS.",
    )

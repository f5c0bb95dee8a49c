"""The seam kept by a server, spoken to over its API."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, unquote, urlsplit

import httpx

from agent_work_orders.cli import programs_over_http
from agent_work_orders.cli.outcome import FAILED, REFUSED, Again, Told
from agent_work_orders.cli.patch import Patch
from agent_work_orders.security import given

if TYPE_CHECKING:
    from agent_work_orders.cli.client import Json, Output, Verb
    from agent_work_orders.cli.keyboard import Keyboard

ORDERS = "/api/agent-work-orders"
TIMEOUT_S = 30.0
"""For what the server works on before it answers."""
CONNECT_S = 3.0
READ_S = 5.0
"""Until an answer begins that takes a server milliseconds: one that takes longer hangs."""
# These fetch or compare commits first.
_SLOW = ("/diff", "/commands", "/git-progress", "/artifacts/")
LOCAL_KEY = "local.key"
LOOPBACK = ("127.0.0.1", "::1", "localhost")


def api_key(home: Path) -> str:
    """AWO_API_KEY, else the local key of the data directory."""
    given = os.environ.get("AWO_API_KEY", "")
    if given:
        return given
    try:
        return (home / LOCAL_KEY).read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


class OverHttp:
    remote = True

    def __init__(self, url: str, key: str, *, named: bool = True) -> None:
        """`named`: somebody asked for this server; else it owns the data directory at the moment,
        and when it is gone another way must be found."""
        if not given.is_plain_address(url):
            raise Told(
                "url_invalid",
                f"Not the address of a server: {given.shape(url)}",
                hint="Give http://host:port, without a user; a key goes into AWO_API_KEY",
                field="--url",
            )
        if key and not given.is_secret(key):
            raise Told(
                "api_key_invalid",
                f"AWO_API_KEY is not a key: {given.shape(key)}",
                hint="Give it as `awo key create NAME` printed it, in one line",
                field="AWO_API_KEY",
            )
        parts = urlsplit(url)
        self._url = url.rstrip("/")
        self._named = named
        self._http = httpx.AsyncClient(
            base_url=self._url,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            # A proxy for the outside world has no business with a server on this machine.
            trust_env=parts.hostname not in LOOPBACK,
        )

    async def __aenter__(self) -> OverHttp:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._http.aclose()

    async def check(self, order: Json) -> None:
        """The server checks all of it before it keeps anything."""

    async def create(self, order: Json) -> Json:
        body = {name: value for name, value in order.items() if value is not None}
        return _inner(await self._ask("POST", ORDERS, body=body))

    async def orders(self, **wanted: Any) -> Json:
        query = {("q" if name == "text" else name): value for name, value in wanted.items()}
        return await self._ask("GET", ORDERS, query=query)

    async def order(self, wanted: str) -> Json:
        return _inner(await self._ask("GET", _order(wanted)))

    async def watch(self, wanted: str) -> tuple[Json, list[Json]]:
        return await self.order(wanted), await self.tasks(wanted)

    async def tasks(self, wanted: str) -> list[Json]:
        answer = await self._ask("GET", f"{_order(wanted)}/tasks")
        return list(answer["tasks"])

    async def logs(self, wanted: str, *, limit: int, offset: int, level: str | None = None) -> Json:
        query = {"limit": limit, "offset": offset, "level": level}
        return await self._ask("GET", f"{_order(wanted)}/logs", query=query)

    async def transcript(
        self, wanted: str, task: str | None, *, after: int = 0, search: str | None = None
    ) -> Json:
        query: Json = {"task": task, "after": after}
        if search is not None:
            query |= {"q": search, "limit": 100}
        return await self._ask("GET", f"{_order(wanted)}/transcript", query=query)

    async def patch(self, wanted: str) -> Patch:
        order_id = (await self.order(wanted))["agent_work_order_id"]
        found = await self._fetch(f"{_order(order_id)}/diff", accept="text/x-diff")
        task = found.headers.get("x-unfinished-task")
        return Patch(
            order_id=order_id,
            content=found.content,
            truncated=found.headers.get("x-truncated") == "true",
            unfinished_task=None if task is None else unquote(task),
        )

    async def artifacts(self, wanted: str) -> list[Json]:
        return list((await self._ask("GET", f"{_order(wanted)}/artifacts"))["artifacts"])

    async def artifact(self, wanted: str, sha256: str) -> bytes:
        return (await self._fetch(f"{_order(wanted)}/artifacts/{quote(sha256)}")).content

    async def prompt(self, wanted: str, text: str) -> Json:
        order_id = (await self.order(wanted))["agent_work_order_id"]
        body = {"agent_work_order_id": order_id, "prompt_text": text}
        return await self._ask("POST", f"{_order(order_id)}/prompt", body=body)

    async def steer(self, wanted: str, verb: Verb) -> Json:
        return _inner(await self._ask("POST", f"{_order(wanted)}/{verb}"))

    async def retry(
        self, wanted: str, task: str | None, *, text: str, agent_timeout_s: float | None
    ) -> Json:
        body = {"task": task, "prompt_text": text, "agent_timeout_s": agent_timeout_s}
        return _inner(await self._ask("POST", f"{_order(wanted)}/retry", body=body))

    async def override(
        self, wanted: str, task: str, action: Literal["skip", "succeed", "retry"], outputs: Json
    ) -> Json:
        path = f"{_order(wanted)}/tasks/{quote(task, safe='')}/override"
        return _inner(await self._ask("POST", path, body={"action": action, "outputs": outputs}))

    async def approvals(self, wanted: str | None = None) -> list[Json]:
        path = "/api/approvals" if wanted is None else f"{_order(wanted)}/approvals"
        found = (await self._ask("GET", path))["approvals"]
        return [one for one in found if one["state"] == "asked"]

    async def decide(
        self, approval_id: str, *, approved: bool, comment: str, subject_hash: str
    ) -> Json:
        verb = "approve" if approved else "reject"
        path = f"/api/approvals/{quote(approval_id, safe='')}/{verb}"
        answer = await self._ask(
            "POST", path, body={"comment": comment, "subject_hash": subject_hash}
        )
        return dict(answer["approval"])

    async def going_on(self) -> list[Json]:
        return []

    async def leave(self) -> bool:
        return True

    async def workflows(self) -> list[Json]:
        return list((await self._ask("GET", "/api/workflows"))["workflows"])

    async def workflow(self, name: str) -> Json:
        answer = await self._ask("GET", f"/api/workflows/{quote(name, safe='')}")
        return dict(answer["workflow"])

    async def lint(self, source: str, file: str) -> Json:
        answer = await self._ask("POST", "/api/workflows/validate", body={"source": source})
        if not answer["valid"]:
            problems = [_placed(row, file) for row in answer["problems"]]
            raise Told("workflow_invalid", f"{file} cannot be used", problems=tuple(problems))
        return dict(answer["workflow"])

    async def commands(self, repository: str | None, base: str | None) -> Json:
        return await self._ask(
            "GET", "/api/commands", query={"repository": repository, "base": base}
        )

    async def command(self, name: str, repository: str | None, base: str | None) -> Json:
        path = f"/api/commands/{quote(name, safe='')}"
        answer = await self._ask("GET", path, query={"repository": repository, "base": base})
        return dict(answer["command"])

    async def tools(self) -> list[Json]:
        return list((await self._ask("GET", "/api/tools"))["tools"])

    async def sandboxes(self, **wanted: Any) -> Json:
        query = {
            ("agent_work_order_id" if name == "order_id" else name): value
            for name, value in wanted.items()
        }
        return await self._ask("GET", "/api/sandboxes", query=query)

    async def sandbox(self, wanted: str) -> Json:
        return dict((await self._ask("GET", _sandbox(wanted)))["sandbox"])

    async def sandbox_types(self) -> list[Json]:
        return list((await self._ask("GET", "/api/sandbox-types"))["sandbox_types"])

    async def destroy_sandbox(self, wanted: str, *, force: bool) -> Json:
        query = {"force": "true" if force else None}
        return await self._ask("DELETE", _sandbox(wanted), query=query)

    async def run_program(
        self, wanted: str, argv: list[str], timeout_s: float, output: Output
    ) -> Json:
        body = {"argv": argv, "timeout_s": timeout_s}
        return await programs_over_http.run(self, f"{_sandbox(wanted)}/exec", body, output)

    async def run_terminal(self, wanted: str, argv: list[str], keyboard: Keyboard) -> Json:
        body = {"argv": argv or None}
        path = f"{_sandbox(wanted)}/terminal"
        return await programs_over_http.attach(self, path, body, keyboard)

    async def tell(self, path: str, body: Json) -> Json:
        return await self._ask("POST", path, body=body)

    async def lines(self, path: str, body: Json) -> AsyncIterator[Json]:
        """Of an answer that goes on, each an object."""
        # It may be silent for as long as a program runs; who is gone closes the connection.
        timeout = httpx.Timeout(None, connect=CONNECT_S)
        try:
            async with self._http.stream("POST", path, json=body, timeout=timeout) as answer:
                if not answer.is_success:
                    await answer.aread()
                    raise _told(answer.status_code, _document(answer), self._url)
                async for line in answer.aiter_lines():
                    said = json.loads(line) if line else {}
                    if "error" in said:
                        raise _told(int(said["error"]["status"]), said["error"], self._url)
                    yield said
            raise httpx.RemoteProtocolError("it ended before the program")
        except httpx.HTTPError as error:
            raise self._unreachable("POST", error) from error

    async def sign_in_link(self) -> Json:
        """A link for a browser: `path` and until when it works."""
        return await self._ask("POST", "/api/session/links")

    async def keys(self) -> list[Json]:
        return list((await self._ask("GET", "/api/keys"))["keys"])

    async def create_key(self, name: str, role: str, repositories: list[str] | None) -> Json:
        body = {"name": name, "role": role, "repositories": repositories}
        return await self._ask("POST", "/api/keys", body=body)

    async def revoke_key(self, key_id: str) -> Json:
        answer = await self._ask("DELETE", f"/api/keys/{quote(key_id, safe='')}")
        return dict(answer["key"])

    async def deliveries(self, state: str | None, limit: int) -> list[Json]:
        query = {"state": state, "limit": limit}
        return list((await self._ask("GET", "/api/deliveries", query=query))["deliveries"])

    async def delivery(self, delivery_id: str, *, retry: bool = False) -> Json:
        address = f"/api/deliveries/{quote(delivery_id, safe='')}"
        method, rest = ("POST", "/retry") if retry else ("GET", "")
        return dict((await self._ask(method, address + rest))["delivery"])

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Json | None = None,
    ) -> Json:
        wanted = {name: value for name, value in (query or {}).items() if value not in (None, ())}
        answer = await self._send(method, path, params=wanted, json=body)
        document = _document(answer)
        if answer.is_success:
            return document
        told = _told(answer.status_code, document, self._url)
        if told.code == "server_draining" and not self._named:
            # It took nothing: whoever owns the directory next does, and that may be this process.
            raise Again(told.code, told.message, hint=told.hint, exit_code=FAILED)
        raise told

    async def _fetch(self, path: str, accept: str = "*/*") -> httpx.Response:
        """Content that is no JSON."""
        answer = await self._send("GET", path, headers={"Accept": accept})
        if answer.is_success:
            return answer
        raise _told(answer.status_code, _document(answer), self._url)

    async def _send(self, method: str, path: str, **more: Any) -> httpx.Response:
        timeout = httpx.Timeout(TIMEOUT_S, connect=CONNECT_S)
        if method == "GET" and not any(part in path for part in _SLOW):
            timeout = httpx.Timeout(READ_S, connect=CONNECT_S)
        try:
            return await self._http.request(method, path, timeout=timeout, **more)
        except httpx.ReadTimeout as error:
            raise Told(
                "server_silent",
                f"{self._url} took the request and does not answer",
                hint="It may be stopped or busy: look at its log and its process (`awo doctor`)",
                exit_code=FAILED,
            ) from error
        except httpx.HTTPError as error:
            raise self._unreachable(method, error) from error

    def _unreachable(self, method: str, error: httpx.HTTPError) -> Told:
        message = f"{self._url} does not answer ({type(error).__name__})"
        if self._named:
            hint = "Start it with `awo up`, or leave --url and AWO_URL out"
            return Told("server_unreachable", message, hint=hint, exit_code=FAILED)
        nothing_done = isinstance(error, httpx.ConnectError) or method == "GET"
        if nothing_done and isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError):
            hint = "It owns the data directory: look at its process with `awo doctor`"
            return Again("server_unreachable", message, hint=hint, exit_code=FAILED)
        return Told(
            "server_unreachable",
            f"{self._url} ended before it answered; it may have done what was asked",
            hint="See `awo list` and `awo show ORDER` before you ask again",
            exit_code=FAILED,
        )


def _document(answer: httpx.Response) -> Json:
    try:
        found = answer.json() if answer.content else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _told(status: int, document: Json, url: str) -> Told:
    """A problem document (RFC 9457) as what a person is told."""
    problems = tuple(
        _placed(row, str(row.get("file", "")))
        for row in document.get("errors", ())
        if "line" in row
    )
    return Told(
        str(document.get("code", "server_error")),
        str(document.get("detail") or document.get("title") or f"{url} answered {status}"),
        hint=str(document.get("hint") or ""),
        field=document.get("field"),
        exit_code=REFUSED if 400 <= status < 500 and status != 429 else FAILED,
        problems=problems,
    )


def _placed(row: Json, file: str) -> str:
    hint = f" ({str(row['hint']).rstrip('.')})" if row.get("hint") else ""
    return f"{file}:{row.get('line')}:{row.get('column')}: {row.get('message')}{hint}"


def _order(wanted: str) -> str:
    return f"{ORDERS}/{quote(wanted, safe='')}"


def _sandbox(wanted: str) -> str:
    return f"/api/sandboxes/{quote(wanted, safe='')}"


def _inner(answer: Json) -> Json:
    return dict(answer["agent_work_order"])

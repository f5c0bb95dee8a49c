"""One request, one answer: what is sent to the service and what certainly came back. No retry here.

Rules:
- One pool of connections. No proxy but the given one, no redirect followed, certificates checked.
- A deadline for everything together, and a bound on the answer, also on what it unpacks to.
- `NotSent` is raised only when no byte of the request can have arrived; everything else that goes
  wrong is `Lost`.
"""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import Mapping
from importlib.metadata import version
from types import TracebackType

import httpx
import msgspec

from agent_work_orders.github_integration.credential import Credential
from agent_work_orders.github_integration.quota import Priority

CONNECT_S = 5.0
DEADLINE_S = 30.0
BODY_LIMIT_BYTES = 16 * 1024 * 1024
"""A page of 100 files with their patches is the largest that we ask for: 3 MB by experience."""
CONNECTIONS = 100
KEPT_CONNECTIONS = 20
KEEP_S = 30.0
"""Less than what load balancers allow, so that they rarely close one while it is used again."""
API_VERSION = "2022-11-28"


class HttpRequest(msgspec.Struct, frozen=True, kw_only=True):
    """`writes`: repeating it could make something twice. `creates`: see `quota.Governor`.
    `lane`: what is put behind the credential's name for the governor."""

    method: str
    url: str
    body: bytes | None = None
    etag: str = ""
    writes: bool = False
    creates: bool = False
    priority: Priority = "order"
    lane: str = ""


class HttpAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str
    """Of the request that it answers, after redirects."""


class NotSent(Exception):
    """The service cannot have seen the request."""


class Lost(Exception):
    """It may have seen it; what it said is not known."""


class TooMuch(Lost):
    """The answer is larger than its bound."""


class Exchange:
    """Used as a context: it owns the pool."""

    def __init__(
        self,
        *,
        trusted: ssl.SSLContext | None,
        proxy: str = "",
        deadline_s: float = DEADLINE_S,
        body_limit_bytes: int = BODY_LIMIT_BYTES,
    ) -> None:
        """None is `trusted`: only for plain http on this machine; no certificate is known then, and
        reading them takes time. Through the `proxy` goes everything."""
        self._deadline_s = deadline_s
        self._limit = body_limit_bytes
        self._http = httpx.AsyncClient(
            http1=True,
            http2=False,
            trust_env=False,
            follow_redirects=False,
            verify=trusted or _no_certificates(),
            proxy=proxy or None,
            timeout=httpx.Timeout(deadline_s, connect=min(CONNECT_S, deadline_s)),
            limits=httpx.Limits(
                max_connections=CONNECTIONS,
                max_keepalive_connections=KEPT_CONNECTIONS,
                keepalive_expiry=KEEP_S,
            ),
            headers={
                "accept": "application/vnd.github+json",
                "accept-encoding": "gzip",
                "user-agent": f"agent-work-orders/{version('agent-work-orders')}",
                "x-github-api-version": API_VERSION,
            },
        )

    async def __aenter__(self) -> Exchange:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._http.aclose()

    async def send(self, request: HttpRequest, credential: Credential) -> HttpAnswer:
        """Raises NotSent, Lost, TooMuch."""
        try:
            async with asyncio.timeout(self._deadline_s):
                return await self._send(request, credential)
        except TimeoutError:
            raise Lost(f"no answer within {self._deadline_s:.0f} s") from None
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise NotSent(_words(error)) from None
        except httpx.HTTPError as error:
            raise Lost(_words(error)) from None

    async def _send(self, request: HttpRequest, credential: Credential) -> HttpAnswer:
        headers = {"authorization": f"Bearer {credential.token}"} if credential.token else {}
        if request.body is not None:
            headers["content-type"] = "application/json"
        if request.etag:
            headers["if-none-match"] = request.etag
        async with self._http.stream(
            request.method, request.url, content=request.body, headers=headers
        ) as response:
            heard = {name.lower(): value for name, value in response.headers.items()}
            body = await self._body(response, heard.get("content-encoding", "identity").lower())
            return HttpAnswer(
                status=response.status_code, headers=heard, body=body, url=request.url
            )

    async def _body(self, response: httpx.Response, encoding: str) -> bytes:
        if encoding not in ("identity", "gzip"):
            raise Lost("the answer is packed in a way that was not asked for")
        unpack = zlib.decompressobj(16 + zlib.MAX_WBITS) if encoding == "gzip" else None
        body = bytearray()
        async for chunk in response.aiter_raw():
            try:
                more = chunk if unpack is None else unpack.decompress(chunk, self._limit + 1)
            except zlib.error:
                raise Lost("the answer cannot be unpacked") from None
            body += more
            if len(body) > self._limit:
                raise TooMuch(f"the answer has more than {self._limit} bytes")
        if unpack is not None and body and not unpack.eof:
            raise Lost("the answer is cut off")
        return bytes(body)


def _no_certificates() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _words(error: Exception) -> str:
    return str(error)[:200] or type(error).__name__

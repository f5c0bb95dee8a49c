"""`awo github setup`: a GitHub App of one's own, made in the browser, its key sealed here.

A page on loopback sends the manifest to GitHub; GitHub sends the browser back with a code. Rules:
- Only who comes back with the secret of this run (`state`) is believed, and only under a loopback
  name: no other page can hand us a code, or read the one that we show.
- The key, the webhook secret and the App's number are sealed together, or none of them.
"""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import msgspec

from agent_work_orders import ids
from agent_work_orders import settings as setting
from agent_work_orders.bootstrap import github, open_archive, open_upkeep
from agent_work_orders.cli.outcome import Told
from agent_work_orders.clock import SystemClock
from agent_work_orders.github_integration.account import Remark
from agent_work_orders.github_integration.identity import app_manifest
from agent_work_orders.github_integration.identity.app_manifest import NewApp
from agent_work_orders.security import given
from agent_work_orders.settings import Settings, with_kept
from agent_work_orders.state_manager.lock import read_owner
from agent_work_orders.work_orders import credentials

HEAD_LIMIT_BYTES = 16_384
HEAD_WITHIN_S = 10.0
# A browser opens a few; whoever opens more gets nothing.
MOST_AT_ONCE = 16
LOOK_EVERY_S = 2.0
_ORGANIZATION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")
_NAMES = ("127.0.0.1", "localhost")


class AppRequest(msgspec.Struct, frozen=True, kw_only=True):
    organization: str = ""
    name: str = ""
    webhook_url: str = ""
    port: int = 0
    patience_s: float = 600.0
    again: bool = False


async def set_up(home: Path | None, asked: AppRequest, tell: Callable[[str], None]) -> NewApp:
    """The App, sealed. `tell` is given the address that a browser has to open."""
    settings = setting.load(home=home)
    await _ready(settings, asked)
    async with _page(asked.port) as page:
        wanted = app_manifest.manifest(
            name=asked.name or f"agent-work-orders-{ids.new_order_id()[3:9]}",
            url=settings.server.public_url or settings.github.server_url,
            redirect_url=f"{page.url}/callback",
            webhook_url=_webhook(settings, asked),
        )
        action = app_manifest.address(settings.github.server_url, asked.organization, page.state)
        page.shown = app_manifest.page(action, wanted)
        tell(page.url)
        try:
            async with asyncio.timeout(asked.patience_s):
                code = await page.code
        except TimeoutError:
            raise Told(
                "setup_unanswered",
                f"Nobody came back from GitHub within {asked.patience_s:.0f} s; nothing was kept",
                hint="Run it again and open the link that it prints.",
            ) from None
    made = await github.take_over(settings, SystemClock(), code)
    await _seal(settings, made)
    return made


async def check(home: Path | None) -> list[Remark]:
    """What GitHub says of the credentials that the next server will use."""
    settings = await kept(setting.load(home=home))
    found = await github.check(settings, SystemClock())
    if not found:
        return [
            Remark(
                about="GitHub",
                status="error",
                detail="no credentials are configured",
                hint="Run `awo github setup`, or set GITHUB_TOKEN.",
            )
        ]
    return [*found, *_of_webhooks(settings)]


async def kept(settings: Settings) -> Settings:
    """With the credentials of the data directory."""
    async with open_archive(settings) as context:
        every = list(await context.store.credentials.all())
    opened = credentials.opened(settings.home, every, keys=settings.storage.secret_key)
    return with_kept(settings, opened)


async def until_installed(home: Path | None, patience_s: float) -> list[Remark]:
    """What the check says as soon as the App is installed somewhere, or at the end."""
    loop = asyncio.get_running_loop()
    end_s = loop.time() + patience_s
    while True:
        found = await check(home)
        missing = any(one.about == "installations" for one in found)
        if not missing or loop.time() >= end_s:
            return found
        await asyncio.sleep(LOOK_EVERY_S)


async def _ready(settings: Settings, asked: AppRequest) -> None:
    if asked.organization and not _ORGANIZATION.fullmatch(asked.organization):
        raise Told(
            "organization_invalid",
            f"{asked.organization[:60]!r} is not the name of an organization",
            hint="Give it as in its address on GitHub.",
            field="--org",
        )
    if len(asked.name) > app_manifest.MAX_NAME_CHARS:
        raise Told(
            "name_too_long",
            f"GitHub allows {app_manifest.MAX_NAME_CHARS} characters for an App's name",
            hint="Give a shorter one.",
            field="--name",
        )
    if asked.webhook_url and not given.is_plain_address(asked.webhook_url):
        raise Told(
            "webhook_url_invalid",
            f"{asked.webhook_url[:60]!r} is not an http or https address without user or query",
            hint="Give the public address of /webhook/github: https://awo.example.org/webhook/github.",
            field="--webhook-url",
        )
    owner = read_owner(settings.home)
    if owner is not None:
        raise Told(
            "data_directory_in_use",
            f"{settings.home} is used by process {owner.pid}",
            hint="Stop it first: what is kept is read at a start.",
            field="--home",
        )
    if (await kept(settings)).github.app_id and not asked.again:
        raise Told(
            "app_known",
            "A GitHub App is configured already",
            hint="See `awo github check`; --again makes another one in its place.",
            field="--again",
        )


def _webhook(settings: Settings, asked: AppRequest) -> str:
    public = settings.server.public_url
    return asked.webhook_url or (f"{public}/webhook/github" if public else "")


def _of_webhooks(settings: Settings) -> list[Remark]:
    if not settings.github.webhook_secret:
        return [
            Remark(
                about="webhooks",
                status="warning",
                detail="none is taken: there is no secret to check them by",
                hint="Set GITHUB_WEBHOOK_SECRET, unless orders are only made here.",
            )
        ]
    name = urlsplit(settings.server.public_url).hostname
    if name is not None and name not in {*settings.server.allowed_hosts, *_NAMES}:
        return [
            Remark(
                about="webhooks",
                status="error",
                detail=f"deliveries under the name {name} are refused (host_refused)",
                hint=f"Set AWO_ALLOWED_HOSTS={name}",
            )
        ]
    return []


async def _seal(settings: Settings, made: NewApp) -> None:
    secrets = {
        "GITHUB_APP_ID": str(made.id),
        "GITHUB_PRIVATE_KEY": setting.to_keep("GITHUB_PRIVATE_KEY", made.pem),
    }
    if made.webhook_secret:
        secrets["GITHUB_WEBHOOK_SECRET"] = made.webhook_secret
    async with open_upkeep(settings) as context:
        await credentials.keep_all(context, secrets, keys=settings.storage.secret_key)


# -- the page on loopback


class _Page:
    def __init__(self) -> None:
        self.state = ids.new_secret()
        self.code: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.shown = ""
        self.port = 0
        self._open = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            if self._open > MOST_AT_ONCE:
                return
            async with asyncio.timeout(HEAD_WITHIN_S):
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                status, said = self._answer(head)
                writer.write(_response(status, said))
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            self._open -= 1
            writer.close()

    def _answer(self, head: str) -> tuple[str, str]:
        first, *lines = head.split("\r\n")
        method, _, target = first.partition(" ")
        hosts = [line.partition(":")[2].strip() for line in lines if line.lower()[:5] == "host:"]
        if method != "GET" or hosts[:1] not in [[f"{name}:{self.port}"] for name in _NAMES]:
            return "403 Forbidden", "This page is for a browser on the same machine."
        parts = urlsplit(target.partition(" ")[0])
        if parts.path == "/":
            return "200 OK", self.shown
        if parts.path != "/callback":
            return "404 Not Found", "There is no such page."
        given = parse_qs(parts.query)
        state, code = given.get("state", [""])[0], given.get("code", [""])[0]
        if not hmac.compare_digest(state.encode(), self.state.encode()) or not code:
            return "403 Forbidden", "This did not begin here. Start again with the printed link."
        if not self.code.done():
            self.code.set_result(code)
        return "200 OK", "<h1>The App is made</h1><p>Go on in the terminal.</p>"


@asynccontextmanager
async def _page(port: int) -> AsyncIterator[_Page]:
    page = _Page()
    try:
        server = await asyncio.start_server(page.serve, "127.0.0.1", port, limit=HEAD_LIMIT_BYTES)
    except OSError as error:
        raise Told(
            "address_unusable",
            f"Cannot listen at 127.0.0.1:{port} ({error.strerror})",
            hint="Stop what listens there, or choose another --port.",
            field="--port",
        ) from None
    page.port = server.sockets[0].getsockname()[1]
    try:
        yield page
    finally:
        server.close()


def _response(status: str, said: str) -> bytes:
    body = said.encode()
    head = (
        f"HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\n"
        f"content-length: {len(body)}\r\ncache-control: no-store\r\nconnection: close\r\n"
        "x-frame-options: DENY\r\nreferrer-policy: no-referrer\r\n\r\n"
    )
    return head.encode("latin-1") + body

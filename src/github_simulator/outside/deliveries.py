"""Webhooks on their way to the Apps' addresses, as GitHub sends them.

Rules (docs: "Handling webhook deliveries", "Best practices for using webhooks"):
- Signed with the App's secret over the exact bytes; ten seconds for the answer; redirects are not
  followed; what fails is never tried again by itself.
- A redelivery keeps the GUID and gets a new id. Every delivery is kept and can be listed.
- In order, one at a time, unless somebody scripts otherwise: `widen` sends several at once, `hold`
  and `release` reorder, and `script` doubles, drops or delays. The receiver must bear all of that:
  GitHub promises no order.
- Only loopback addresses are called.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import ipaddress
from collections.abc import Sequence
from typing import Literal
from urllib.parse import quote_plus, urlsplit

import httpx
import msgspec

from agent_work_orders import ids
from github_simulator.outside.repository_hooks import Hook, RepositoryHooks
from github_simulator.things.accounts import App
from github_simulator.things.event import Event
from github_simulator.world import World

TIMEOUT_S = 10.0
KEPT = 10_000
QUEUED = 10_000
# GitHub does not send payloads beyond 25 MB.
PAYLOAD_LIMIT_BYTES = 25 * 1024 * 1024
ANSWER_KEPT_BYTES = 4_096
DELAY_LIMIT_S = 60.0
AT_ONCE_MOST = 64
_TYPES = {"json": "application/json", "form": "application/x-www-form-urlencoded"}


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What happens to the next `events` events: copies of each under one GUID (0 drops it),
    and a delay before it is sent."""

    events: int = 1
    copies: int = 1
    delay_s: float = 0.0


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """Whose hook it is, an App's (`integration`) or a repository's, and where it points."""

    kind: Literal["integration", "repository"]
    id: int
    hook_id: int
    url: str
    secret: str | None
    content_type: str = "json"


class Delivery(msgspec.Struct, kw_only=True):
    """One attempt. `status_code` 0 means that no answer came; `lost` that it was never sent."""

    id: int
    guid: str
    event: Event
    target: Target
    body: bytes
    headers: dict[str, str]
    redelivery: bool = False
    delay_s: float = 0.0
    lost: bool = False
    delivered_ms: int = 0
    duration_s: float = 0.0
    status: str = "pending"
    status_code: int = 0
    answer_headers: dict[str, str] = {}
    answer: str = ""


class Deliveries:
    """Listens to the world from the moment it is made; sends while it is entered."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._queue: asyncio.Queue[Delivery] = asyncio.Queue(QUEUED)
        self._held: list[Delivery] | None = None
        self._plans: list[Plan] = []
        self._senders: list[asyncio.Task[None]] = []
        self._at_once = 1
        self.hooks = RepositoryHooks(world)
        self.kept: list[Delivery] = []
        world.listeners.append(self.tell)

    async def __aenter__(self) -> Deliveries:
        self.widen(1)
        return self

    async def __aexit__(self, *_: object) -> None:
        for sender in self._senders:
            sender.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await sender
        self._senders.clear()

    def widen(self, at_once: int) -> None:
        """Send so many at once. What is under way when it becomes fewer is sent still."""
        wanted = min(max(at_once, 1), AT_ONCE_MOST)
        while len(self._senders) < wanted:
            self._senders.append(asyncio.create_task(self._send_all()))
        self._at_once = wanted

    def tell(self, event: Event) -> None:
        """Put an event on its way to its App and to the hooks of its repository."""
        app = self._world.apps[event.app_id]
        if app.webhook_url is not None:
            self._plan(of_app(app, app.webhook_url), event)
        for hook, told in self.hooks.wanting(event):
            self._plan(of_repository(hook), told)

    def _plan(self, target: Target, event: Event) -> None:
        plan = self._planned()
        guid = new_guid()
        for number in range(max(1, plan.copies)):
            delivery = self._make(target, event, guid)
            delivery.delay_s = plan.delay_s if number == 0 else 0.0
            delivery.lost = plan.copies == 0
            self._put(delivery)

    def again(self, delivery: Delivery) -> Delivery:
        """Redeliver, under the same GUID, to where the App's hook points now."""
        target = delivery.target
        if target.kind == "integration":
            app = self._world.apps[delivery.event.app_id]
            target = of_app(app, app.webhook_url or target.url)
        made = self._make(target, delivery.event, delivery.guid)
        made.redelivery = True
        self._put(made)
        return made

    def find(self, app_id: int, delivery_id: int) -> Delivery | None:
        return next((d for d in self.of_app(app_id) if d.id == delivery_id), None)

    def of_app(self, app_id: int) -> list[Delivery]:
        """Those of the App's own hook, oldest first."""
        mine = (d for d in self.kept if d.target.kind == "integration")
        return [d for d in mine if d.event.app_id == app_id]

    def script(self, *plans: Plan) -> None:
        self._plans += plans

    def hold(self) -> None:
        """Keep back what is sent from now on."""
        if self._held is None:
            self._held = []

    def release(self, order: Sequence[int] | None = None) -> int:
        """Send what was held, in this order of positions (backwards: `[2, 1, 0]`; a position left
        out is lost). Returns how many are sent."""
        held, self._held = self._held or [], None
        chosen = held if order is None else [held[position] for position in order]
        for delivery in held:
            if delivery not in chosen:
                delivery.lost = True
                self._finish(delivery, "lost")
        for delivery in chosen:
            self._queue.put_nowait(delivery)
        return len(chosen)

    @property
    def held(self) -> int:
        return len(self._held or [])

    async def settled(self, timeout_s: float = 30.0) -> None:
        """Until everything that is not held has been sent and answered."""
        async with asyncio.timeout(timeout_s):
            await self._queue.join()

    def _planned(self) -> Plan:
        if not self._plans:
            return Plan()
        plan = self._plans[0]
        if plan.events <= 1:
            self._plans.pop(0)
        else:
            self._plans[0] = msgspec.structs.replace(plan, events=plan.events - 1)
        return plan

    def _make(self, target: Target, event: Event, guid: str) -> Delivery:
        body = body_of(target, event)
        return Delivery(
            id=self._world.next_id(),
            guid=guid,
            event=event,
            target=target,
            body=body,
            headers=headers_of(target, event, guid, body),
        )

    def _put(self, delivery: Delivery) -> None:
        self.kept.append(delivery)
        del self.kept[:-KEPT]
        if delivery.lost:
            self._finish(delivery, "lost")
        elif len(delivery.body) > PAYLOAD_LIMIT_BYTES:
            self._finish(delivery, "payload too large")
        elif self._held is not None:
            self._held.append(delivery)
        else:
            self._queue.put_nowait(delivery)

    def _finish(self, delivery: Delivery, status: str) -> None:
        delivery.status = status
        delivery.delivered_ms = self._world.now_ms()

    async def _send_all(self) -> None:
        timeout = httpx.Timeout(TIMEOUT_S)
        async with httpx.AsyncClient(
            timeout=timeout, follow_redirects=False, trust_env=False
        ) as client:
            own = asyncio.current_task()
            while own is None or own in self._senders[: self._at_once]:
                delivery = await self._queue.get()
                try:
                    await self._send(client, delivery)
                finally:
                    self._queue.task_done()

    async def _send(self, client: httpx.AsyncClient, delivery: Delivery) -> None:
        if not is_loopback(delivery.target.url):
            self._finish(delivery, "not a loopback address")
            return
        if delivery.delay_s:
            await asyncio.sleep(min(delivery.delay_s, DELAY_LIMIT_S))
        clock = self._world.clock
        delivery.delivered_ms = clock.now_ms()
        start = clock.monotonic_s()
        try:
            async with (
                asyncio.timeout(TIMEOUT_S),
                client.stream(
                    "POST", delivery.target.url, content=delivery.body, headers=delivery.headers
                ) as answer,
            ):
                delivery.status_code = answer.status_code
                delivery.answer_headers = dict(answer.headers)
                delivery.answer = (await _beginning(answer)).decode("utf-8", "replace")
                delivery.status = "OK" if answer.is_success else answer.reason_phrase
        except (TimeoutError, httpx.TimeoutException):
            delivery.status = "timed out"
            delivery.status_code = 0
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            delivery.status = "failed to connect"
            delivery.answer = type(error).__name__
        delivery.duration_s = round(clock.monotonic_s() - start, 3)


def of_app(app: App, url: str) -> Target:
    return Target(
        kind="integration",
        id=app.id,
        hook_id=app.id,
        url=url,
        secret=app.webhook_secret,
        content_type=app.webhook_content_type,
    )


def of_repository(hook: Hook) -> Target:
    return Target(
        kind="repository",
        id=hook.repository_id,
        hook_id=hook.id,
        url=hook.url,
        secret=hook.secret,
        content_type=hook.content_type,
    )


def body_of(target: Target, event: Event) -> bytes:
    """As JSON, or as the one field of a form."""
    content = msgspec.json.encode(event.payload)
    return content if target.content_type == "json" else f"payload={quote_plus(content)}".encode()


def headers_of(target: Target, event: Event, guid: str, body: bytes) -> dict[str, str]:
    made = {
        "accept": "*/*",
        "content-type": _TYPES[target.content_type],
        "user-agent": "GitHub-Hookshot/44a1f2e",
        "x-github-delivery": guid,
        "x-github-event": event.name,
        "x-github-hook-id": str(target.hook_id),
        "x-github-hook-installation-target-id": str(target.id),
        "x-github-hook-installation-target-type": target.kind,
    }
    if target.secret:
        made["x-hub-signature"] = signature(target.secret, body, "sha1")
        made["x-hub-signature-256"] = signature(target.secret, body, "sha256")
    return made


def signature(secret: str, body: bytes, algorithm: str = "sha256") -> str:
    return f"{algorithm}={hmac.new(secret.encode(), body, getattr(hashlib, algorithm)).hexdigest()}"


def is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def new_guid() -> str:
    """A version 4 UUID."""
    digest = hashlib.sha256(ids.new_secret().encode()).hexdigest()
    variant = "89ab"[int(digest[16], 16) % 4]
    parts = digest[:8], digest[8:12], f"4{digest[13:16]}", f"{variant}{digest[17:20]}"
    return "-".join((*parts, digest[20:32]))


async def _beginning(answer: httpx.Response) -> bytes:
    kept = bytearray()
    async for chunk in answer.aiter_bytes():
        kept += chunk
        if len(kept) >= ANSWER_KEPT_BYTES:
            break
    return bytes(kept[:ANSWER_KEPT_BYTES])

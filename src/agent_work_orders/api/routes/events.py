"""Server-sent events: what happens, as it happens, resumable by the last id."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from starlette.types import Receive, Scope, Send

from agent_work_orders.api import auth
from agent_work_orders.api.live_updates import Listener, LiveUpdates
from agent_work_orders.api.request_parts import context_of, house_of, identity_of
from agent_work_orders.bootstrap import House
from agent_work_orders.errors import BadRequest
from agent_work_orders.work_orders import find

router = APIRouter(prefix="/api", tags=["events"])

HEARTBEAT_S = 15.0
# A client that takes nothing for so long is gone, or will come back by its last id.
SEND_TIMEOUT_S = 20.0
MAX_NUMBER = 2**53
# An event of its own, without a number: a browser's client does not see comments.
HEARTBEAT = b"event: heartbeat\ndata: {}\n\n"
RESET = b"event: reset\ndata: {}\n\n"
Put = Callable[[bytes], Awaitable[None]]
_DESCRIPTION = """Changes as server-sent events: `work_order`, `log` and `approval`.

Each has a growing `id`. A client that reconnects with `Last-Event-ID` (or `?after=`) gets
everything since, nothing twice. `reset` means that what it missed is no longer kept: load anew.
Without either it begins now. In silence a `heartbeat` without an id comes every 15 seconds."""


@router.get(
    "/events",
    response_class=Response,
    description=_DESCRIPTION,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def events(
    request: Request,
    after: Annotated[int | None, Query(ge=0, le=MAX_NUMBER)] = None,
    agent_work_order_id: Annotated[str | None, Query(max_length=64)] = None,
    last_event_id: Annotated[str | None, Header(max_length=20)] = None,
) -> Response:
    identity = identity_of(request)
    caller, session = identity.caller, identity.session
    order_id = None
    if agent_work_order_id is not None:
        found = await find.record_of(context_of(request), agent_work_order_id, caller)
        order_id = found.agent_work_order_id
    if last_event_id:
        after = _number(last_event_id)
    updates: LiveUpdates = request.app.state.live_updates
    updates.check_room()
    listener = Listener(caller, order_id, None if session is None else session.session_id)
    return EventStream(house_of(request), updates, listener, after)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) > MAX_NUMBER:
        raise BadRequest(
            "event_id_invalid",
            "Last-Event-ID is the id of an event: a number",
            hint="Leave it out to begin now.",
            field="Last-Event-ID",
        )
    return int(text)


class EventStream(Response):
    """Sends until the client leaves, is too slow, loses its key or session, or the server stops."""

    media_type = "text/event-stream"

    def __init__(
        self, house: House, updates: LiveUpdates, listener: Listener, after: int | None
    ) -> None:
        super().__init__(None, headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._house = house
        self._updates = updates
        self._listener = listener
        self._after = after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        sending = asyncio.ensure_future(self._send_all(scope, send))
        leaving = asyncio.ensure_future(_disconnected(receive))
        try:
            await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._updates.leave(self._listener)
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)
        if sending.done() and not sending.cancelled() and sending.exception() is None:
            await send({"type": "http.response.body", "body": b""})

    async def _send_all(self, scope: Scope, send: Send) -> None:
        async def put(text: bytes) -> None:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                await send({"type": "http.response.body", "body": text, "more_body": True})

        listener, clock = self._listener, self._house.context.clock
        await put(b"retry: 2000\n: connected\n\n")
        at = await self._catch_up(put)
        checked_s = clock.monotonic_s()
        while not listener.let_go:
            # Also while events come without a pause: who lost the right must not listen on.
            if clock.monotonic_s() - checked_s >= HEARTBEAT_S:
                if not await self._still_known(scope):
                    return
                checked_s = clock.monotonic_s()
            try:
                async with asyncio.timeout(HEARTBEAT_S):
                    await listener.woken.wait()
            except TimeoutError:
                await put(HEARTBEAT)
                continue
            listener.woken.clear()
            ready = [listener.waiting.popleft() for _ in range(len(listener.waiting))]
            fresh = [text for number, text in ready if number > at]
            if fresh:
                at = ready[-1][0]
                await put(b"".join(fresh))

    async def _catch_up(self, put: Put) -> int:
        """Read until nothing is left, then join. What others were told up to is known from before
        the last reading, so that no row can fall between."""
        feed = self._house.context.store.feed
        at, told = self._after, None
        if at is None:
            at = told = await self._updates.start_from()
        elif at > feed.latest():
            at = told = await self._updates.start_from()
            await put(RESET)
        elif 0 < at < await feed.oldest() - 1:
            await put(RESET)
        while not self._listener.let_go:
            reached, found = await self._updates.missed(self._listener, at)
            if reached == at:
                if told is not None and await self._updates.join(self._listener, told):
                    return at
                told = await self._updates.start_from()
            at = reached
            if found:
                await put(b"".join(text for _, text in found))
        return at

    async def _still_known(self, scope: Scope) -> bool:
        """Neither a revoked key nor an ended session may listen on."""
        return await auth.identify(self._house, dict(scope["headers"])) is not None


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

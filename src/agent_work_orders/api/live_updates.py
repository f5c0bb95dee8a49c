"""One reader of the feed for all who listen.

Only rows that are on disk are sent, so a client's last id always means the same after a restart.
A listener first reads what it missed page by page, then is fed by the one reader; both see a
prefix of the feed, so between the two nothing is lost, and what comes twice is dropped by number.
Whoever reads too slowly is let go and catches up by its last id.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from agent_work_orders.api import views
from agent_work_orders.clock import iso
from agent_work_orders.errors import Unavailable
from agent_work_orders.security.roles import Caller
from agent_work_orders.state_manager.feed import FeedRow
from agent_work_orders.state_manager.records import OrderRecord
from agent_work_orders.work_orders.context import Context
from agent_work_orders.work_orders.order_facts import facts_of

POLL_S = 0.1
PAGE = 500
MAX_WAITING = 1_000
MAX_LISTENERS = 1_000
# Sending takes 0.1 to 0.2 ms each.
WOKEN_AT_ONCE = 100
# More rows than the writer ever holds back (50 ms of them).
NOT_YET_VISIBLE = 5_000
KNOWN_ORDERS = 10_000

Sent = tuple[int, bytes]
"""The number of a row and its text for the wire."""


class Listener:
    """One client: whose rows it may see, which it wants, and what waits to be sent."""

    def __init__(self, caller: Caller, order_id: str | None, session_id: str | None = None) -> None:
        self.caller = caller
        self.session_id = session_id
        self.order_id = order_id
        self.waiting: deque[Sent] = deque()
        self.woken = asyncio.Event()
        self.let_go = False

    def wants(self, row: FeedRow, repository: str | None) -> bool:
        if self.order_id is not None and row.order_id != self.order_id:
            return False
        return self.caller.repositories is None or (
            repository is not None and self.caller.sees(repository)
        )

    def give(self, sent: Sent) -> None:
        if len(self.waiting) >= MAX_WAITING:
            self.release()
        elif not self.let_go:
            self.waiting.append(sent)
            self.woken.set()

    def release(self) -> None:
        self.let_go = True
        self.waiting.clear()
        self.woken.set()


class LiveUpdates:
    def __init__(
        self, context: Context, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._context = context
        self._sleep = sleep
        self._listeners: set[Listener] = set()
        self._reader: asyncio.Task[None] | None = None
        self._cursor = 0
        self._closed = False
        self._repositories: OrderedDict[str, str] = OrderedDict()

    async def start_from(self) -> int:
        """The number of the last row that is on disk: where a client without a past begins."""
        if self._reader is not None:
            return self._cursor
        before = max(0, self._context.store.feed.latest() - NOT_YET_VISIBLE)
        seen = await self._context.store.feed.after(before, NOT_YET_VISIBLE)
        return seen[-1].n if seen else before

    async def join(self, listener: Listener, told: int | None = None) -> bool:
        """From now on the listener gets rows. It has read everything after it asked `start_from`,
        which said `told`; False when others were told more since: then it must read again."""
        if told is None:
            told = await self.start_from()
        self.check_room()
        if self._reader is not None and self._cursor != told:
            return False
        if self._reader is None:
            self._cursor = told
            self._reader = asyncio.get_running_loop().create_task(self._read())
            self._reader.add_done_callback(self._reader_ended)
        self._listeners.add(listener)
        return True

    def check_room(self) -> None:
        """Unavailable `stream_unavailable` when nobody else can listen."""
        if self._closed or len(self._listeners) >= MAX_LISTENERS:
            raise Unavailable(
                "stream_unavailable",
                "No further live connection is possible now",
                hint="Try again later, or poll.",
            )

    def leave(self, listener: Listener) -> None:
        self._listeners.discard(listener)
        if not self._listeners and self._reader is not None:
            self._reader.cancel()
            self._reader = None

    def release_session(self, session_id: str) -> None:
        """Let go who listens with a session that has ended."""
        for listener in list(self._listeners):
            if listener.session_id == session_id:
                listener.release()

    def close(self) -> None:
        """Let everybody go: the server stops."""
        self._closed = True
        for listener in list(self._listeners):
            listener.release()

    def _reader_ended(self, reader: asyncio.Task[None]) -> None:
        """When the feed cannot be read, clients are told so by the end of their connection."""
        if not reader.cancelled() and reader.exception() is not None:
            self._reader = None
            for listener in list(self._listeners):
                listener.release()

    async def missed(self, listener: Listener, after: int) -> tuple[int, list[Sent]]:
        """A page of what came after a number: up to where it was read, and what is wanted of it.
        At the end the number stays the same."""
        rows = await self._context.store.feed.after(after, PAGE, listener.order_id)
        found = []
        for row in rows:
            if listener.wants(row, await self._repository(row, listener)):
                found.append((row.n, to_wire(row)))
        return (rows[-1].n if rows else after), found

    async def _read(self) -> None:
        feed = self._context.store.feed
        while True:
            await self._sleep(POLL_S)
            while feed.latest() > self._cursor and (rows := await feed.after(self._cursor, PAGE)):
                # First: who comes while they are told must know that it has to read them.
                self._cursor = rows[-1].n
                await self._tell(rows)

    async def _tell(self, rows: Sequence[FeedRow]) -> None:
        """To some listeners at a time: each that is woken sends, in the loop's next turn. Whoever
        joins meanwhile has read these rows: the cursor is past them."""
        texts: dict[int, Sent] = {}
        for number, listener in enumerate(list(self._listeners), 1):
            for row in rows:
                if listener.wants(row, await self._repository(row, listener)):
                    if row.n not in texts:
                        texts[row.n] = (row.n, to_wire(row))
                    listener.give(texts[row.n])
            if number % WOKEN_AT_ONCE == 0:
                await self._sleep(0)
        await self._sleep(0)

    async def _repository(self, row: FeedRow, listener: Listener) -> str | None:
        """Whose row it is; asked only for callers who may not see everything."""
        if listener.caller.repositories is None:
            return None
        known = self._repositories.get(row.order_id)
        if known is None:
            record = await self._context.store.records.get(row.order_id)
            if record is not None:
                known = record.repository
            else:
                run = await self._context.runs.run(row.order_id)
                if run is None:
                    return None
                known = facts_of(run).repository
            self._repositories[row.order_id] = known
            if len(self._repositories) > KNOWN_ORDERS:
                self._repositories.popitem(last=False)
        return known


def to_wire(row: FeedRow) -> bytes:
    """A row as a server-sent event. JSON has no line breaks, so it is one line."""
    body = msgspec.json.decode(row.body)
    if row.kind == "work_order":
        record = msgspec.convert(body["agent_work_order"], OrderRecord)
        body = {"agent_work_order": views.summary(record), "tasks": body.get("tasks", [])}
    else:
        body = {**body, "timestamp": iso(row.at_ms), "agent_work_order_id": row.order_id}
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (
        row.n,
        row.kind.encode(),
        msgspec.json.encode(body),
    )

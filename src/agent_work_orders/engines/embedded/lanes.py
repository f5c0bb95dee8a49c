"""The ready queue: who goes next.

- A repository has so many seats. An order takes one with its first task and keeps it while
  anything of it is live; an order that waits for a person or a timer holds none.
- Tasks of seated orders go before new orders. Among equals: higher priority first, then
  repositories in turn, then first come.
- The rate limits count orders begun, exactly: a start is counted when it is let through, and the
  starts of the last hour are given back at a restart.
- All running tasks together have so many slots.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

import msgspec

from agent_work_orders.engines.ticket import Ticket

HOUR_MS = 3_600_000
MINUTE_MS = 60_000
PRIORITIES = 4


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """SE4's numbers. None is no limit."""

    running_tasks: int = 16
    orders_per_repository: int | None = 2
    starts_per_repository_per_hour: int | None = 10
    starts_per_minute: int | None = 100


Takes = Callable[[str], bool]
"""Whether the open runs of an order are taken up. Others can be read, and stay as they are."""
Job = TypeVar("Job")


class _Entry(Generic[Job]):
    """A queued job. One that was withdrawn stays in its row until its turn, without a job."""

    __slots__ = ("job", "key", "ticket")

    def __init__(self, ticket: Ticket, job: Job, key: Hashable) -> None:
        self.ticket = ticket
        self.job: Job | None = job
        self.key = key


class _Lane(Generic[Job]):
    """One repository's jobs."""

    def __init__(self) -> None:
        self.seated: list[deque[_Entry[Job]]] = [deque() for _ in range(PRIORITIES)]
        self.new: list[deque[_Entry[Job]]] = [deque() for _ in range(PRIORITIES)]
        self.seats: set[str] = set()
        self.starts: deque[int] = deque()
        self.queued = 0
        self.unseated: Counter[str] = Counter()
        """How many jobs of each order wait in `new`."""


class Lanes(Generic[Job]):
    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.running = 0
        self.queued = 0
        self._lanes: dict[str, _Lane[Job]] = {}
        self._busy: OrderedDict[str, _Lane[Job]] = OrderedDict()
        """The repositories with queued jobs; the one served last stands at the end."""
        self._starts: deque[int] = deque()
        self._begun: set[str] = set()
        self._entries: dict[Hashable, _Entry[Job]] = {}

    def remember(self, starts: Iterable[tuple[Ticket, int]]) -> None:
        """Starts of the last hour, oldest first, and orders begun before a restart."""
        for ticket, at_ms in starts:
            self._begun.add(ticket.order_id)
            if ticket.metered:
                self._lane(ticket.repository).starts.append(at_ms)
                self._starts.append(at_ms)

    def enqueue(self, ticket: Ticket, job: Job, key: Hashable = None) -> None:
        """`key` names the job for `withdraw`; the job itself when absent."""
        key = job if key is None else key
        lane = self._lane(ticket.repository)
        seated = ticket.order_id in lane.seats
        if not seated:
            lane.unseated[ticket.order_id] += 1
        entry = self._entries[key] = _Entry(ticket, job, key)
        (lane.seated if seated else lane.new)[ticket.priority].append(entry)
        self._count(ticket.repository, lane, 1)

    def take(self, now_ms: int) -> tuple[Ticket, Job] | None:
        """The next job to run, or None when nothing may. The caller owes a `release`."""
        if self.running >= self.limits.running_tasks or self.queued == 0:
            return None
        for priority in range(PRIORITIES - 1, -1, -1):
            for repository, lane in self._busy.items():
                found = self._from(lane, priority, now_ms)
                if found is not None:
                    self._busy.move_to_end(repository)
                    self._count(repository, lane, -1)
                    self.running += 1
                    return found
        return None

    def release(self) -> None:
        self.running -= 1

    def rest(self, ticket: Ticket) -> None:
        """Nothing of the order is live: its seat is free."""
        self._lane(ticket.repository).seats.discard(ticket.order_id)

    def forget(self, ticket: Ticket) -> None:
        """The order ended."""
        self.rest(ticket)
        self._begun.discard(ticket.order_id)

    def withdraw(self, key: Hashable) -> None:
        """Take a job out of the queue again, if it is there. Costs the same in a long queue."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return
        entry.job, ticket = None, entry.ticket
        lane = self._lane(ticket.repository)
        if lane.unseated.get(ticket.order_id):
            lane.unseated[ticket.order_id] -= 1
        self._count(ticket.repository, lane, -1)

    def opens_at_ms(self, now_ms: int) -> int | None:
        """When a rate limit will let the next order through, if that is what holds some."""
        moments = [
            at
            for lane in self._busy.values()
            if any(lane.new)
            if (at := self._rate_opens(lane, now_ms)) is not None and at > now_ms
        ]
        return min(moments, default=None)

    def held_until_ms(self, ticket: Ticket, now_ms: int) -> int | None:
        """Until when the rate limit holds this order, or None."""
        lane = self._lane(ticket.repository)
        if not ticket.metered or ticket.order_id in self._begun:
            return None
        opens = self._rate_opens(lane, now_ms)
        return opens if opens is not None and opens > now_ms else None

    def _lane(self, repository: str) -> _Lane[Job]:
        lane = self._lanes.get(repository)
        if lane is None:
            lane = self._lanes[repository] = _Lane()
        return lane

    def _count(self, repository: str, lane: _Lane[Job], change: int) -> None:
        self.queued += change
        lane.queued += change
        if lane.queued == 0:
            del self._busy[repository]
            for row in (*lane.seated, *lane.new):
                row.clear()  # nothing but what was withdrawn
        elif repository not in self._busy:
            self._busy[repository] = lane

    def _from(self, lane: _Lane[Job], priority: int, now_ms: int) -> tuple[Ticket, Job] | None:
        seated = lane.seated[priority]
        while seated:
            if (found := self._taken(seated.popleft())) is not None:
                return found
        row = lane.new[priority]
        while row and row[0].job is None:
            row.popleft()
        for position, entry in enumerate(row):
            ticket = entry.ticket
            if entry.job is None:
                continue
            if self._may_sit(lane, ticket, now_ms):
                del row[position]
                lane.unseated[ticket.order_id] -= 1
                self._seat(lane, ticket, now_ms)
                return self._taken(entry)
            if ticket.order_id not in lane.seats and self._full(lane):
                return None
        return None

    def _taken(self, entry: _Entry[Job]) -> tuple[Ticket, Job] | None:
        if entry.job is None:
            return None
        del self._entries[entry.key]
        return entry.ticket, entry.job

    def _full(self, lane: _Lane[Job]) -> bool:
        limit = self.limits.orders_per_repository
        return limit is not None and len(lane.seats) >= limit

    def _may_sit(self, lane: _Lane[Job], ticket: Ticket, now_ms: int) -> bool:
        if ticket.order_id in lane.seats:
            return True
        if self._full(lane):
            return False
        if not ticket.metered or ticket.order_id in self._begun:
            return True
        opens = self._rate_opens(lane, now_ms)
        return opens is None or opens <= now_ms

    def _seat(self, lane: _Lane[Job], ticket: Ticket, now_ms: int) -> None:
        if ticket.order_id in lane.seats:
            return
        lane.seats.add(ticket.order_id)
        if ticket.order_id not in self._begun:
            self._begun.add(ticket.order_id)
            if ticket.metered:
                lane.starts.append(now_ms)
                self._starts.append(now_ms)
        if lane.unseated.pop(ticket.order_id, 0):
            # The order's other tasks came before it had a seat.
            for priority, row in enumerate(lane.new):
                others = deque[_Entry[Job]]()
                for entry in row:
                    mine = entry.ticket.order_id == ticket.order_id
                    (lane.seated[priority] if mine else others).append(entry)
                lane.new[priority] = others

    def _rate_opens(self, lane: _Lane[Job], now_ms: int) -> int | None:
        """The moment from which both rate limits allow a start; None when they do now."""
        moments = [
            _opens(lane.starts, self.limits.starts_per_repository_per_hour, HOUR_MS, now_ms),
            _opens(self._starts, self.limits.starts_per_minute, MINUTE_MS, now_ms),
        ]
        return max((moment for moment in moments if moment is not None), default=None)


def _opens(starts: deque[int], limit: int | None, window_ms: int, now_ms: int) -> int | None:
    if limit is None:
        return None
    while starts and starts[0] <= now_ms - window_ms:
        starts.popleft()
    return None if len(starts) < limit else starts[-limit] + window_ms

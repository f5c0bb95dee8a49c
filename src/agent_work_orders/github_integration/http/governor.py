"""Lets requests through, one governor for a host. The contract is quota.py.

GraphQL has an hour's quota of its own: `<credential>:graphql` asks for a turn of it. Everything
else (secondary limits, creation, how many at once) is shared with the credential's REST requests.

Waiters are looked through by priority, then by age, whenever something changed; those that may go,
go. So nothing overtakes a person, and a comment that waits for the creation limit does not hold up
a read behind it.
"""

from __future__ import annotations

import asyncio
import random
from bisect import insort
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import get_args

import msgspec

from agent_work_orders.clock import Clock
from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.github_integration.http.lane import BUSY, FREE, Hold, Lane
from agent_work_orders.github_integration.http.limits import GRAPHQL, counted, limited
from agent_work_orders.github_integration.http.moments import Moment
from agent_work_orders.github_integration.http.outage import OUTAGE
from agent_work_orders.github_integration.quota import (
    PATIENCE_S,
    Priority,
    QuotaHeld,
    QuotaMemory,
    QuotaReport,
    QuotaState,
)
from agent_work_orders.recovery.breaker import Circuit

Sleep = Callable[[float], Awaitable[None]]

MOST_WAITING = 2_000
"""In memory, for moments only: who waits longer parks durably."""
CROWDED_MS = 10_000
_RANKS = {priority: rank for rank, priority in enumerate(get_args(Priority))}
_GRAPHQL = f":{GRAPHQL}"


class _Waiter(msgspec.Struct, eq=False):
    rank: int
    age: int
    credential: str
    priority: Priority
    writes: bool
    creates: bool
    admitted: bool = False
    changed: asyncio.Event = msgspec.field(default_factory=asyncio.Event)


class Pass:
    """A turn that was let through. The contract is `quota.Turn`."""

    def __init__(self, governor: DurableGovernor, credential: str, sent: Moment) -> None:
        self._governor = governor
        self._credential = credential
        self._sent = sent
        self.told = False

    def answered(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.told = True
        lowered = {name.lower(): value for name, value in headers.items()}
        self._governor.heard(self._credential, self._sent, status, lowered, body)

    def lost(self) -> None:
        self.told = True
        self._governor.unheard()


class DurableGovernor:
    def __init__(
        self,
        memory: QuotaMemory,
        clock: Clock,
        *,
        chance: random.Random,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._memory = memory
        self._clock = clock
        self._chance = chance
        self._sleep = sleep
        self._lanes: dict[str, Lane] = {}
        self._waiting: list[_Waiter] = []
        self._age = 0
        self._unsettled = False
        self._sent = self._held = self._limited = self._failed = 0
        self._outage = Circuit(OUTAGE)
        for state in memory.load():
            self._lane(state.credential).restore(state)

    def states(self) -> list[QuotaState]:
        return [self._lanes[name].state() for name in sorted(self._lanes)]

    def report(self) -> QuotaReport:
        outage_ms = self._outage_ms()
        bases = [lane for name, lane in self._lanes.items() if not name.endswith(_GRAPHQL)]
        return QuotaReport(
            under_way=sum(lane.at_once for lane in bases),
            waiting=len(self._waiting),
            sent=self._sent,
            held=self._held,
            limited=self._limited,
            failed=self._failed,
            unavailable_until_ms=self._clock.now_ms() + outage_ms if outage_ms else None,
            credentials=tuple(self.states()),
        )

    @asynccontextmanager
    async def turn(
        self, credential: str, *, priority: Priority, writes: bool, creates: bool
    ) -> AsyncIterator[Pass]:
        if self._unsettled:
            await self._settle()
        try:
            waiter = await self._admitted(credential, priority, writes, creates)
        except QuotaHeld:
            self._held += 1
            raise
        turn = Pass(self, credential, self._base(credential).now())
        try:
            yield turn
        finally:
            self._ended(waiter, told=turn.told)
        if self._unsettled:
            try:
                await self._settle()
            except AgentWorkOrdersError:
                pass  # the answer is worth more; the next turn tries again before it sends

    def heard(
        self,
        credential: str,
        sent: Moment,
        status: int,
        headers: Mapping[str, str],
        body: bytes,
    ) -> None:
        """Learn from an answer."""
        if status >= 500:
            self.unheard()
        else:
            self._outage.passed()
        base, now_ms = self._base(credential), self._clock.now_ms()
        own = self._lane(credential)
        count, limit = counted(headers, now_ms), limited(status, headers, body, now_ms)
        if count is not None and count.resource in (GRAPHQL if own is not base else "core", ""):
            own.learned(count)
        if limit is not None:
            held = base if limit.reason == "secondary_limit" else own
            held.refused(limit, sent)
            self._limited += 1
            self._unsettled = True
        if count is not None or limit is not None:
            for lane in {own, base}:
                self._memory.save(lane.state())

    def unheard(self) -> None:
        """There was no answer that helps."""
        self._failed += 1
        self._outage.failed(self._monotonic_ms())

    # -- waiting

    async def _admitted(
        self, credential: str, priority: Priority, writes: bool, creates: bool
    ) -> _Waiter:
        """Return when it may be sent, and count it as under way."""
        if len(self._waiting) >= MOST_WAITING:
            raise QuotaHeld(credential, "secondary_limit", self._clock.now_ms() + CROWDED_MS)
        self._age += 1
        waiter = _Waiter(_RANKS[priority], self._age, credential, priority, writes, creates)
        insort(self._waiting, waiter, key=lambda other: (other.rank, other.age))
        patience_ms = PATIENCE_S * 1000
        try:
            self._look()
            while not waiter.admitted:
                hold = self._hold(waiter)
                if hold is BUSY:
                    await waiter.changed.wait()
                    waiter.changed.clear()
                    continue
                if hold.wait_ms > patience_ms:
                    until_ms = self._clock.now_ms() + hold.wait_ms
                    raise QuotaHeld(credential, hold.reason, until_ms)
                patience_ms -= hold.wait_ms
                await self._sleep(hold.wait_ms / 1000)
                self._look()
        except BaseException:
            if waiter.admitted:
                self._ended(waiter, told=False)  # let through while it was being cancelled
            raise
        finally:
            if not waiter.admitted:
                self._waiting.remove(waiter)
        return waiter

    def _look(self) -> None:
        """Let go who may. Who waited for others to end, and now has to wait for a time, is told."""
        for waiter in list(self._waiting):
            hold = self._hold(waiter)
            if hold.wait_ms == 0:
                self._waiting.remove(waiter)
                self._count(waiter)
                waiter.admitted = True
            if hold is not BUSY:
                waiter.changed.set()

    def _hold(self, waiter: _Waiter) -> Hold:
        outage_ms = self._outage_ms()
        if outage_ms:
            return Hold(wait_ms=outage_ms, reason="github_unavailable")
        base = self._base(waiter.credential)
        hold = base.hold(writes=waiter.writes, creates=waiter.creates)
        quota = self._lane(waiter.credential).quota(waiter.priority)
        if hold.wait_ms == quota.wait_ms == 0:
            return FREE
        return hold if hold.wait_ms >= quota.wait_ms else quota

    def _count(self, waiter: _Waiter) -> None:
        base, own = self._base(waiter.credential), self._lane(waiter.credential)
        base.sent(writes=waiter.writes, creates=waiter.creates)
        self._sent += 1
        if own is not base:
            own.at_once += 1
        self._outage.tried(self._monotonic_ms())
        if waiter.creates:
            self._memory.save(base.state())

    def _ended(self, waiter: _Waiter, *, told: bool) -> None:
        base, own = self._base(waiter.credential), self._lane(waiter.credential)
        base.ended(writes=waiter.writes, creates=waiter.creates)
        if own is not base:
            own.at_once -= 1
        if not told:
            self._outage.left(self._monotonic_ms())
        self._look()

    async def _settle(self) -> None:
        self._unsettled = False
        try:
            await self._memory.settle()
        except BaseException:
            self._unsettled = True
            raise

    def _outage_ms(self) -> int:
        """How long nothing is sent to the host; 0: a request may be."""
        now_ms = self._monotonic_ms()
        until_ms = self._outage.opens_at_ms(now_ms)
        return 0 if until_ms is None else int(until_ms - now_ms) + 1

    def _monotonic_ms(self) -> float:
        return self._clock.monotonic_s() * 1000

    def _base(self, credential: str) -> Lane:
        return self._lane(credential.removesuffix(_GRAPHQL))

    def _lane(self, name: str) -> Lane:
        if name not in self._lanes:
            self._lanes[name] = Lane(name, self._clock, self._chance)
        return self._lanes[name]

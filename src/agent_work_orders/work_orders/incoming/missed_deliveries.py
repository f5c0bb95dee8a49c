"""Deliveries that GitHub sent in vain while we were down or could not be reached.

GitHub repeats none by itself, so they are looked for at the start and every few minutes, and asked
for once more; they come in by the webhook like all others, where a GUID is known or not. Rules:

- What is here already (it was stored, and only its answer was lost) is not asked for again.
- Only what could ask for something: most deliveries ask for nothing.
- Nothing of it is durable: the service's list and our GUIDs are, and a life that begins reads both.
- One that fails again is asked for ever more rarely, as long as the service keeps it.
- Behind everything else: in the background of the quota, a bounded number at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from agent_work_orders.errors import AgentWorkOrdersError, NotFound, Permanent
from agent_work_orders.github_integration.hook import Hook, Sent
from agent_work_orders.github_integration.quota import QuotaHeld
from agent_work_orders.state_manager.deliveries import DAY_MS
from agent_work_orders.work_orders.context import LiveContext
from agent_work_orders.work_orders.incoming.event_types import EVENT_TYPES, could_ask

EVERY_S = 240.0
"""So that what was missed is here within five minutes."""
SOON_S = 60.0
"""When there is more to ask for than at once."""
AT_ONCE = 100
"""Writes cost 5 of 900 points a minute, and the App's tokens are minted from the same ones."""
KEPT_MS = 3 * DAY_MS
"""As long as GitHub keeps them."""
OVERLAP_MS = 900_000
"""What is listed late, and clocks that differ."""
RAREST_MS = 6 * 3_600_000
MOST = 5_000

Sleep = Callable[[float], Awaitable[None]]


class _Missed(msgspec.Struct):
    sent: Sent
    tries: int = 0
    due_ms: int = 0


class MissedDeliveries:
    def __init__(self, context: LiveContext, hook: Hook, *, sleep: Sleep = asyncio.sleep) -> None:
        self._context = context
        self._hook = hook
        self._sleep = sleep
        self._missed: dict[str, _Missed] = {}
        self._seen_ms = 0
        self._trouble = ""

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                await self.look()
                self._trouble = ""
            except (AgentWorkOrdersError, QuotaHeld) as error:
                # The next look begins where the last good one ended.
                self._tell(str(error))
            more = any(one.due_ms <= self._context.clock.now_ms() for one in self._missed.values())
            await self._sleep(SOON_S if more and not self._trouble else EVERY_S)

    async def look(self) -> int:
        """Ask for what is missing and due; returns how many."""
        now_ms = self._context.clock.now_ms()
        since_ms = max(now_ms - KEPT_MS, self._seen_ms - OVERLAP_MS)
        for sent in await self._hook.failed(since_ms):
            if len(self._missed) < MOST and could_ask(sent.event, sent.action):
                self._missed.setdefault(sent.guid, _Missed(sent=sent))
        self._seen_ms = now_ms
        taken = self._context.store.deliveries.taken
        self._missed = {
            guid: one
            for guid, one in self._missed.items()
            if one.sent.at_ms >= now_ms - KEPT_MS and not await taken(guid)
        }
        due = [one for one in self._missed.values() if one.due_ms <= now_ms]
        # Times are told in seconds; of two attempts the later one has the higher number.
        due.sort(key=lambda one: (one.tries, _rank(one), one.sent.at_ms, one.sent.attempt_id))
        asked = due[:AT_ONCE]
        for one in asked:
            await self._ask(one, now_ms)
        if asked:
            fields = {"count": len(asked), "left": len(due) - len(asked)}
            self._context.log("", "deliveries_missed", "warning", fields)
        return len(asked)

    async def _ask(self, one: _Missed, now_ms: int) -> None:
        try:
            await self._hook.redeliver(one.sent.attempt_id)
        except (NotFound, Permanent):
            # Kept no longer, or refused: others are not held up by it.
            pass
        one.tries += 1
        one.due_ms = now_ms + min(int(EVERY_S * 1000) * 2 ** (one.tries - 1), RAREST_MS)

    def _tell(self, trouble: str) -> None:
        """A trouble that lasts is said once."""
        if trouble != self._trouble:
            self._context.log("", "deliveries_unchecked", "warning", {"error": trouble})
        self._trouble = trouble


def _rank(one: _Missed) -> int:
    """What people asked for goes before what machines tell, which is most of it."""
    return int(EVENT_TYPES[one.sent.event].by_machines)

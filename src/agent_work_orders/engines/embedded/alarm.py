"""Durable timers in memory: a heap and one wake-up of the loop.

Times are wall-clock, as in the journal. The loop never sleeps longer than MAX_SLEEP_S, so that a
clock that jumps is noticed; a timer fires once, late rather than never.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable

from agent_work_orders.clock import Clock

MAX_SLEEP_S = 30.0
# FAULTS B5: thousands due at a restart must not keep the loop from everything else.
BATCH = 200

Key = tuple[str, str]
"""(run, timer)"""


class Alarm:
    def __init__(self, clock: Clock, fire: Callable[[str, str], None]) -> None:
        self._clock = clock
        self._fire = fire
        self._due: dict[Key, int] = {}
        self._heap: list[tuple[int, Key]] = []
        self._handle: asyncio.TimerHandle | None = None
        self._stopped = False

    def __len__(self) -> int:
        return len(self._due)

    def set(self, run_id: str, timer: str, at_ms: int) -> None:
        key = (run_id, timer)
        self._due[key] = at_ms
        heapq.heappush(self._heap, (at_ms, key))
        if self._heap[0][1] == key:
            self._arm()

    def clear(self, run_id: str, timer: str) -> None:
        self._due.pop((run_id, timer), None)

    def stop(self) -> None:
        self._stopped = True
        if self._handle is not None:
            self._handle.cancel()

    def _arm(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        if self._heap and not self._stopped:
            delay_s = max(0.0, (self._heap[0][0] - self._clock.now_ms()) / 1000)
            loop = asyncio.get_running_loop()
            self._handle = loop.call_later(min(delay_s, MAX_SLEEP_S), self._ring)

    def _ring(self) -> None:
        self._handle = None
        now_ms = self._clock.now_ms()
        for _ in range(BATCH):
            if not self._heap or self._heap[0][0] > now_ms:
                break
            at_ms, key = heapq.heappop(self._heap)
            if self._due.get(key) == at_ms:
                del self._due[key]
                self._fire(*key)
        self._arm()

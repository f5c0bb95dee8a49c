"""An event loop whose time is a number: nothing sleeps, and one seed is one schedule.

The ready queue stays first come, first served, because asyncio promises that and the product may
rely on it. What may come in any order (an fsync, a tool, a person) gets its place by the seeded
delay of its port.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine
from typing import Any

from agent_work_orders.clock import Clock

START_MS = 1_700_000_000_000


class Deadlock(AssertionError):
    """Nothing is ready and nothing will ever be: somebody waits for what cannot come."""


class _Skip:
    """The loop's selector: instead of waiting it moves the time."""

    def __init__(self, time: VirtualTime) -> None:
        self._time = time

    def select(self, timeout_s: float | None) -> list[Any]:
        if timeout_s is None:
            raise Deadlock("every task waits for something that nobody will do")
        self._time.now_s += timeout_s
        return []

    def close(self) -> None: ...


class VirtualTime:
    """Goes on over the lives of a process; `jump_ms` is what somebody did to the wall clock."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.jump_ms = 0


class VirtualClock(Clock):
    def __init__(self, time: VirtualTime) -> None:
        self._time = time

    def now_ms(self) -> int:
        return START_MS + int(self._time.now_s * 1000) + self._time.jump_ms

    def monotonic_s(self) -> float:
        return self._time.now_s


class VirtualLoop(asyncio.BaseEventLoop):
    """One life of a process. Dropped as it is when the process dies."""

    def __init__(self, time: VirtualTime) -> None:
        super().__init__()
        self._virtual = time
        self._selector = _Skip(time)
        # BaseEventLoop runs timers that are due within the clock's resolution.
        self._clock_resolution = 1e-9
        self.troubles: list[str] = []
        self.set_exception_handler(self._note)

    def time(self) -> float:
        return self._virtual.now_s

    def _process_events(self, _events: list[Any]) -> None: ...

    def _write_to_self(self) -> None: ...

    def _note(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        self.troubles.append(f"{context.get('message')}: {error!r}")

    def kill(self) -> None:
        """As SIGKILL: no task gets another step."""
        for task in asyncio.all_tasks(self):
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            work = task.get_coro()
            if isinstance(work, Coroutine) and inspect.getcoroutinestate(work) == "CORO_CREATED":
                work.close()
        self._ready.clear()  # type: ignore[attr-defined]
        self._scheduled.clear()  # type: ignore[attr-defined]
        self.close()

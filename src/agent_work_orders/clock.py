"""The one place that knows the time. Everything else is handed a `Clock`."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    def now_ms(self) -> int:
        """Milliseconds since 1970 (UTC). May jump; never used to measure durations."""
        ...

    def monotonic_s(self) -> float:
        """Seconds from an arbitrary start, never going back: for durations and deadlines."""
        ...


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_s(self) -> float:
        return time.monotonic()


def iso(at_ms: int) -> str:
    """`2026-11-15T10:00:05.123Z`, the form of every time on the wire."""
    stamp = datetime.fromtimestamp(at_ms / 1000, tz=UTC)
    return stamp.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at_ms % 1000:03d}Z"

"""Moments by two clocks, and counting what happened within a span of time.

A moment is kept by the wall's clock, which survives a restart, and by the monotonic one, which does
not jump. A wait is over as soon as either says so: a wall clock that is set back does not prolong
it, and time that a machine slept through counts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import msgspec


class Moment(msgspec.Struct, frozen=True):
    wall_ms: int
    mono_ms: int


def later(now: Moment, more_ms: int) -> Moment:
    return Moment(now.wall_ms + more_ms, now.mono_ms + more_ms)


def left(until: Moment | None, now: Moment) -> int:
    if until is None:
        return 0
    return max(min(until.wall_ms - now.wall_ms, until.mono_ms - now.mono_ms), 0)


def age(at: Moment, now: Moment) -> int:
    return max(now.wall_ms - at.wall_ms, now.mono_ms - at.mono_ms, 0)


class Tally:
    """What was done within the last `span_ms`. The service counts when a request arrives, which is
    some time between its beginning and its end here: so it counts from its beginning on, and its
    span starts at its end."""

    def __init__(self, span_ms: int) -> None:
        self._span_ms = span_ms
        self._done: deque[tuple[Moment, int]] = deque()
        self._total = 0
        self._begun = 0

    def begin(self, weight: int) -> None:
        self._begun += weight

    def end(self, weight: int, now: Moment) -> None:
        self._begun -= weight
        self._done.append((now, weight))
        self._total += weight

    def restore(self, moments: Iterable[Moment]) -> None:
        self._done = deque((moment, 1) for moment in moments)
        self._total = len(self._done)

    def wait_ms(self, now: Moment, more: int, most: int, span_ms: int) -> int | None:
        """Until `more` fit beside the others into `most` of a span; None: not before some of those
        under way have ended."""
        self._forget(now)
        over = self._begun + self._total + more - most
        wait_ms = 0
        for moment, weight in self._done:
            within_ms = span_ms - age(moment, now)
            if over <= 0:
                break
            over -= weight
            wait_ms = max(within_ms, 0)
        return wait_ms if over <= 0 else None

    def stamps(self, now: Moment) -> list[int]:
        """When, by the wall's clock; those under way as of now."""
        self._forget(now)
        done = [now.wall_ms - age(moment, now) for moment, _ in self._done]
        return done + [now.wall_ms] * self._begun

    def _forget(self, now: Moment) -> None:
        while self._done and age(self._done[0][0], now) >= self._span_ms:
            self._total -= self._done.popleft()[1]

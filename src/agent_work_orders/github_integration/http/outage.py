"""A circuit breaker for one host: when it is down, asking again and again helps nobody."""

from __future__ import annotations

from agent_work_orders.clock import Clock

FAILURES = 8
"""In a row, of any credential. A read is tried three times: two or three of those."""
FIRST_S = 15.0
LONGEST_S = 300.0
PROBE_S = 35.0
"""A request's deadline and a little: a probe that said nothing by then is given up."""


class Outage:
    """Closed: everything goes. Open: nothing, until a time. Then one request may try; what becomes
    of it decides. Time is monotonic: a restart may try at once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures = 0
        self._opened = 0
        self._until_s: float | None = None
        self._probing = False

    @property
    def open(self) -> bool:
        return self._until_s is not None

    def wait_ms(self) -> int:
        """0: a request may be sent."""
        if self._until_s is None:
            return 0
        left_s = self._until_s - self._clock.monotonic_s()
        return max(int(left_s * 1000) + 1, 0) if left_s > 0 else 0

    def tried(self) -> None:
        """A request is let through."""
        if self._until_s is not None:
            self._probing = True
            self._until_s = self._clock.monotonic_s() + PROBE_S

    def passed(self) -> None:
        self._failures, self._opened = 0, 0
        self._until_s, self._probing = None, False

    def failed(self) -> None:
        self._failures += 1
        if self._probing or (self._until_s is None and self._failures >= FAILURES):
            self._opened += 1
            wait_s = min(FIRST_S * 2 ** (self._opened - 1), LONGEST_S)
            self._until_s, self._probing = self._clock.monotonic_s() + wait_s, False

    def left(self) -> None:
        """A request was given up by its caller: nothing was learned. If it was to find out, the
        next may."""
        if self._probing:
            self._until_s, self._probing = self._clock.monotonic_s(), False

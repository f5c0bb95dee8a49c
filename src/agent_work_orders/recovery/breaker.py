"""Circuit breaking: what is down is not asked by everybody until one try has found it up. Pure.

A dependency (a model, a hub) that failed several times in a row is left alone for a while; then
one request or task may try, and its result decides. Time arrives as an argument; the state is
memory of one process, because after a restart asking once more is harmless.
"""

from __future__ import annotations

import msgspec

# One order's three attempts must not open it alone; a broken model shows within two orders.
FAILURES = 5
OPEN_MS = 30_000
LONGEST_MS = 10 * 60_000


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """When a circuit opens and for how long."""

    failures: int
    """In a row."""
    first_ms: int
    """The first wait; each try that fails doubles it."""
    longest_ms: int
    probe_ms: int | None = None
    """How long a try may say nothing before the next may; None: as long as it was waited before."""
    late_failures_count: bool = False
    """Whether the wait grows also with failures of what had begun before the circuit opened."""


MODELS = Policy(
    failures=FAILURES, first_ms=OPEN_MS, longest_ms=LONGEST_MS, late_failures_count=True
)


class Circuit:
    """Of one dependency. Closed: everything goes. Open: nothing, until a time. Then one may try;
    what becomes of it decides."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._failures = 0
        self._opened = 0
        self._until_ms: float | None = None
        self._probing = False

    def opens_at_ms(self, now_ms: float) -> float | None:
        """None: it may be asked now."""
        until_ms = self._until_ms
        return until_ms if until_ms is not None and until_ms > now_ms else None

    def tried(self, now_ms: float) -> None:
        """Somebody is let through."""
        if self._until_ms is not None:
            self._probing = True
            probe_ms = self._policy.probe_ms
            self._until_ms = now_ms + (self._wait_ms() if probe_ms is None else probe_ms)

    def passed(self) -> None:
        self._failures, self._opened = 0, 0
        self._until_ms, self._probing = None, False

    def failed(self, now_ms: float) -> None:
        self._failures += 1
        opens = self._until_ms is None and self._failures >= self._policy.failures
        late = self._until_ms is not None and self._policy.late_failures_count
        if self._probing or opens or late:
            self._opened += 1
            self._until_ms, self._probing = now_ms + self._wait_ms(), False

    def left(self, now_ms: float) -> None:
        """It was given up by its caller: nothing was learned. If it was to find out, the next
        may."""
        if self._probing:
            self._until_ms, self._probing = now_ms, False

    def _wait_ms(self) -> int:
        # The exponent is bounded, as the wait is.
        return min(self._policy.first_ms << min(self._opened - 1, 20), self._policy.longest_ms)


class Breaker:
    """Circuits of many dependencies, by name."""

    def __init__(self, policy: Policy = MODELS) -> None:
        self._policy = policy
        self._circuits: dict[str, Circuit] = {}

    def closed_at_ms(self, dependency: str, now_ms: int) -> int | None:
        """None: go on. Else when to come back. Whoever is let through after the wait is the one
        that tries; the others wait for its result, or for another turn."""
        circuit = self._circuits.get(dependency)
        if circuit is None:
            return None
        until_ms = circuit.opens_at_ms(now_ms)
        if until_ms is not None:
            return int(until_ms)
        circuit.tried(now_ms)
        return None

    def failed(self, dependency: str, now_ms: int) -> None:
        self._circuits.setdefault(dependency, Circuit(self._policy)).failed(now_ms)

    def succeeded(self, dependency: str) -> None:
        self._circuits.pop(dependency, None)

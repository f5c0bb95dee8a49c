"""Circuit breaking: what is down is not asked by everybody until one try has found it up. Pure.

A dependency (a model, a git host) that failed several times in a row is left alone for a while;
then one task may try, and its result decides. Time arrives as an argument; the state is memory of
one process, because after a restart asking once more is harmless.
"""

from __future__ import annotations

import msgspec

# One order's three attempts must not open it alone; a broken model shows within two orders.
FAILURES = 5
OPEN_MS = 30_000
LONGEST_MS = 10 * 60_000


class _Circuit(msgspec.Struct):
    failures: int = 0
    open_until_ms: int = 0
    wait_ms: int = OPEN_MS


class Breaker:
    def __init__(self) -> None:
        self._circuits: dict[str, _Circuit] = {}

    def closed_at_ms(self, dependency: str, now_ms: int) -> int | None:
        """None: go on. Else when to come back. Whoever is let through after the wait is the one
        that tries; the others wait for its result, or for another turn."""
        circuit = self._circuits.get(dependency)
        if circuit is None or circuit.failures < FAILURES:
            return None
        if now_ms < circuit.open_until_ms:
            return circuit.open_until_ms
        circuit.open_until_ms = now_ms + circuit.wait_ms
        return None

    def failed(self, dependency: str, now_ms: int) -> None:
        circuit = self._circuits.setdefault(dependency, _Circuit())
        circuit.failures += 1
        if circuit.failures > FAILURES:
            circuit.wait_ms = min(2 * circuit.wait_ms, LONGEST_MS)
        if circuit.failures >= FAILURES:
            circuit.open_until_ms = now_ms + circuit.wait_ms

    def succeeded(self, dependency: str) -> None:
        self._circuits.pop(dependency, None)

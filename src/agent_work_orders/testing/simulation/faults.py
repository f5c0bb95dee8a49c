"""What a schedule does to the system, and where.

A boundary is a line between two things that a real process could die between. Boundaries are
counted over the whole schedule, so that `crash_at` can name each of them in turn.
"""

from __future__ import annotations

import random
from collections import Counter

import msgspec


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule. Everything follows from it: the same options give the same history."""

    seed: int = 0
    orders: int = 2
    scenario: str = ""
    """The workflow of every order; empty lets the seed choose."""
    verbs: tuple[tuple[str, float], ...] = ()
    """What people do to every order, and when (seconds after they submitted it)."""
    crash_at: tuple[int, ...] = ()
    """Numbers of the boundaries to die at, from 1."""
    crash_rate: float = 0.0
    max_crashes: int = 6
    fault_rate: float = 0.0
    """Of a tool: fail, park, lose the answer, hang, be slow."""
    people_rate: float = 0.0
    """Of somebody pausing, cancelling, retrying, prompting… an order."""
    duplicate_rate: float = 0.0
    full_rate: float = 0.0
    jump_rate: float = 0.0
    stop_rate: float = 0.0
    """Of an operator stopping the process in an orderly way, and starting it again."""

    def told(self) -> str:
        """As code that repeats it."""
        named = {name: getattr(self, name) for name in self.__struct_fields__}
        return f"Options({', '.join(f'{name}={value!r}' for name, value in named.items())})"


def chaos(seed: int) -> Options:
    """Everything at once; the seed chooses how much of each."""
    rng = random.Random(seed)
    some = rng.choice
    return Options(
        seed=seed,
        orders=rng.randint(1, 4),
        crash_rate=some((0.0, 0.01, 0.03, 0.08)),
        fault_rate=some((0.0, 0.1, 0.3)),
        people_rate=some((0.0, 0.3, 1.0)),
        duplicate_rate=some((0.0, 0.3)),
        full_rate=some((0.0, 0.0, 0.02)),
        jump_rate=some((0.0, 0.0, 0.05)),
        stop_rate=some((0.0, 0.0, 0.2)),
    )


class PowerCut(SystemExit):
    """The process died here. SystemExit, because asyncio lets it end the loop at once, past every
    handler of ordinary errors."""


class Boundaries:
    def __init__(self, options: Options, rng: random.Random) -> None:
        self._options = options
        self._rng = rng
        self.count = 0
        self.seen: Counter[str] = Counter()
        self.crashes: list[str] = []

    def cross(self, name: str) -> None:
        """Raises PowerCut if the process dies here."""
        if self.due(name):
            raise PowerCut(name)

    def due(self, name: str) -> bool:
        self.count += 1
        self.seen[name] += 1
        if not self._chosen():
            return False
        self.crashes.append(f"{name} ({self.count})")
        return True

    def _chosen(self) -> bool:
        options = self._options
        if self.count in options.crash_at:
            return True
        if options.crash_rate == 0 or len(self.crashes) >= options.max_crashes:
            return False
        return self._rng.random() < options.crash_rate

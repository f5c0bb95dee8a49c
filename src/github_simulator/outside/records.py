"""What reached the simulator, kept within bounds, for assertions afterwards."""

from __future__ import annotations

from collections import Counter, deque

import msgspec

KEPT = 50_000


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One request. `operation` is GitHub's operationId, `git/…`, or empty for what is unknown.
    `status` 0: no answer was sent. `told_for_ms`: since when (really) its sender had been told of
    a rate limit that still held; None if it had not. `credential`: whose budget it used;
    `remaining`: what its answer said is left of that, None if it said nothing."""

    method: str
    path: str
    operation: str
    actor: str
    status: int
    at_ms: int
    came_ms: int = 0
    connection: int = 0
    credential: str = ""
    remaining: int | None = None
    told_for_ms: int | None = None
    fault: str = ""


class Requests:
    def __init__(self) -> None:
        self._kept: deque[Asked] = deque(maxlen=KEPT)
        self.total = 0

    def add(self, asked: Asked) -> None:
        self._kept.append(asked)
        self.total += 1

    def __len__(self) -> int:
        return len(self._kept)

    def clear(self) -> None:
        self._kept.clear()
        self.total = 0

    @property
    def all(self) -> list[Asked]:
        """Oldest first."""
        return list(self._kept)

    @property
    def while_limited(self) -> list[Asked]:
        """Those that a polite client would not have sent. One that was already on its way when the
        limit was told has a small `told_for_ms`."""
        return [asked for asked in self._kept if asked.told_for_ms is not None]

    def of(self, operation: str) -> list[Asked]:
        return [asked for asked in self._kept if asked.operation == operation]

    def counts(self) -> dict[str, int]:
        return dict(Counter(asked.operation or "unknown" for asked in self._kept))

"""How long a body may take: all of it within a time, and never slower than a rate.

The rate is what counts against who sends one byte now and then: a time for the whole alone would
have to be long enough for the largest body.
"""

from __future__ import annotations

import asyncio
from types import TracebackType

from agent_work_orders.errors import Refused

GRACE_S = 3.0
"""Until the rate counts: a lost packet is sent again within a second, and once more."""
LEAST_BYTES_PER_S = 16 * 1024
"""Far below any line that carries a delivery, and far above a trickle."""


class TooSlow(Refused):
    """The body did not arrive in time."""

    status = 408


class Pace:
    """The time in which a body is read. Raises TooSlow `body_too_slow`; `end` ends it at once."""

    def __init__(
        self, within_s: float, *, grace_s: float = GRACE_S, least_per_s: float = LEAST_BYTES_PER_S
    ) -> None:
        self._within_s = within_s
        self._grace_s = grace_s
        self._least_per_s = least_per_s
        self._bytes = 0

    async def __aenter__(self) -> Pace:
        self.started_s = asyncio.get_running_loop().time()
        self._limit = asyncio.timeout(min(self._within_s, self._grace_s))
        await self._limit.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await self._limit.__aexit__(kind, error, trace)
        except TimeoutError:
            raise TooSlow(
                "body_too_slow", "The body did not arrive in time", hint="Send it again."
            ) from None

    def came(self, size: int) -> None:
        """So many bytes more."""
        self._bytes += size
        earned_s = self._grace_s + self._bytes / self._least_per_s
        self._limit.reschedule(self.started_s + min(self._within_s, earned_s))

    @property
    def bytes_per_s(self) -> float:
        return self._bytes / max(0.001, self.age_s)

    @property
    def age_s(self) -> float:
        return asyncio.get_running_loop().time() - self.started_s

    def end(self) -> None:
        if not self._limit.expired():
            self._limit.reschedule(self.started_s)

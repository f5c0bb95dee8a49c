"""The contract of webhook deliveries: stored before they are answered, handled after, once.

A delivery is known by its GUID for `KEEP_MS`, longer than GitHub redelivers; its body is kept until
it was handled. Handling is at least once after a crash, so what it does must itself be keyed by
the event, not by the delivery (the same event may come under two GUIDs).
"""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

DAY_MS = 86_400_000
KEEP_MS = 35 * DAY_MS
MAX_WAITING = 20_000
"""More is refused with 503: GitHub keeps them, and they can be redelivered."""


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    n: int
    """In the order of arrival."""
    delivery_id: str
    event: str
    body: bytes
    received_at_ms: int
    attempts: int = 0


Outcome = Literal["handled", "ignored", "failed"]


class Deliveries(Protocol):
    async def take(self, delivery_id: str, event: str, body: bytes, at_ms: int) -> bool:
        """Keep it, durably; False when it is known already. Unavailable `intake_full`."""
        ...

    def waiting(self, limit: int = 100) -> list[Delivery]:
        """Not handled yet, in the order of arrival."""
        ...

    async def tried(self, n: int) -> None:
        """One more attempt begins."""
        ...

    async def settle(self, n: int, outcome: Outcome, why: str, at_ms: int) -> None:
        """Handled: the body goes, the GUID and what became of it stay."""
        ...

    async def trim(self, before_ms: int) -> int:
        """Forget settled ones that are older."""
        ...

"""The contract of webhook deliveries: stored before they are answered, handled after, once.

A delivery is known by its GUID for `KEEP_MS`, longer than GitHub redelivers; its body is kept until
it was handled. Handling is at least once after a crash, so what it does must itself be keyed by
the event, not by the delivery (the same event may come under two GUIDs).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

DAY_MS = 86_400_000
KEEP_MS = 35 * DAY_MS
MAX_WAITING = 20_000
"""More is refused with 503: GitHub keeps them, and they can be redelivered."""
MAX_BATCH_BYTES = 32 * 1024 * 1024
"""Of bodies that `waiting` gives at once; one alone may be larger."""


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    n: int
    """In the order of arrival."""
    delivery_id: str
    event: str
    body: bytes
    received_at_ms: int
    attempts: int = 0


Outcome = Literal["handled", "ignored", "failed"]
State = Literal["waiting", "handled", "ignored", "failed"]


class DeliveryRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What people are shown: everything but the body."""

    n: int
    delivery_id: str
    event: str
    received_at_ms: int
    attempts: int
    state: State
    why: str
    settled_at_ms: int | None
    has_body: bool


class Deliveries(Protocol):
    async def take(self, delivery_id: str, event: str, body: bytes, at_ms: int) -> bool:
        """Keep it, durably; False when it is known already. One that was only noted is not known.
        Unavailable `intake_full`."""
        ...

    async def note(self, delivery_id: str, event: str, why: str, at_ms: int) -> None:
        """Keep, without its body, that one failed before it could be taken. A known one stays as
        it is; a noted one can be taken when it comes again."""
        ...

    async def waiting(self, limit: int = 100, *, after: int = 0) -> list[Delivery]:
        """Not handled yet, in the order of arrival, from the first after a number. Fewer than
        asked for when their bodies are large (`MAX_BATCH_BYTES`); none only when there is none."""
        ...

    async def set_aside(self, at_ms: int) -> list[str]:
        """Settle what `waiting` found damaged as failed, without its body, so that it can be taken
        when it is delivered again. Returns what each of them is called in its row."""
        ...

    async def tried(self, n: int) -> None:
        """One more attempt begins."""
        ...

    async def held(self, n: int) -> None:
        """The attempt that began was not the delivery's fault (a quota, an outage): it does not
        count."""
        ...

    async def settle(self, n: int, outcome: Outcome, why: str, at_ms: int) -> None:
        """Handled: the body goes, the GUID and what became of it stay. A failed one keeps its
        body. The first outcome counts."""
        ...

    async def settle_idle(self, ns: Sequence[int], why: str, at_ms: int) -> None:
        """The same for many that are ignored for one reason, at once."""
        ...

    async def reopen(self, delivery_id: str) -> bool:
        """Let a failed one wait again, its attempts forgotten; False when there is none."""
        ...

    async def trim(self, before_ms: int) -> int:
        """Forget settled ones that are older."""
        ...

    async def page(
        self, *, state: State | None = None, before: int | None = None, limit: int = 100
    ) -> list[DeliveryRecord]:
        """Newest first."""
        ...

    async def taken(self, delivery_id: str) -> bool:
        """Whether it was taken: what was only noted may come again."""
        ...

    async def find(self, delivery_id: str) -> DeliveryRecord | None: ...

"""How an order stands in a queue, and which orders stood there lately."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

import msgspec


class Ticket(msgspec.Struct, frozen=True, kw_only=True):
    """How an order queues. `metered` orders count against the rate limits."""

    order_id: str
    repository: str
    priority: int = 1
    metered: bool = True


Starts = Callable[[int], Awaitable[Iterable[tuple[Ticket, int]]]]
"""Orders begun since a moment, oldest first: what the rate limits must remember at a restart."""

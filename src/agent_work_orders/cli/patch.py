"""What an order has made, on its way to the screen or to a program."""

from __future__ import annotations

import msgspec


class Patch(msgspec.Struct, frozen=True, kw_only=True):
    """As it can be applied."""

    order_id: str
    content: bytes
    truncated: bool = False
    unfinished_task: str | None = None
    """Whose unfinished work is in it: an agent's that failed."""

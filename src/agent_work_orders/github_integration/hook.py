"""The contract of asking after deliveries of a webhook; app_hook.py keeps it.

GitHub keeps deliveries for three days and never repeats one by itself.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

MOST_PAGES = 50
"""5,000 failed deliveries; older ones of a longer list are left alone."""


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt to deliver."""

    attempt_id: int
    guid: str
    """In lower case; the same for every attempt."""
    event: str
    action: str
    at_ms: int


class Hook(Protocol):
    async def failed(self, since_ms: int) -> list[Sent]:
        """Attempts since then that were not answered with 2xx, newest first. Bounded by
        `MOST_PAGES`. Raises as every read does, and QuotaHeld."""
        ...

    async def redeliver(self, attempt_id: int) -> None:
        """Under the same GUID, soon. Repeating is harmless to who knows GUIDs. NotFound when the
        service keeps it no longer."""
        ...

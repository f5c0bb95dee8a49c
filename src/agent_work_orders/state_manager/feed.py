"""The contract of the feed: one numbered stream of changes, for server-sent events.

Numbers only grow, over restarts too, even when a crash lost the last lazy rows: each life of the
server counts from a base of its own. So a client's Last-Event-ID never hides anything newer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

MISSED = "reset"
"""The kind of a row that stands for one that cannot be read: load anew, as after a long absence."""


class FeedRow(msgspec.Struct, frozen=True, kw_only=True):
    n: int
    order_id: str
    kind: str
    at_ms: int
    body: bytes


class Feed(Protocol):
    def publish(self, order_id: str, kind: str, at_ms: int, body: bytes) -> FeedRow:
        """Numbered at once, written lazily (at most 50 ms later). Never raises when the journal
        is in trouble. A reader that must not miss a row subscribes in memory first, then reads
        `after`, then drops what it saw twice by `n`."""
        ...

    async def after(
        self, n: int, limit: int = 500, order_id: str | None = None
    ) -> Sequence[FeedRow]: ...

    async def oldest(self) -> int:
        """The first number still kept (0 if none): a client behind it has to load anew."""
        ...

    def latest(self) -> int:
        """The last number given."""
        ...

    async def trim(self, keep: int) -> int:
        """Keep the newest `keep` rows; returns how many went."""
        ...

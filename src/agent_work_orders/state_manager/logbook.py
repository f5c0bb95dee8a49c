"""The contract of an order's log: what happened, for people, beside the JSONL file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

MAX_FIELDS_BYTES = 64 * 1024
"""Longer fields are replaced by a note: transcripts belong into artifacts."""


class LogEntry(msgspec.Struct, frozen=True, kw_only=True):
    order_id: str
    n: int
    """From 1 for each order; a cursor."""
    at_ms: int
    level: str
    event: str
    fields: dict[str, Any]


class LogFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Empty fields do not filter."""

    level: str | None = None
    text: str | None = None
    """Found anywhere in the event or its fields, in either case; `%` and `_` mean themselves."""
    after: int = 0
    """A cursor: only lines with a larger `n`. Not part of the total."""


EVERY_LINE = LogFilter()


class LogPage(msgspec.Struct, frozen=True, kw_only=True):
    log_entries: tuple[LogEntry, ...]
    total_count: int
    has_more: bool


class Logbook(Protocol):
    def add(
        self, order_id: str, *, at_ms: int, level: str, event: str, fields: dict[str, Any]
    ) -> LogEntry:
        """Written lazily: a crash may lose the last 50 ms. Never raises when the journal is in
        trouble: a log line must not break the work."""
        ...

    async def page(
        self,
        order_id: str,
        wanted: LogFilter = EVERY_LINE,
        *,
        limit: int = 100,
        offset: int = 0,
        descending: bool = False,
    ) -> LogPage:
        """Oldest first, or newest first. Without a level and a text its cost does not grow with
        the log; with them it reads all of it. BadRequest `limit_invalid`, `search_too_long`."""
        ...

    async def after(self, order_id: str, n: int, limit: int = 100) -> Sequence[LogEntry]:
        """Those after the cursor, oldest first."""
        ...

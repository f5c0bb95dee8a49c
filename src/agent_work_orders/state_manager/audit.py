"""The contract of the audit log: append-only, each row chained to the one before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec


class AuditRow(msgspec.Struct, frozen=True, kw_only=True):
    n: int
    """From 1, without gaps."""
    at_ms: int
    who: str
    what: str
    order_id: str | None
    target: str
    details: dict[str, Any]


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A row to be."""

    at_ms: int
    who: str
    what: str
    target: str = ""
    order_id: str | None = None
    details: dict[str, Any] = {}


class AuditBreak(msgspec.Struct, frozen=True, kw_only=True):
    n: int
    """The first row that does not verify."""
    reason: str


class Audit(Protocol):
    async def append(
        self,
        *,
        at_ms: int,
        who: str,
        what: str,
        target: str = "",
        order_id: str | None = None,
        details: dict[str, Any] | None = None,
    ) -> AuditRow:
        """Durable when it returns. TooLarge `audit_details_too_large`."""
        ...

    async def page(
        self, *, after: int = 0, limit: int = 100, order_id: str | None = None
    ) -> Sequence[AuditRow]:
        """Oldest first."""
        ...

    async def verify(self) -> AuditBreak | None:
        """The first changed or missing row, the end included. Reads all of it."""
        ...

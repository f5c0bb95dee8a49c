"""A row that is not what was written there."""

from __future__ import annotations

from typing import Any

import msgspec


class DamagedRow(msgspec.Struct, frozen=True, kw_only=True):
    table: str
    key: str
    """As it stands there: it may be what is damaged."""
    order_id: str
    """Empty when the row is of no order."""
    reason: str
    values: tuple[Any, ...] = ()

    def __str__(self) -> str:
        of = f" of {self.order_id}" if self.order_id and self.order_id not in self.key else ""
        return f"{self.table} {self.key}{of}: {self.reason}"

"""The contract of what is known of orders' branches, apart from the mirrors that hold them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec


class Branch(msgspec.Struct, frozen=True, kw_only=True):
    """Commits that the order's mirror must have. The mirror may be a step ahead: it moves first."""

    order_id: str
    repository: str
    base_sha: str
    head_sha: str
    """The base while the order has no commit."""


class Branches(Protocol):
    async def keep(self, branch: Branch) -> None:
        """Durable when it returns; the last word on an order counts."""
        ...

    async def get(self, order_id: str) -> Branch | None: ...

    async def all(self) -> Sequence[Branch]: ...

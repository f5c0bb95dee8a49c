"""The contract of kept credentials: sealed before they come here, so nothing here is a secret."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec


class KeptCredential(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    sealed: bytes
    last4: str
    """All that is ever shown of it."""
    changed_at_ms: int


class Credentials(Protocol):
    async def put(self, *kept: KeptCredential) -> None:
        """Instead of what had the names, all of them or none. Durable."""
        ...

    async def reseal(self, anew: Callable[[KeptCredential], bytes]) -> int:
        """Replace what is sealed in every row, in one transaction; returns how many changed. What
        `anew` raises leaves all as it was."""
        ...

    async def remove(self, name: str) -> bool:
        """Whether it was there."""
        ...

    async def all(self) -> Sequence[KeptCredential]: ...

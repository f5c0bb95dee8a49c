"""The contract of idempotency keys: the same request sent twice makes one order."""

from __future__ import annotations

from typing import Protocol


class IdempotencyKeys(Protocol):
    async def claim(
        self, caller: str, key: str, *, body_hash: str, order_id: str, at_ms: int
    ) -> str:
        """The order that belongs to this key: `order_id` for the first caller, the first one's
        for all others, however many at once. Durable before anything is made, so that a retry
        after a crash goes on with the same id. Conflict `idempotency_key_reused` when the key
        came with another body; BadRequest `idempotency_key_invalid` (1 to 255 characters)."""
        ...

    async def forget_before(self, at_ms: int) -> int:
        """Drop old keys; returns how many."""
        ...

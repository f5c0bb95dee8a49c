"""The contract of what is remembered about a hosting service's limits, by credential.

The states are JSON whose meaning is the caller's (github_integration/quota_memory.py). Saving does
not wait and cannot fail: while nothing can be written the newest is only in memory.
"""

from __future__ import annotations

from typing import Protocol


class Quota(Protocol):
    async def load(self) -> list[str]:
        """Every state that was saved, damaged ones left out. For start-up."""
        ...

    def save(self, credential: str, state: str) -> None: ...

    async def settle(self) -> None:
        """Everything that was saved is durable afterwards. Raises what the writer raises."""
        ...

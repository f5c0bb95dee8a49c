"""The contract of what orders are about: which issue, pull request or branch asked for them.

Pinned to the service's id of the repository, which survives renames and transfers.
"""

from __future__ import annotations

from typing import Protocol

import msgspec


class OrderSubject(msgspec.Struct, frozen=True, kw_only=True):
    order_id: str
    repository_id: int
    subject: str
    """`issue:7`, `pull:7`, `branch:main`."""
    purpose: str
    """What is to be done about it: `run`, `review`, `test`, `check`, `push`."""
    asked_by: str
    """`<id>:<login>` of the person, in lower case: who asked, or caused what a rule answered."""
    at_ms: int


class Subjects(Protocol):
    async def add(self, subject: OrderSubject) -> None:
        """Durable. What was said first about an order stays."""
        ...

    async def of_order(self, order_id: str) -> OrderSubject | None: ...

    async def about(
        self, repository_id: int, subject: str | None = None, limit: int = 1_000
    ) -> list[OrderSubject]:
        """Newest first; of the whole repository when no subject is given."""
        ...

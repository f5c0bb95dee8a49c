"""The contract of a forge: where the finished branch is offered for review.

Every write takes a `key` (from `ctx.once`) and is found again by it: `find_*` reads the world,
so that a write whose answer was lost is adopted, never repeated.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec


class PullRequest(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    title: str
    url: str
    head_branch: str
    base_branch: str
    head_sha: str
    state: str


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """What is offered. `evidence` is kept beside the body (test results, diff stat, warnings)."""

    order_id: str
    repository: str
    title: str
    body: str
    head_branch: str
    base_branch: str
    head_sha: str
    base_sha: str
    draft: bool = False
    evidence: dict[str, Any] = {}


class Forge(Protocol):
    name: str

    async def find_pull_request(self, repository: str, key: str) -> PullRequest | None:
        """The last one opened under this key, or None. Never guesses by title."""
        ...

    async def open_pull_request(self, proposal: Proposal, key: str) -> PullRequest:
        """Open it. Not idempotent by itself: call through `ctx.once` with `find_pull_request`."""
        ...

    async def update_pull_request(self, number: int, proposal: Proposal) -> PullRequest:
        """Offer something else in its place. Repeating is harmless. NotFound `review_unknown`."""
        ...

    async def close_pull_request(self, repository: str, number: int, reason: str) -> None:
        """Close it; closing a closed one is harmless. NotFound when there is none."""
        ...

"""The contract of the read side: what lists and pages show, made from the journal.

Nothing here is the truth: `truncate_projection` and a replay of the journal give it again. A lazy
write is visible after the next group commit (at most 50 ms).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import msgspec

OrderBy = Literal["created_at", "updated_at", "status", "priority", "repository", "cost"]
MAX_LIMIT = 500
MAX_TEXT = 200
MAX_CANDIDATES = 10


class OrderRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the list of orders. The names are those of the wire."""

    agent_work_order_id: str
    repository_url: str
    repository: str
    """The key under which limits and access rules are kept: `host/owner/name`."""
    git_branch_name: str | None = None
    base_branch: str | None = None
    sandbox_type: str
    sandbox_identifier: str | None = None
    workflow_type: str
    workflow_version: str
    """The hash of the version it runs."""
    github_issue_number: str | None = None
    initial_prompt: str | None = None
    title: str | None = None
    task_type: str = "custom"
    priority: str = "medium"
    status: str
    waiting_reason: str | None = None
    waiting_until_ms: int | None = None
    current_phase: str | None = None
    agent_session_id: str | None = None
    agent: dict[str, Any] = {}
    created_by: str
    created_at_ms: int
    updated_at_ms: int
    execution_started_at_ms: int | None = None
    execution_completed_at_ms: int | None = None
    github_pull_request_url: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    error_hint: str | None = None
    cost_usd: float = 0.0
    warnings: list[str] = []
    run_seq: int
    """The last event of the run that this line knows."""
    rolled_back: bool = False
    """It was rolled back, or is being: it is over for good, and nothing in it can be retried."""
    verification: str | None = None
    """Whether tests stand behind what it changed: `verified`, `unverified` or `failed`; None while
    it is not known, or when there is nothing to verify."""
    verification_reason: str | None = None
    cost_certainty: str = "exact"
    """`exact` as agents told it, `estimated` in part from tokens, or `at_least` where something
    that was used has no known price."""
    branch_offered: bool = False
    """Its branch is in the repository, pushed or offered for review; before, only its name is."""


class OrderFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Empty fields do not filter."""

    status: tuple[str, ...] = ()
    repository: str | None = None
    repositories: tuple[str, ...] | None = None
    """Those the caller may see; None for all."""
    workflow: str | None = None
    text: str | None = None
    """Found anywhere in id, url, title, prompt, branch or issue; `%` and `_` mean themselves."""


EVERY_ORDER = OrderFilter()


class OrderPage(msgspec.Struct, frozen=True, kw_only=True):
    agent_work_orders: tuple[OrderRecord, ...]
    total_count: int
    has_more: bool


class Records(Protocol):
    async def upsert(self, record: OrderRecord) -> None:
        """Durable when it returns. A record that knows less (`run_seq`) than the stored one
        changes nothing."""
        ...

    def upsert_lazily(self, record: OrderRecord) -> None: ...

    async def get(self, order_id: str) -> OrderRecord | None: ...

    async def find_by_prefix(self, prefix: str) -> Sequence[str]:
        """Ids that start so (`wo-` may be left out), at most ten. BadRequest
        `order_prefix_invalid` for anything that is no prefix of an id."""
        ...

    async def page(
        self,
        wanted: OrderFilter = EVERY_ORDER,
        *,
        order_by: OrderBy = "created_at",
        descending: bool = True,
        limit: int = 50,
        offset: int = 0,
    ) -> OrderPage:
        """BadRequest `order_by_invalid`, `limit_invalid`, `search_too_long`."""
        ...

    async def counts(self) -> dict[str, int]:
        """How many orders have each status."""
        ...

    async def truncate_projection(self) -> None:
        """Forget everything that the journal can give again (orders and approvals). Logs, the
        feed and idempotency keys stay."""
        ...

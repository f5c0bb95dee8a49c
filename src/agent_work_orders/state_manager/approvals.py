"""The contract of the list of approvals: what people were asked, and what they said.

The decision itself is an event of the run; this is how it is shown and found. `subject_hash` binds
a decision to what was looked at: a decision about anything else is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import msgspec

ApprovalState = Literal["asked", "approved", "rejected", "expired", "void"]


class ApprovalRecord(msgspec.Struct, frozen=True, kw_only=True):
    approval_id: str
    order_id: str
    run_id: str
    path: str
    message: str
    subject: dict[str, Any]
    subject_hash: str
    state: ApprovalState = "asked"
    asked_at_ms: int
    expires_at_ms: int | None = None
    decided_by: str | None = None
    comment: str | None = None
    decided_at_ms: int | None = None


class Approvals(Protocol):
    async def ask(self, record: ApprovalRecord) -> ApprovalRecord:
        """Durable. The same id again changes nothing and returns what is there."""
        ...

    async def settle(
        self,
        approval_id: str,
        state: ApprovalState,
        *,
        at_ms: int,
        by: str | None = None,
        comment: str | None = None,
        subject_hash: str | None = None,
    ) -> ApprovalRecord:
        """The first answer counts: the same answer again returns it, another one is Conflict
        `approval_settled`. Conflict `approval_subject_changed` when `subject_hash` is given and
        is not the asked one. NotFound `approval_unknown`."""
        ...

    async def get(self, approval_id: str) -> ApprovalRecord | None: ...

    async def of_order(self, order_id: str) -> Sequence[ApprovalRecord]: ...

    async def asked(self, limit: int = 100) -> Sequence[ApprovalRecord]:
        """Those still open, oldest first."""
        ...

"""The contract of the quota governor: one for each credential, and it remembers.

GitHub counts requests for a credential (primary limit, by the hour) and watches how it is used
(secondary limits: 80 content-creating requests a minute and 500 an hour, 900 points a minute, 100
at once). Whoever goes on asking while limited is banned for longer. So nothing is sent that the
governor has not let through, and what it learned is durable: a restart in the middle of a wait
goes on waiting.

Rules:
- A turn is asked for before every request and told the answer's headers after it.
- A short wait (`PATIENCE_S`) happens inside; a longer one is `QuotaHeld` at once, so that the
  caller parks durably and people see until when.
- A person who waits goes before work of orders, and that before refreshing in the background.
  The last tenth of an hour's quota is kept for people, the last quarter not for the background.
- One credential's limit does not hold another's.
- After a secondary limit without `Retry-After`: one minute, doubling with each strike, with
  jitter, an hour at most; strikes are forgotten after a quiet hour.
- Time is the clock's; a clock that jumps back does not prolong a hold beyond what was said.
- A circuit breaker per host: after many failures in a row requests fail at once (`QuotaHeld` with
  the limit `github_unavailable`) until a probe succeeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol

import msgspec

from agent_work_orders.errors import Held, HeldReason

Priority = Literal["person", "order", "background"]
PATIENCE_S = 2.0


class QuotaHeld(Held):
    """Not sent. `limit`: primary_limit, secondary_limit, creation_limit, github_unavailable."""

    def __init__(self, credential: str, limit: str, until_ms: int) -> None:
        # People are told of one limit of GitHub as of another.
        reason: HeldReason = "github_quota"
        if limit == "github_unavailable":
            reason = "github_unavailable"
        super().__init__(reason, until_ms, f"{credential} is held until {until_ms} ({limit})")
        self.credential = credential
        self.limit = limit


class QuotaState(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a credential: for people, metrics, and after a restart."""

    credential: str
    """A name without secrets: `installation:42`, `app:7`, `token:ab12` (a hash's beginning)."""
    limit: int | None = None
    remaining: int | None = None
    reset_at_ms: int | None = None
    held_until_ms: int | None = None
    reason: str = ""
    strikes: int = 0
    struck_at_ms: int | None = None
    created: tuple[int, ...] = ()
    """When content was created within the last hour, oldest first."""


class QuotaReport(msgspec.Struct, frozen=True, kw_only=True):
    """How it stands with the service now; the totals are since this process began."""

    under_way: int
    waiting: int
    """For a turn, in memory; what is parked is not among them."""
    sent: int
    held: int
    """Not sent, because of a limit or an outage that was known."""
    limited: int
    """Answered with a limit."""
    failed: int
    """Not answered, or with 5xx."""
    unavailable_until_ms: int | None
    """Nothing is sent before, after failures in a row; then one request tries."""
    credentials: tuple[QuotaState, ...]


class Turn(Protocol):
    def answered(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Called with every answer, also refusals: this is how the governor learns."""
        ...

    def lost(self) -> None:
        """There was no answer."""
        ...


class Governor(Protocol):
    def turn(
        self,
        credential: str,
        *,
        priority: Priority,
        writes: bool,
        creates: bool,
    ) -> AbstractAsyncContextManager[Turn]:
        """Enter when it may be sent. Raises `QuotaHeld`. `creates` counts against the limits of
        content creation."""
        ...

    def states(self) -> list[QuotaState]: ...

    def report(self) -> QuotaReport: ...


class QuotaMemory(Protocol):
    """Where it is kept; state_manager/sqlite/quota.py."""

    def load(self) -> list[QuotaState]: ...

    def save(self, state: QuotaState) -> None:
        """Soon durable, in order; a hold is durable before the next request is sent: `settle`."""
        ...

    async def settle(self) -> None: ...

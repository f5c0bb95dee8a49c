"""GitHub's rate limits, per credential, on the simulator's own clock.

Rules (docs: "Rate limits for the REST API"):
- Primary: a fixed window of an hour, counted from the first request, for REST (`core`) and for
  GraphQL each. An installation's tokens share one budget. `GET /rate_limit` is free, and so is a
  conditional request answered 304.
- Secondary: content created per minute and hour, requests at once, points per minute (1 for a
  read, 5 for a write). Who exceeds one is refused everything until `blocked_until_ms`.
- A request that arrives after an answer already told its sender of a limit is *sent while
  limited*; polite clients have none.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

import msgspec

from agent_work_orders.clock import Clock

READS = frozenset({"GET", "HEAD", "OPTIONS"})
# Writes that create nothing a person is told of.
NO_CONTENT = frozenset(
    {"apps/create-installation-access-token", "apps/redeliver-webhook-delivery", "graphql"}
)


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers are GitHub's documented ones; None switches a limit off."""

    primary_per_hour: int | None = 5_000
    graphql_per_hour: int | None = 5_000
    anonymous_per_hour: int | None = 60
    creates_per_minute: int | None = 80
    creates_per_hour: int | None = 500
    concurrent: int | None = 100
    points_per_minute: int | None = 900
    graphql_points_per_minute: int | None = 2_000
    primary_status: Literal[403, 429] = 403
    secondary_status: Literal[403, 429] = 403
    # GitHub sends `retry-after` with most secondary limits; without it a client must wait a minute.
    retry_after_s: int | None = 60
    block_s: int = 60
    # Shorter ones let hours of limits be rehearsed in a minute.
    hour_s: int = 3_600
    minute_s: int = 60


class Exceeded(msgspec.Struct, frozen=True, kw_only=True):
    kind: Literal["primary", "secondary"]
    rule: str
    status: int
    message: str
    retry_after_s: int | None = None


class _Window:
    def __init__(self) -> None:
        self.start_ms: int | None = None
        self.used = 0


class _Budget:
    def __init__(self) -> None:
        self.windows = {"core": _Window(), "graphql": _Window()}
        self.under_way = 0
        self.creates: deque[int] = deque()
        self.points: dict[str, deque[tuple[int, int]]] = {
            "core": deque(),
            "graphql": deque(),
        }
        self.blocked_until_ms = 0
        self.told_at_s: float | None = None
        self.told_until_ms = 0
        # The pool that is used up; None when everything is blocked.
        self.told_pool: str | None = None


class Limits:
    def __init__(self, clock: Clock, rules: Rules | None = None) -> None:
        self._clock = clock
        self._budgets: dict[str, _Budget] = {}
        self.rules = rules or Rules()

    def enter(self, key: str, method: str, operation: str) -> Exceeded | None:
        """Count a request that arrives. Unless it is refused, `leave` must follow."""
        budget, now = self._budget(key), self._clock.now_ms()
        refused = self._refusal(budget, key, method, operation, now)
        if refused is not None:
            self._tell(budget, now, pool_of(operation))
            return refused
        budget.windows[pool_of(operation)].used += 1
        budget.under_way += 1
        if creates(method, operation):
            budget.creates.append(now)
        budget.points[pool_of(operation)].append((now, 1 if method in READS else 5))
        return None

    def refund(self, key: str) -> None:
        """An unchanged answer (304) costs nothing; called before `leave`."""
        window = self._budget(key).windows["core"]
        window.used = max(0, window.used - 1)

    def leave(self, key: str) -> None:
        """The request is answered."""
        self._budget(key).under_way -= 1

    def told_for_ms(self, key: str, pool: str = "core") -> int | None:
        """How long ago (really, not by the simulator's clock) an answer told this credential of
        the limit that still holds; None if it knows of none."""
        budget = self._budget(key)
        if budget.told_at_s is None or self._clock.now_ms() >= budget.told_until_ms:
            budget.told_at_s = None
            return None
        if budget.told_pool not in (None, pool):
            return None
        return int((self._clock.monotonic_s() - budget.told_at_s) * 1000)

    def block(self, key: str, for_s: int) -> Exceeded:
        """A secondary limit for no reason that a client could have known."""
        budget, now = self._budget(key), self._clock.now_ms()
        budget.blocked_until_ms = now + for_s * 1000
        self._tell(budget, now, "core")
        return self._secondary("fault", budget, now)

    def rate_of(self, key: str, pool: str = "core") -> dict[str, int]:
        """`limit`, `remaining`, `reset` (epoch seconds), `used` as the headers say them."""
        window = self._budget(key).windows[pool]
        limit = self._limit(key, pool)
        limit = 1_000_000 if limit is None else limit
        started_ms = self._clock.now_ms() if window.start_ms is None else window.start_ms
        ends = started_ms + self._hour_ms
        used = min(window.used, limit)
        return {
            "limit": limit,
            "remaining": limit - used,
            "reset": -(-ends // 1000),
            "used": used,
        }

    def tell_rate(self, key: str, pool: str = "core") -> dict[str, int]:
        """The same for an answer that goes out now: who reads `remaining: 0` has been told."""
        shown = self.rate_of(key, pool)
        if shown["remaining"] == 0:
            self._tell(self._budget(key), self._clock.now_ms(), pool)
        return shown

    def spend(self, key: str, number: int, pool: str = "core") -> None:
        """Requests of another program with the same credential."""
        self._budget(key).windows[pool].used += number

    def forget(self) -> None:
        self._budgets.clear()

    @property
    def _hour_ms(self) -> int:
        return self.rules.hour_s * 1000

    def _budget(self, key: str) -> _Budget:
        budget = self._budgets.setdefault(key, _Budget())
        now = self._clock.now_ms()
        for window in budget.windows.values():
            if window.start_ms is None or now >= window.start_ms + self._hour_ms:
                window.start_ms, window.used = now, 0
        return budget

    def _limit(self, key: str, pool: str) -> int | None:
        if key.startswith("nobody:"):
            return self.rules.anonymous_per_hour
        return self.rules.primary_per_hour if pool == "core" else self.rules.graphql_per_hour

    def _refusal(
        self, budget: _Budget, key: str, method: str, operation: str, now: int
    ) -> Exceeded | None:
        pool = pool_of(operation)
        limit = self._limit(key, pool)
        if limit is not None and budget.windows[pool].used >= limit:
            return Exceeded(
                kind="primary",
                rule="primary rate limit",
                status=self.rules.primary_status,
                message=f"API rate limit exceeded for {key}.",
            )
        if now < budget.blocked_until_ms:
            return self._secondary("still blocked", budget, now)
        rule = self._exceeded(budget, method, operation, now)
        if rule is None:
            return None
        budget.blocked_until_ms = now + self.rules.block_s * 1000
        return self._secondary(rule, budget, now)

    def _exceeded(self, budget: _Budget, method: str, operation: str, now: int) -> str | None:
        rules, minute_ms = self.rules, self.rules.minute_s * 1000
        while budget.creates and budget.creates[0] <= now - self._hour_ms:
            budget.creates.popleft()
        pool = pool_of(operation)
        points = budget.points[pool]
        while points and points[0][0] <= now - minute_ms:
            points.popleft()
        if rules.concurrent is not None and budget.under_way >= rules.concurrent:
            return "concurrent requests"
        if creates(method, operation):
            lately = sum(1 for at in budget.creates if at > now - minute_ms)
            if rules.creates_per_minute is not None and lately >= rules.creates_per_minute:
                return "content per minute"
            if rules.creates_per_hour is not None and len(budget.creates) >= rules.creates_per_hour:
                return "content per hour"
        most = rules.points_per_minute if pool == "core" else rules.graphql_points_per_minute
        cost = 1 if method in READS else 5
        if most is not None and sum(p for _, p in points) + cost > most:
            return "points per minute"
        return None

    def _secondary(self, rule: str, budget: _Budget, now: int) -> Exceeded:
        left_s = max(1, -(-(budget.blocked_until_ms - now) // 1000))
        return Exceeded(
            kind="secondary",
            rule=rule,
            status=self.rules.secondary_status,
            message="You have exceeded a secondary rate limit. Please wait a few minutes before "
            "you try again.",
            retry_after_s=None if self.rules.retry_after_s is None else left_s,
        )

    def _tell(self, budget: _Budget, now: int, pool: str) -> None:
        """An answer that goes out now says that a limit holds."""
        until = budget.blocked_until_ms
        if until <= now:
            until = (budget.windows[pool].start_ms or now) + self._hour_ms
        if budget.told_at_s is None or now >= budget.told_until_ms:
            budget.told_at_s = self._clock.monotonic_s()
        budget.told_until_ms = until
        budget.told_pool = None if budget.blocked_until_ms > now else pool


def creates(method: str, operation: str) -> bool:
    """Whether GitHub may count it as content: anything that is posted, but tokens and queries."""
    return method == "POST" and operation not in NO_CONTENT


def pool_of(operation: str) -> str:
    return "graphql" if operation == "graphql" else "core"

"""What the governor knows of one credential, and whether a request may go. No waiting here."""

from __future__ import annotations

import random

import msgspec

from agent_work_orders.clock import Clock
from agent_work_orders.github_integration.http.limits import LONGEST_MS, Counted, Limited
from agent_work_orders.github_integration.http.moments import Moment, Tally, age, later, left
from agent_work_orders.github_integration.quota import Priority, QuotaState

MINUTE_MS, HOUR_MS = 60_000, 3_600_000
CREATES_PER_MINUTE, CREATES_PER_HOUR = 80, 500
POINTS_PER_MINUTE, WRITE_POINTS = 900, 5
MOST_AT_ONCE = 80
"""100 are allowed, git's own requests and other programs of the same credential included."""
KEPT_BACK: dict[Priority, float] = {"person": 0.0, "order": 0.10, "background": 0.25}
STRIKE_MS = MINUTE_MS
MAX_STRIKE_MS = HOUR_MS


class Hold(msgspec.Struct, frozen=True, kw_only=True):
    """How long a request has to wait, and why. 0: it may go."""

    wait_ms: int
    reason: str = ""


FREE = Hold(wait_ms=0)
BUSY = Hold(wait_ms=1, reason="secondary_limit")
"""As many are under way as may be: it goes when one of them ends."""


class Lane:
    def __init__(self, name: str, clock: Clock, chance: random.Random) -> None:
        self.name = name
        self.at_once = 0
        self._clock = clock
        self._chance = chance
        self._count: Counted | None = None
        self._reset: Moment | None = None
        self._held: Moment | None = None
        self._reason = ""
        self._strikes = 0
        self._struck: Moment | None = None
        self._created = Tally(HOUR_MS)
        self._points = Tally(MINUTE_MS)

    # -- asking

    def hold(self, *, writes: bool, creates: bool) -> Hold:
        """By what is watched over all of a credential's requests: the longest wait of all."""
        now = self.now()
        holds = [self._of_refusal(now), self._of_points(now, WRITE_POINTS if writes else 1)]
        if creates:
            holds.append(self._of_creation(now))
        if self.at_once >= MOST_AT_ONCE:
            holds.append(BUSY)
        return max(holds, key=lambda hold: hold.wait_ms)

    def quota(self, priority: Priority) -> Hold:
        """By what is left of the hour's quota."""
        now = self.now()
        holds = (self._of_refusal(now), self._of_quota(now, priority))
        return max(holds, key=lambda hold: hold.wait_ms)

    def _of_refusal(self, now: Moment) -> Hold:
        return Hold(wait_ms=left(self._held, now), reason=self._reason)

    def _of_quota(self, now: Moment, priority: Priority) -> Hold:
        left_ms = left(self._reset, now)
        if self._count is None or left_ms == 0:
            return FREE
        # Those under way are not in the count yet.
        kept = int(self._count.limit * KEPT_BACK[priority])
        if self._count.remaining - self.at_once > kept:
            return FREE
        if self._count.remaining > kept:
            return BUSY
        return Hold(wait_ms=left_ms, reason="primary_limit")

    def _of_creation(self, now: Moment) -> Hold:
        waits = [
            self._created.wait_ms(now, 1, most, span_ms)
            for most, span_ms in ((CREATES_PER_MINUTE, MINUTE_MS), (CREATES_PER_HOUR, HOUR_MS))
        ]
        return _longest(waits, "creation_limit")

    def _of_points(self, now: Moment, more: int) -> Hold:
        waits = [self._points.wait_ms(now, more, POINTS_PER_MINUTE, MINUTE_MS)]
        return _longest(waits, "secondary_limit")

    # -- learning

    def sent(self, *, writes: bool, creates: bool) -> None:
        self.at_once += 1
        self._points.begin(WRITE_POINTS if writes else 1)
        if creates:
            self._created.begin(1)

    def ended(self, *, writes: bool, creates: bool) -> None:
        now = self.now()
        self.at_once -= 1
        self._points.end(WRITE_POINTS if writes else 1, now)
        if creates:
            self._created.end(1, now)

    def learned(self, count: Counted) -> None:
        """Answers overtake each other: within a window the smallest number is the newest."""
        now = self.now()
        reset = later(now, count.reset_ms)
        known, at = self._count, self._reset
        same = at is not None and left(at, now) and abs(at.mono_ms - reset.mono_ms) < 30_000
        if same and known is not None and known.remaining < count.remaining:
            return
        self._count, self._reset = count, reset

    def refused(self, limit: Limited, sent: Moment) -> None:
        """Hold everything. Requests that were under way when the last strike came, and are
        refused too, are the same strike."""
        now = self.now()
        if self._quiet(now):
            self._strikes, self._struck = 0, None
        if limit.reason == "secondary_limit":
            if self._struck is None or sent.mono_ms > self._struck.mono_ms:
                self._strikes += 1
                self._struck = now
        wait_ms = limit.wait_ms
        if wait_ms is None:
            least = min(STRIKE_MS * 2 ** max(self._strikes - 1, 0), MAX_STRIKE_MS)
            wait_ms = min(int(least * (1 + self._chance.random() / 4)), MAX_STRIKE_MS)
        if wait_ms > left(self._held, now):
            self._held, self._reason = later(now, wait_ms), limit.reason

    def _quiet(self, now: Moment) -> bool:
        """An hour after the last strike's wait."""
        waited_ms = min(STRIKE_MS * 2**self._strikes, MAX_STRIKE_MS)
        return self._struck is None or age(self._struck, now) >= HOUR_MS + waited_ms

    def now(self) -> Moment:
        return Moment(self._clock.now_ms(), int(self._clock.monotonic_s() * 1000))

    # -- keeping

    def state(self) -> QuotaState:
        now = self.now()
        held_ms, reset_ms = left(self._held, now), left(self._reset, now)
        quiet = self._quiet(now)
        known = self._count if reset_ms else None
        return QuotaState(
            credential=self.name,
            limit=None if known is None else known.limit,
            remaining=None if known is None else known.remaining,
            reset_at_ms=now.wall_ms + reset_ms if known else None,
            held_until_ms=now.wall_ms + held_ms if held_ms else None,
            reason=self._reason if held_ms else "",
            strikes=0 if quiet else self._strikes,
            struck_at_ms=None if quiet or self._struck is None else self._struck.wall_ms,
            created=tuple(self._created.stamps(now)[-CREATES_PER_HOUR:]),
        )

    def restore(self, state: QuotaState) -> None:
        """What an earlier life knew. A time too far ahead comes from a clock that was wrong."""
        now = self.now()
        if state.limit and state.remaining is not None and state.reset_at_ms is not None:
            left_ms = min(state.reset_at_ms - now.wall_ms, HOUR_MS)
            if left_ms > 0:
                self._count = Counted(
                    resource="", limit=state.limit, remaining=state.remaining, reset_ms=left_ms
                )
                self._reset = later(now, left_ms)
        if state.held_until_ms is not None and state.held_until_ms > now.wall_ms:
            left_ms = min(state.held_until_ms - now.wall_ms, LONGEST_MS)
            self._held, self._reason = later(now, left_ms), state.reason
        if state.struck_at_ms is not None:
            self._strikes = state.strikes
            self._struck = later(now, min(state.struck_at_ms - now.wall_ms, 0))
        stamps = sorted(min(at_ms - now.wall_ms, 0) for at_ms in state.created)
        self._created.restore(later(now, ago_ms) for ago_ms in stamps[-CREATES_PER_HOUR:])


def _longest(waits: list[int | None], reason: str) -> Hold:
    known = [wait_ms for wait_ms in waits if wait_ms is not None]
    longest = Hold(wait_ms=max(known, default=0), reason=reason)
    return BUSY if len(known) < len(waits) and longest.wait_ms == 0 else longest

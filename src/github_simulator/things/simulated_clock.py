"""GitHub's clock. It runs with the machine's until somebody moves it; it can stand still."""

from __future__ import annotations

from agent_work_orders.clock import Clock, SystemClock


class SimulatedClock:
    """`monotonic_s` is never moved: it measures what really passed."""

    def __init__(self, under: Clock | None = None, *, frozen_at_ms: int | None = None) -> None:
        self._under = under or SystemClock()
        self._offset_ms = 0
        self._frozen_at_ms = frozen_at_ms

    def now_ms(self) -> int:
        if self._frozen_at_ms is not None:
            return self._frozen_at_ms
        return self._under.now_ms() + self._offset_ms

    def monotonic_s(self) -> float:
        return self._under.monotonic_s()

    def advance(self, seconds: float) -> int:
        """Move the time; backwards too, as real clocks do. Returns the new one."""
        if self._frozen_at_ms is not None:
            self._frozen_at_ms += round(seconds * 1000)
        else:
            self._offset_ms += round(seconds * 1000)
        return self.now_ms()

    def freeze(self) -> int:
        self._frozen_at_ms = self.now_ms()
        return self._frozen_at_ms

    def thaw(self) -> int:
        """Run on from where it stands."""
        if self._frozen_at_ms is not None:
            self._offset_ms = self._frozen_at_ms - self._under.now_ms()
            self._frozen_at_ms = None
        return self.now_ms()

"""A clock for the tests of this room, and waiting that only moves it."""

from __future__ import annotations

import asyncio


class FakeTime:
    """Wall and monotonic time; `jump` moves the wall alone, `sleep` both."""

    def __init__(self, at_ms: int = 1_800_000_000_000) -> None:
        self.wall_ms = at_ms
        self.mono_ms = 5_000_000
        self.slept: list[float] = []

    def now_ms(self) -> int:
        return self.wall_ms

    def monotonic_s(self) -> float:
        return self.mono_ms / 1000

    def pass_ms(self, more_ms: int) -> None:
        self.wall_ms += more_ms
        self.mono_ms += more_ms

    def jump_ms(self, more_ms: int) -> None:
        self.wall_ms += more_ms

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.pass_ms(max(round(seconds * 1000), 1))
        await asyncio.sleep(0)

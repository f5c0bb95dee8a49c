"""How long the event loop kept everybody waiting: a heartbeat on it, and a thread that looks at it.

A beat is due every `BEAT_S`; how late it comes is the pause, known to within one beat. Meanwhile a
thread notes what the loop's thread was doing, which the loop itself cannot say afterwards. The
processor's time spent during a pause tells a long computation from a machine that gave us no turn:
of the latter little is spent, by nobody of the process.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

from agent_work_orders.clock import Clock

BEAT_S = 0.01
# OP8: what people and clients do not notice.
LONG_S = 0.1
# The first look comes early enough that the thread gets its turn before a pause of 100 ms is over.
LOOK_AFTER_S = 0.04
# A server that pauses all the time must not spend its time saying so.
TELL_EVERY_S = 1.0
FRAMES = 6
DEPTH = 60
_PACKAGE = str(Path(__file__).parents[1])


class Pause(msgspec.Struct, frozen=True, kw_only=True):
    at_ms: int
    """When it was over."""
    lasted_s: float
    loop_cpu_s: float
    """Used by the loop's own thread meanwhile."""
    process_cpu_s: float
    collector_s: float
    """Spent in Python's garbage collection, which stops every thread."""
    running: str
    """Where the loop was, the innermost place first; empty when nobody could look."""

    def fields(self) -> dict[str, Any]:
        return {
            "lasted_ms": round(self.lasted_s * 1000),
            "loop_cpu_ms": round(self.loop_cpu_s * 1000),
            "process_cpu_ms": round(self.process_cpu_s * 1000),
            "collector_ms": round(self.collector_s * 1000),
            "running": self.running,
        }


class Pauses:
    """Watches the loop on which it was started, from `start` to `stop`."""

    def __init__(
        self, clock: Clock, tell: Callable[[Pause, int], None] = lambda _pause, _more: None
    ) -> None:
        """`tell` hears, on the loop, of a pause longer than `LONG_S`, and of how many more there
        were since it was told last."""
        self.longest: Pause | None = None
        """The longest of all, also a short one."""
        self.count = 0
        """Of those longer than `LONG_S`."""
        self._clock = clock
        self._tell = tell
        self._beats = 0
        self._last_s = 0.0
        self._loop_cpu_s = 0.0
        self._process_cpu_s = 0.0
        self._collector_s = 0.0
        self._collecting_s = 0.0
        self._told_s = float("-inf")
        self._untold = 0
        self._seen: tuple[int, str] = (0, "")
        self._thread_id = 0
        self._over = threading.Event()
        self._handle: asyncio.TimerHandle | None = None
        self._thread = threading.Thread(target=self._look, name="loop-pauses", daemon=True)

    def start(self) -> None:
        self._thread_id = threading.get_ident()
        gc.callbacks.append(self._collecting)
        self._note(self._clock.monotonic_s())
        self._handle = asyncio.get_running_loop().call_later(BEAT_S, self._beat)
        self._thread.start()

    def stop(self) -> None:
        """May be called twice, and without a start."""
        if self._handle is None or self._over.is_set():
            return
        self._over.set()
        self._handle.cancel()
        gc.callbacks.remove(self._collecting)
        self._thread.join()

    def _beat(self) -> None:
        now_s = self._clock.monotonic_s()
        lasted_s = now_s - self._last_s - BEAT_S
        long = lasted_s > LONG_S
        if long or lasted_s > (self.longest.lasted_s if self.longest else 0.0):
            pause = self._pause(lasted_s)
            if self.longest is None or lasted_s > self.longest.lasted_s:
                self.longest = pause
            if long:
                self.count += 1
                self._say(pause, now_s)
        self._note(now_s)
        self._handle = asyncio.get_running_loop().call_later(BEAT_S, self._beat)

    def _pause(self, lasted_s: float) -> Pause:
        beat, running = self._seen
        return Pause(
            at_ms=self._clock.now_ms(),
            lasted_s=lasted_s,
            loop_cpu_s=time.thread_time() - self._loop_cpu_s,
            process_cpu_s=time.process_time() - self._process_cpu_s,
            collector_s=self._collector_s,
            running=running if beat == self._beats else "",
        )

    def _say(self, pause: Pause, now_s: float) -> None:
        if now_s - self._told_s < TELL_EVERY_S:
            self._untold += 1
            return
        self._told_s = now_s
        more, self._untold = self._untold, 0
        self._tell(pause, more)

    def _note(self, now_s: float) -> None:
        self._loop_cpu_s = time.thread_time()
        self._process_cpu_s = time.process_time()
        self._collector_s = 0.0
        self._beats += 1
        self._last_s = now_s

    def _collecting(self, phase: str, _info: dict[str, int]) -> None:
        """Called by the collector, in whatever thread it runs."""
        now_s = self._clock.monotonic_s()
        if phase == "start":
            self._collecting_s = now_s
        else:
            self._collector_s += now_s - self._collecting_s

    def _look(self) -> None:
        while not self._over.wait(LOOK_AFTER_S):
            beats, late_s = self._beats, self._clock.monotonic_s() - self._last_s
            if late_s > LOOK_AFTER_S and self._seen[0] != beats:
                frame = sys._current_frames().get(self._thread_id)
                self._seen = (beats, place(frame))


def place(frame: FrameType | None) -> str:
    """Where a thread is: the innermost frame, then those of the product, nearest first."""
    words: list[str] = []
    for _ in range(DEPTH):
        if frame is None or len(words) == FRAMES:
            break
        code = frame.f_code
        ours = code.co_filename.startswith(_PACKAGE)
        if ours or not words:
            name = code.co_filename[len(_PACKAGE) + 1 :] if ours else Path(code.co_filename).name
            words.append(f"{name}:{frame.f_lineno} {code.co_name}")
        frame = frame.f_back
    return " < ".join(words)

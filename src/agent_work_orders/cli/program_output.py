"""What a program in a sandbox printed, on its way to a person or to another program.

A terminal shows it with marks for what would act on it (cli/marks.py); a pipe or a file gets the
bytes as they are.
"""

from __future__ import annotations

import codecs
import sys
from typing import TYPE_CHECKING, Literal

from agent_work_orders.cli import marks
from agent_work_orders.cli.outcome import FAILED
from agent_work_orders.sandbox_manager.capture import Capture
from agent_work_orders.sandbox_manager.sandbox import OUTPUT_LIMIT_BYTES

if TYPE_CHECKING:
    from agent_work_orders.cli.client import Json

Stream = Literal["stdout", "stderr"]
BY_SIGNAL = 128
TIMED_OUT = 124
"""As shells and `timeout` have it."""


class Printer:
    def __init__(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")
        self._decoders = {"stdout": decoder("replace"), "stderr": decoder("replace")}

    def __call__(self, stream: Stream, piece: bytes) -> None:
        target = sys.stdout if stream == "stdout" else sys.stderr
        if target.isatty():
            target.write(marks.block(self._decoders[stream].decode(piece)))
        else:
            target.buffer.write(piece)
        target.flush()


class Kept:
    """For one JSON document at the end: head and tail of what is too long."""

    def __init__(self) -> None:
        self._captures = {
            "stdout": Capture(OUTPUT_LIMIT_BYTES),
            "stderr": Capture(OUTPUT_LIMIT_BYTES),
        }

    def __call__(self, stream: Stream, piece: bytes) -> None:
        self._captures[stream].add(piece)

    def texts(self) -> Json:
        found = self._captures
        return {
            **{name: one.content().decode("utf-8", "replace") for name, one in found.items()},
            "truncated": any(one.truncated for one in found.values()),
        }


def tell(done: Json, timeout_s: float) -> None:
    """What the program itself did not say."""
    notes = []
    if done["temporary"]:
        notes.append(
            "the order has no sandbox now: one was made of what is kept, and is gone again"
        )
    if done["left_out_bytes"]:
        notes.append(f"{done['left_out_bytes']} bytes came too fast and were left out")
    if done["ended"] == "timed_out":
        notes.append(f"it was ended after {timeout_s:g} s; --timeout gives it more")
    elif done["signal"] is not None:
        notes.append(f"signal {done['signal']} ended it")
    for note in notes:
        sys.stderr.write(f"note: {note}.\n")


def exit_code(done: Json) -> int:
    if done["ended"] == "exited" and done["exit_code"] is not None:
        return int(done["exit_code"])
    if done["ended"] == "timed_out":
        return TIMED_OUT
    return FAILED if done["signal"] is None else BY_SIGNAL + int(done["signal"])

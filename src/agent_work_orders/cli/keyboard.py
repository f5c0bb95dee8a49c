"""A person's own terminal while a program in a sandbox has it.

Keys go to the program as they are typed, Ctrl-C too. What it prints is drawn by the terminal, for
that is what it is there for; only strings that address the terminal itself (its title, clipboard,
links, device commands) are taken out, and answers that it may have been asked for do not reach the
shell that comes after.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
import termios
import tty
from collections.abc import Callable
from typing import Any

from agent_work_orders.cli.outcome import Told
from agent_work_orders.sandbox_manager.terminal import LARGEST_SIDE, kind_of

_HELD_BYTES = 4_096
"""Of a string that has not ended yet: past this it is dropped as it comes."""
# OSC, DCS, SOS, PM and APC, with ESC or as one character in UTF-8, up to their end.
_BEGIN = rb"(?:\x1b[\]PX^_]|\xc2[\x90\x98\x9d-\x9f])"
_END = rb"(?:\x07|\x1b\\|\xc2\x9c|\x18|\x1a)"
_WHOLE = re.compile(_BEGIN + rb".*?" + _END, re.DOTALL)
_OPEN = re.compile(_BEGIN + rb".*\Z|[\x1b\xc2]\Z", re.DOTALL)
_CLOSE = re.compile(_END)


class Strings:
    """Takes out what addresses the terminal; pieces may be cut anywhere. Pure."""

    def __init__(self) -> None:
        self._held = b""
        self._dropping = False

    def without(self, piece: bytes) -> bytes:
        data = self._held + piece
        self._held = b""
        if self._dropping:
            found = _CLOSE.search(data)
            if found is None:
                self._held = data[-1:]
                return b""
            self._dropping, data = False, data[found.end() :]
        data = _WHOLE.sub(b"", data)
        begun = _OPEN.search(data)
        if begun is None:
            return data
        self._held = begun[0]
        if len(self._held) > _HELD_BYTES:
            self._dropping, self._held = True, self._held[-1:]
        return data[: begun.start()]


class Keyboard:
    """`connect` gives the program the terminal, `release` gives it back."""

    def __init__(self) -> None:
        self._before: list[Any] | None = None
        self._strings = Strings()
        if not sys.stdin.isatty() or not sys.stdout.isatty():
            raise Told(
                "terminal_needed",
                "A shell needs a terminal to talk to",
                hint="`awo sandbox exec ORDER PROGRAM` runs one program without",
            )

    @property
    def kind(self) -> str:
        return kind_of(os.environ.get("TERM", ""))

    def size(self) -> tuple[int, int]:
        """Rows and columns; those of old terminals where nobody knows."""
        found = os.get_terminal_size(sys.stdout.fileno())
        return min(found.lines, LARGEST_SIDE) or 24, min(found.columns, LARGEST_SIDE) or 80

    def connect(
        self, typed: Callable[[bytes], object], resized: Callable[[int, int], object]
    ) -> None:
        loop, fd = asyncio.get_running_loop(), sys.stdin.fileno()
        self._before = termios.tcgetattr(fd)
        tty.setraw(fd)
        loop.add_signal_handler(signal.SIGWINCH, lambda: resized(*self.size()))

        def hear() -> None:
            keys = b""
            with contextlib.suppress(OSError):
                keys = os.read(fd, 4_096)
            if keys:
                typed(keys)
            else:
                # The window is gone, and nobody is left to leave: as if they had interrupted it.
                loop.remove_reader(fd)
                signal.raise_signal(signal.SIGINT)

        loop.add_reader(fd, hear)

    def show(self, piece: bytes) -> None:
        left = self._strings.without(piece)
        while left:
            left = left[os.write(sys.stdout.fileno(), left) :]

    def release(self) -> None:
        if self._before is None:
            return
        loop, fd = asyncio.get_running_loop(), sys.stdin.fileno()
        loop.remove_reader(fd)
        loop.remove_signal_handler(signal.SIGWINCH)
        # Also forgets what was not read: answers of the terminal to a program that is gone.
        with contextlib.suppress(termios.error):
            termios.tcsetattr(fd, termios.TCSAFLUSH, self._before)
        self._before = None

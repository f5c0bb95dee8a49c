"""A pseudo terminal: a program in a sandbox has one end, a person's keys and window are at the
other. Belongs to the event loop that it was made on."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import re
import struct
import termios
from collections.abc import Callable

CHUNK_BYTES = 65_536
TYPED_LIMIT_BYTES = 65_536
"""What a program has not read yet; as much as a person may paste at once."""
LAST_READS = 64
"""After the end there is no more than the kernel's buffer."""
KIND = r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$"
"""What TERM may be."""
LARGEST_SIDE = 1_000
"""Rows or columns."""


def kind_of(said: str) -> str:
    """What TERM says; a dumb one where that is nothing plausible."""
    return said if re.match(KIND, said) else "dumb"


class Terminal:
    def __init__(
        self, rows: int, columns: int, output: Callable[[bytes], asyncio.Future[None] | None]
    ) -> None:
        """`output` is called on the event loop with what comes, and must return quickly; with a
        future it asks for no more before that is done."""
        self._ours, self.program_end = os.openpty()
        os.set_blocking(self._ours, False)
        self._output = output
        self._typed = bytearray()
        self._open = True
        self._loop = asyncio.get_running_loop()
        self.resize(rows, columns)
        self._loop.add_reader(self._ours, self._hear)

    def resize(self, rows: int, columns: int) -> None:
        sides = (min(rows, LARGEST_SIDE), min(columns, LARGEST_SIDE))
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", *sides, 0, 0))

    def type(self, keys: bytes) -> bool:
        """Whether there was room for all of them; else none is taken."""
        if len(self._typed) + len(keys) > TYPED_LIMIT_BYTES:
            return False
        self._typed += keys
        self._give()
        return True

    def close(self) -> None:
        """What was printed to the end is heard first."""
        self._open = False
        for _ in range(LAST_READS):
            if not self._hear():
                break
        self._loop.remove_reader(self._ours)
        self._loop.remove_writer(self._ours)
        os.close(self._ours)
        os.close(self.program_end)

    def _hear(self) -> bool:
        with contextlib.suppress(BlockingIOError):
            fewer = self._output(os.read(self._ours, CHUNK_BYTES))
            if self._open and fewer is not None and not fewer.done():
                self._loop.remove_reader(self._ours)
                fewer.add_done_callback(self._go_on)
            return True
        return False

    def _go_on(self, _fewer: asyncio.Future[None]) -> None:
        if self._open:
            self._loop.add_reader(self._ours, self._hear)

    def _give(self) -> None:
        with contextlib.suppress(BlockingIOError):
            del self._typed[: os.write(self._ours, self._typed)]
        if self._typed:
            self._loop.add_writer(self._ours, self._give)
        else:
            self._loop.remove_writer(self._ours)

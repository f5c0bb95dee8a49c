"""Bytes as they come, lines as they are complete, memory bounded. Pure.

An agent may print one line of 100 MB, or bytes that are not text. A line longer than the limit
keeps its head and says how much was lost; a line that is not UTF-8 is decoded as Latin-1, which
loses nothing, and is marked.
"""

from __future__ import annotations

import msgspec

# The longest honest line seen is a tool result with a whole file in it; 4 MiB leaves room.
LINE_LIMIT_BYTES = 4 * 1024 * 1024


class Line(msgspec.Struct, frozen=True, kw_only=True):
    content: bytes
    lost_bytes: int = 0


class Lines:
    def __init__(self, limit_bytes: int = LINE_LIMIT_BYTES) -> None:
        self._limit = limit_bytes
        self._held = bytearray()
        self._lost = 0

    @property
    def holds(self) -> bool:
        """Whether a line has begun and not ended."""
        return bool(self._held) or self._lost > 0

    def feed(self, chunk: bytes) -> list[Line]:
        """The lines that this chunk completes, without their line ends."""
        *ends, rest = chunk.split(b"\n")
        complete = []
        for end in ends:
            self._hold(end)
            complete.append(self._take())
        self._hold(rest)
        return complete

    def close(self) -> list[Line]:
        """The last line, if it had no end."""
        return [self._take()] if self.holds else []

    def _hold(self, part: bytes) -> None:
        room = self._limit - len(self._held)
        self._held += part[:room]
        self._lost += max(0, len(part) - room)

    def _take(self) -> Line:
        line = Line(content=bytes(self._held).removesuffix(b"\r"), lost_bytes=self._lost)
        self._held.clear()
        self._lost = 0
        return line


def decoded(content: bytes) -> tuple[str, dict[str, str]]:
    """Text without loss, and the encoding when it was not UTF-8."""
    try:
        return content.decode("utf-8"), {}
    except UnicodeDecodeError:
        return content.decode("latin-1"), {"encoding": "latin-1"}

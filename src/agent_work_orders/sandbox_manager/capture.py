"""Keeping what a program says within a bound: the head and the tail, in constant memory. Pure."""

from __future__ import annotations

from collections import deque


class Capture:
    """Takes chunks without end; keeps the first and the last half of the limit."""

    def __init__(self, limit_bytes: int) -> None:
        self._head_room = limit_bytes // 2
        self._tail_room = limit_bytes - self._head_room
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self.total_bytes = 0

    def add(self, chunk: bytes) -> None:
        self.total_bytes += len(chunk)
        room = self._head_room - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        if not chunk:
            return
        self._tail.append(chunk)
        self._tail_bytes += len(chunk)
        while self._tail_bytes - len(self._tail[0]) >= self._tail_room:
            self._tail_bytes -= len(self._tail.popleft())

    @property
    def truncated(self) -> bool:
        return self.total_bytes > self._head_room + self._tail_room

    def content(self) -> bytes:
        tail = b"".join(self._tail)
        if not self.truncated:
            return bytes(self._head) + tail
        dropped = self.total_bytes - self._head_room - self._tail_room
        mark = f"\n[... {dropped} bytes left out ...]\n".encode()
        return bytes(self._head) + mark + tail[-self._tail_room :]

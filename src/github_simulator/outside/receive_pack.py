"""The words of a push: what a client asks to change, and the report that refuses it. Pure.

A push begins with commands in pkt-lines (`old new ref`), ended by a flush; the pack follows. Only
the beginning is read here, so a pack of any size costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

ZERO = "0" * 40
# GitHub refuses pushes of very many refs; this is far above what any client of ours sends.
COMMANDS_LIMIT_BYTES = 1024 * 1024
_COMMAND = re.compile(rb"([0-9a-f]{40}) ([0-9a-f]{40}) ([^\x00\n]+)")
_BAND_LIMIT_BYTES = 65_515


class Update(msgspec.Struct, frozen=True, kw_only=True):
    ref: str
    before: str
    after: str

    @property
    def deletes(self) -> bool:
        return self.after == ZERO


class Unreadable(Exception):
    """Not the beginning of a push."""


class Commands:
    """Collects the beginning of a push's body, until it is whole."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._at = 0
        self.whole = False
        self.updates: list[Update] = []
        self.capabilities: frozenset[str] = frozenset()

    def feed(self, chunk: bytes) -> None:
        """Raises `Unreadable`."""
        if self.whole:
            return
        self._buffer += chunk
        while len(self._buffer) - self._at >= 4:
            try:
                size = int(bytes(self._buffer[self._at : self._at + 4]), 16)
            except ValueError:
                raise Unreadable from None
            if size == 0:
                self.whole = True
                self._buffer.clear()
                return
            if size < 4:
                raise Unreadable
            if len(self._buffer) - self._at < size:
                break
            self._line(bytes(self._buffer[self._at + 4 : self._at + size]))
            self._at += size
        if len(self._buffer) > COMMANDS_LIMIT_BYTES:
            raise Unreadable

    def _line(self, line: bytes) -> None:
        if line.startswith(b"shallow "):
            return
        found = _COMMAND.match(line)
        if found is None:
            raise Unreadable
        before, after, ref = (group.decode("utf-8", "surrogateescape") for group in found.groups())
        self.updates.append(Update(ref=ref.rstrip("\n"), before=before, after=after))
        if not self.capabilities:
            _, _, rest = line.partition(b"\0")
            self.capabilities = frozenset(rest.decode("utf-8", "replace").split())


def report(
    refused: Sequence[tuple[str, str]], capabilities: frozenset[str], said: Sequence[str]
) -> bytes:
    """What git receive-pack would answer had it refused these refs, each with its reason."""
    status = _packet(b"unpack ok\n")
    for ref, reason in refused:
        status += _packet(f"ng {ref} {reason}\n".encode("utf-8", "surrogateescape"))
    status += b"0000"
    if "side-band-64k" not in capabilities:
        return status
    told = b"".join(_packet(b"\x02" + f"{line}\n".encode()) for line in said)
    bands = (
        status[start : start + _BAND_LIMIT_BYTES]
        for start in range(0, len(status), _BAND_LIMIT_BYTES)
    )
    return told + b"".join(_packet(b"\x01" + band) for band in bands) + b"0000"


def _packet(content: bytes) -> bytes:
    return b"%04x%s" % (len(content) + 4, content)

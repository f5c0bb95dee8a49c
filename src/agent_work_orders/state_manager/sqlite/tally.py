"""What the WAL held when something was last acknowledged, kept outside of it.

SQLite reads a WAL up to the first frame whose checksum fails and takes the rest for an unfinished
write: after a flipped byte, garbage or a lost file it opens happily with less than was
acknowledged. So the position of the last commit (salts and number of frames, from the head of the
WAL's index) is written into `journal.dirty` after each group, before its waiters are told: one
small write to the page cache, no fsync. A killed process leaves both; when the power goes, the
WAL was synced first, so the position is never ahead of it.

Rules:
- Fewer readable frames than noted, under the same salt, is loss. So is another salt, unless it is
  a later one: a WAL begins anew only when all of it is in the main file, and then counts its first
  salt up by one.
- A note that does not verify says nothing: then only a missing WAL counts as loss.
- With `synchronous=NORMAL` nothing is noted: there the operator accepts that the end may go.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Literal, NamedTuple

_MAGIC = b"awo1"
_NOTE = struct.Struct("=4sIIII")
"""Magic, first salt, frames, 1 when all of it is in the main file, checksum of the rest."""
_INDEX_HEAD_BYTES = 48
"""The first copy of the head of the WAL's index (sqlite.org/walformat.html): its version at 0,
whether it is complete at 12, the last committed frame at 16, and at 32 the WAL's salts."""
_INDEX_VERSION = 3_007_000
_LATER = 2**31
_HEAD_BYTES = 65_536
"""At least the first page, of any size."""


class Position(NamedTuple):
    salt: int
    frames: int
    settled: bool = False


class Tally:
    """Used by one thread at a time."""

    def __init__(self, database: Path, marker: Path) -> None:
        self._index = os.open(_index(database), os.O_RDONLY | os.O_CLOEXEC)
        self._marker = os.open(marker, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def note(self) -> None:
        """After a commit, on the thread that made it. What cannot be written now only means that
        the guard knows less."""
        try:
            position = _position(os.pread(self._index, _INDEX_HEAD_BYTES, 0))
            if position is not None:
                os.pwrite(self._marker, encode(position), 0)
        except OSError:
            return

    def sync(self) -> None:
        os.fsync(self._marker)

    def close(self) -> None:
        os.close(self._index)
        os.close(self._marker)


def settle(marker: Path) -> None:
    """All of the WAL is in the main file: from here on it may be cut."""
    descriptor = os.open(marker, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.pwrite(descriptor, encode(Position(0, 0, settled=True)), 0)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def lost(database: Path, marker: Path) -> str | None:
    """Why acknowledged commits are missing, or None. The database and its WAL must be there; they
    are only read."""
    noted = _noted(marker)
    if noted is None or noted.settled:
        return None
    found = _readable(database)
    if found is None:
        return f"{noted.frames} of {noted.frames} pages of it cannot be read"
    later = (found.salt - noted.salt) % 2**32
    if later == 0 and found.frames < noted.frames:
        return f"{noted.frames - found.frames} of {noted.frames} pages of it cannot be read"
    if later >= _LATER:
        return "it is an older one than the last commits went into"
    return None


def encode(position: Position) -> bytes:
    values = (_MAGIC, position.salt, position.frames, int(position.settled))
    body = _NOTE.pack(*values, 0)[:-4]
    return body + zlib.crc32(body).to_bytes(4, "little")


def _noted(marker: Path) -> Position | None:
    body = marker.read_bytes()[: _NOTE.size]
    if len(body) < _NOTE.size or zlib.crc32(body[:-4]) != int.from_bytes(body[-4:], "little"):
        return None
    magic, salt, frames, settled, _ = _NOTE.unpack(body)
    return Position(salt, frames, bool(settled)) if magic == _MAGIC else None


def _readable(database: Path) -> Position | None:
    """How far SQLite itself reads the WAL: a copy of it, beside the head of the database."""
    with tempfile.TemporaryDirectory(prefix="awo-wal-") as folder:
        copy = Path(folder, database.name)
        with database.open("rb") as opened:
            copy.write_bytes(opened.read(_HEAD_BYTES))
        wal = database.name + "-wal"
        shutil.copyfile(database.with_name(wal), copy.with_name(wal))
        connection = sqlite3.connect(copy, isolation_level=None)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            if not _index(copy).exists():
                raise  # it is no database, whatever its WAL is
        try:
            found = _position(_index(copy).read_bytes()[:_INDEX_HEAD_BYTES])
            return found if _head_holds(copy.with_name(wal).read_bytes()[:32]) else None
        finally:
            connection.close()


def _head_holds(head: bytes) -> bool:
    """SQLite tells the salts of a WAL's head also when its checksum fails."""
    order: Literal["big", "little"] = "big" if head[3:4] == b"\x83" else "little"
    words = [int.from_bytes(head[at : at + 4], order) for at in range(0, 24, 4)]
    first = second = 0
    for one, other in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) % 2**32
        second = (second + other + first) % 2**32
    return len(head) == 32 and head[24:] == first.to_bytes(4, "big") + second.to_bytes(4, "big")


def _index(database: Path) -> Path:
    return database.with_name(database.name + "-shm")


def _position(head: bytes) -> Position | None:
    """None for an index that is not there yet, or of a WAL without a readable head."""
    if len(head) < _INDEX_HEAD_BYTES or not head[12] or head[32:40] == bytes(8):
        return None
    if int.from_bytes(head[:4], sys.byteorder) != _INDEX_VERSION:
        return None
    frames = int.from_bytes(head[16:20], sys.byteorder)
    return Position(int.from_bytes(head[32:36], "big"), frames)

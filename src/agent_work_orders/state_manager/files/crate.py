"""A backup's file: a plain tar whose last member, the manifest, has every other one's checksum.

Rules:
- A file that was cut, changed or has members that nobody wrote down is refused, by name.
- What is unpacked goes below the given folder, as plain files with names of a fixed grammar.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec

from agent_work_orders.errors import Environmental

MANIFEST = "manifest.json"
MANIFEST_LIMIT_BYTES = 256 * 1024 * 1024
CHUNK_BYTES = 1024 * 1024
_PART = re.compile(r"[^/\0\n]{1,255}")


class Member(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    size_bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    format: int = 1
    version: str
    """Of the program that wrote it."""
    created_at: str
    heads: dict[str, str] = {}
    """By order: its head in the mirror just before the journal was copied."""
    missing: list[str] = []
    """What could not be put in, in words."""
    members: list[Member] = []


class Packer:
    """Writes the members one after the other. `finish` makes it a backup."""

    def __init__(self, target: Path) -> None:
        self._file = target.open("xb")
        self._tar = tarfile.TarFile(fileobj=self._file, mode="w", format=tarfile.PAX_FORMAT)
        self._members: list[Member] = []

    def add(self, name: str, source: Path) -> None:
        """A file as it is now: what is appended meanwhile stays out."""
        with source.open("rb") as opened:
            size = os.fstat(opened.fileno()).st_size
            reading = _Summed(opened, size)
            self._tar.addfile(_entry(name, size), reading)
        summed = reading.sha256.hexdigest()
        self._members.append(Member(name=name, size_bytes=size, sha256=summed))

    def finish(self, manifest: Manifest) -> None:
        body = msgspec.json.encode(msgspec.structs.replace(manifest, members=self._members))
        self._tar.addfile(_entry(MANIFEST, len(body)), io.BytesIO(body))
        self._tar.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def close(self) -> None:
        self._file.close()


def unpack(source: Path, folder: Path) -> Manifest:
    """Everything below `folder`, proved. Environmental `backup_damaged`."""
    found: dict[str, Member] = {}
    manifest: Manifest | None = None
    try:
        with source.open("rb") as opened, tarfile.open(fileobj=opened, mode="r:") as tar:
            for entry in tar:
                if manifest is not None or not entry.isreg() or entry.name in found:
                    raise damaged(source, f"it has a member that is out of place: {entry.name!r}")
                body = tar.extractfile(entry)
                assert body is not None
                if entry.name == MANIFEST:
                    manifest = msgspec.json.decode(body.read(MANIFEST_LIMIT_BYTES), type=Manifest)
                else:
                    found[entry.name] = _put(source, folder, entry.name, body)
    except (tarfile.TarError, msgspec.MsgspecError, UnicodeError, ValueError, EOFError) as error:
        raise damaged(source, str(error)) from error
    if manifest is None:
        raise damaged(source, "its end is missing")
    for one in manifest.members:
        if found.pop(one.name, None) != one:
            raise damaged(source, f"{one.name} is missing or was changed")
    for name in found:
        raise damaged(source, f"{name} is not in its list")
    return manifest


def _put(source: Path, folder: Path, name: str, body: IO[bytes]) -> Member:
    parts = name.split("/")
    if any(not _PART.fullmatch(part) or part in (".", "..") for part in parts):
        raise damaged(source, f"it has a member that is out of place: {name!r}")
    target = folder.joinpath(*parts)
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    digest, size = hashlib.sha256(), 0
    with target.open("xb") as opened:
        os.fchmod(opened.fileno(), 0o600)
        while chunk := body.read(CHUNK_BYTES):
            digest.update(chunk)
            size += len(chunk)
            opened.write(chunk)
        opened.flush()
        os.fsync(opened.fileno())
    return Member(name=name, size_bytes=size, sha256=digest.hexdigest())


def damaged(source: Path, why: str) -> Environmental:
    return Environmental(
        "backup_damaged",
        f"{source} is not a whole backup: {why}",
        hint="Nothing was restored. Take another backup, or copy this one again.",
    )


def files_below(folder: Path) -> Iterator[Path]:
    """Plain files in a stable order; links are nobody's evidence."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            one = Path(place, name)
            if one.is_file() and not one.is_symlink():
                yield one


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size = size
    entry.mode = 0o600
    return entry


class _Summed(io.RawIOBase):
    """Hashes what is read, at most `size` bytes of it."""

    def __init__(self, opened: IO[bytes], size: int) -> None:
        self._opened = opened
        self._left = size
        self.sha256 = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        wanted = self._left if size < 0 else min(size, self._left)
        chunk = self._opened.read(wanted)
        self._left -= len(chunk)
        self.sha256.update(chunk)
        return chunk

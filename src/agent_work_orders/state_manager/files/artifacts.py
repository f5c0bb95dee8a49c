"""Artifacts as files named by the hash of their content.

The contract is state_manager/artifacts.py.

Rules:
- A file appears whole or not at all: written beside, synced, renamed, directory synced. Only then
  is it listed; a crash before that leaves bytes that nobody names.
- The same content is kept once. An existing file is trusted only after its size was compared;
  reading always compares the hash.
- Names come from agents and repositories: they are stored as text and never become paths.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from agent_work_orders.errors import Broken, Environmental, NotFound, TooLarge
from agent_work_orders.state_manager.artifacts import Artifact

MAX_ARTIFACT_BYTES = 256 * 1024 * 1024
_MAX_NAME = 512
_SHA256 = re.compile(r"[0-9a-f]{64}")


class ArtifactList(Protocol):
    """Where artifacts are listed."""

    def add(self, artifact: Artifact) -> None: ...

    def of_order(self, order_id: str) -> Iterator[Artifact]: ...

    def contents(self) -> Iterator[str]:
        """The hash of every content that is listed."""
        ...


class FileArtifacts:
    def __init__(
        self, directory: Path, listing: ArtifactList, *, limit_bytes: int = MAX_ARTIFACT_BYTES
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._directory = directory
        self._listing = listing
        self._limit_bytes = limit_bytes
        self._sweep()

    async def put(
        self, order_id: str, path: str, name: str, content: bytes, media_type: str, at_ms: int
    ) -> Artifact:
        """Two syncs of the file system and one commit, so beside the loop."""
        if len(content) > self._limit_bytes:
            raise TooLarge(
                "artifact_too_large",
                f"{name[:80]!r} has {len(content)} bytes, {self._limit_bytes} are allowed",
                hint="Shorten it, or raise the limit of artifacts in the settings.",
            )
        return await asyncio.to_thread(self._put, order_id, path, name, content, media_type, at_ms)

    def _put(
        self, order_id: str, path: str, name: str, content: bytes, media_type: str, at_ms: int
    ) -> Artifact:
        sha256 = hashlib.sha256(content).hexdigest()
        try:
            self._keep(sha256, content)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise Environmental(
                    "artifact_store_failed",
                    f"cannot write an artifact ({error.strerror})",
                    hint=f"Check {self._directory} and its disk.",
                ) from error
            raise Environmental(
                "disk_full", "no space left for artifacts", hint="Free space, then retry."
            ) from error
        artifact = Artifact(
            order_id=order_id,
            path=_text(path),
            name=_text(name),
            sha256=sha256,
            size_bytes=len(content),
            media_type=_text(media_type),
            created_at_ms=at_ms,
        )
        self._listing.add(artifact)
        return artifact

    async def read(self, sha256: str) -> bytes:
        return await asyncio.to_thread(self._read, sha256)

    def _read(self, sha256: str) -> bytes:
        if not _SHA256.fullmatch(sha256):
            raise _unknown(sha256)
        try:
            content = self._place(sha256).read_bytes()
        except FileNotFoundError:
            raise _unknown(sha256) from None
        if hashlib.sha256(content).hexdigest() != sha256:
            raise Broken(
                "artifact_corrupt",
                f"artifact {sha256} has other content by now",
                hint="The disk or somebody changed it: restore the file from a backup.",
            )
        return content

    async def list(self, order_id: str) -> Sequence[Artifact]:
        return list(self._listing.of_order(order_id))

    async def absent(self) -> Sequence[str]:
        """Contents that are listed and not there."""
        return await asyncio.to_thread(self._absent)

    def _absent(self) -> Sequence[str]:
        return [one for one in self._listing.contents() if not self._place(one).is_file()]

    def _place(self, sha256: str) -> Path:
        return self._directory / sha256[:2] / sha256[2:]

    def _keep(self, sha256: str, content: bytes) -> None:
        place = self._place(sha256)
        if place.exists() and place.stat().st_size == len(content):
            return
        if not place.parent.exists():
            place.parent.mkdir(exist_ok=True, mode=0o700)
            _sync(self._directory)
        descriptor, beside = tempfile.mkstemp(prefix="new-", dir=self._directory)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, place)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise
        _sync(place.parent)

    def _sweep(self) -> None:
        """Remove what a crash left half written. Only one process owns the directory."""
        for leftover in self._directory.glob("new-*"):
            leftover.unlink(missing_ok=True)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _text(value: str) -> str:
    return value.encode("utf-8", "replace").decode()[:_MAX_NAME]


def _unknown(sha256: str) -> NotFound:
    return NotFound(
        "artifact_unknown",
        f"there is no artifact {sha256[:80]!r}",
        hint="An artifact is named by its sha256; the order lists its own.",
    )

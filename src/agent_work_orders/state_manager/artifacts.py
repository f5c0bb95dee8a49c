"""The contract of the artifact store: bytes by the hash of their content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec


class Artifact(msgspec.Struct, frozen=True, kw_only=True):
    """A named piece of evidence of an order: a transcript, a report, a diff, a long output."""

    order_id: str
    path: str
    """The task it came from, or empty."""
    name: str
    sha256: str
    size_bytes: int
    media_type: str
    created_at_ms: int


class Artifacts(Protocol):
    async def put(
        self, order_id: str, path: str, name: str, content: bytes, media_type: str, at_ms: int
    ) -> Artifact:
        """Store (fsync, atomic rename) and list it. The same (order, path, name) is replaced in
        the list. Raises TooLarge past the limit, Environmental `disk_full`."""
        ...

    async def read(self, sha256: str) -> bytes:
        """The content, its hash verified. NotFound; Broken `artifact_corrupt`."""
        ...

    async def list(self, order_id: str) -> Sequence[Artifact]: ...

    async def absent(self) -> Sequence[str]:
        """What is listed and not there, by hash. Looks at every file."""
        ...

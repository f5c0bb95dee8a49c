"""The contract of workflow versions: every change is a new one, none ever changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

Origin = Literal["builtin", "user", "repository"]


class WorkflowVersion(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    version: int
    """From 1 for each name."""
    hash: str
    source: str
    plan: bytes
    created_at_ms: int
    created_by: str
    origin: Origin


class Versions(Protocol):
    async def save(
        self,
        name: str,
        *,
        hash: str,
        source: str,
        plan: bytes,
        created_by: str,
        origin: Origin,
        at_ms: int,
    ) -> WorkflowVersion:
        """A new version; or, for content that this name ever had (same hash), that version, so
        that registering the built-in ones at every start never undoes what people changed since.
        Durable."""
        ...

    async def restore(
        self, name: str, version: int, *, created_by: str, at_ms: int
    ) -> WorkflowVersion:
        """Make an earlier content the latest again, under a new number; nothing changes if it is
        the latest. NotFound `workflow_version_unknown`. Durable."""
        ...

    async def latest(self, name: str) -> WorkflowVersion | None: ...

    async def get(self, name: str, version: int) -> WorkflowVersion | None: ...

    async def by_hash(self, hash: str) -> WorkflowVersion | None:
        """The newest version with this content, of any name."""
        ...

    async def history(self, name: str) -> Sequence[WorkflowVersion]:
        """Newest first."""
        ...

    async def names(self) -> Sequence[WorkflowVersion]:
        """The latest version of every name, by name."""
        ...

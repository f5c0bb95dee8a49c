"""The contract of API keys. Secrets are shown once and kept as a hash."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

Role = Literal["viewer", "operator", "approver", "admin"]


class ApiKey(msgspec.Struct, frozen=True, kw_only=True):
    key_id: str
    name: str
    role: Role
    repositories: tuple[str, ...] | None = None
    """Repository keys this key may see and use; None for all."""
    created_at_ms: int
    revoked_at_ms: int | None = None
    last_used_at_ms: int | None = None


class Keys(Protocol):
    async def create(
        self, name: str, role: Role, *, repositories: Sequence[str] | None = None
    ) -> tuple[ApiKey, str]:
        """The key and its token (`key-….secret`), which is never shown again. Durable. Refused
        `key_repositories_empty` for an empty list: such a key could do nothing."""
        ...

    async def authenticate(self, token: str) -> ApiKey | None:
        """The key of a token, or None for unknown, wrong or revoked ones. Takes the same time for
        a wrong secret as for a right one. Notes the use, at most once a minute."""
        ...

    async def revoke(self, key_id: str) -> ApiKey:
        """NotFound `api_key_unknown`. A second time changes nothing."""
        ...

    async def all(self) -> Sequence[ApiKey]: ...

"""Something to prove who we are with. It shows itself nowhere."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Credential(msgspec.Struct, frozen=True, kw_only=True):
    """`name` has no secrets: `app:7`, `installation:42`, `token:ab12`."""

    name: str
    token: str
    permissions: Mapping[str, str] | None = None
    """What it may do (`{"issues": "write"}`), when the service told."""

    def __repr__(self) -> str:
        return f"Credential({self.name})"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        return [("name", self.name)]

"""Who there is: people, organisations, the bots of Apps, Apps and their installations."""

from __future__ import annotations

from typing import Literal

import msgspec

AccountKind = Literal["User", "Organization", "Bot"]
# From least to most; each includes the ones before.
ROLES = ("none", "read", "triage", "write", "maintain", "admin")


class Account(msgspec.Struct, kw_only=True):
    id: int
    login: str
    kind: AccountKind
    created_ms: int
    name: str | None = None
    # Of an organisation: its members, by account id.
    members: set[int] = set()


class App(msgspec.Struct, kw_only=True):
    """`public_key` is PEM; `events` are the webhooks it wants; installation events come anyway."""

    id: int
    slug: str
    name: str
    owner_id: int
    bot_id: int
    client_id: str
    public_key: str
    created_ms: int
    webhook_url: str | None = None
    webhook_secret: str | None = None
    webhook_content_type: str = "json"
    """`json` or `form`."""
    events: tuple[str, ...] = ()
    permissions: dict[str, str] = {}


class Installation(msgspec.Struct, kw_only=True):
    """`repository_ids` None: all of the account's repositories."""

    id: int
    app_id: int
    account_id: int
    permissions: dict[str, str]
    events: tuple[str, ...]
    created_ms: int
    repository_ids: set[int] | None = None
    suspended_ms: int | None = None
    suspended_by: int | None = None


def role_at_least(role: str, wanted: str) -> bool:
    return ROLES.index(role) >= ROLES.index(wanted)

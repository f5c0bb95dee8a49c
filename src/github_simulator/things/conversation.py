"""Issues, their comments, and reactions. A pull request is an issue with a head and a base."""

from __future__ import annotations

import msgspec

REACTIONS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")


class Reaction(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    user_id: int
    content: str
    created_ms: int


class Issue(msgspec.Struct, kw_only=True):
    """`labels` are names in lower case, in the order they were given."""

    id: int
    number: int
    title: str
    body: str | None
    author_id: int
    created_ms: int
    updated_ms: int
    # The App that wrote it, if one did.
    app_id: int | None = None
    is_pull: bool = False
    state: str = "open"
    state_reason: str | None = None
    closed_ms: int | None = None
    closed_by: int | None = None
    locked: bool = False
    lock_reason: str | None = None
    labels: list[str] = []
    assignees: list[int] = []
    reactions: list[Reaction] = []


class Comment(msgspec.Struct, kw_only=True):
    id: int
    number: int
    body: str
    author_id: int
    created_ms: int
    updated_ms: int
    app_id: int | None = None
    reactions: list[Reaction] = []

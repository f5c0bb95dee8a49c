"""Who asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

# What a classic token of a person may do at most: everything; the role in each repository bounds
# it further.
EVERYTHING: Mapping[str, str] = {"*": "admin"}


class Actor(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks. For people `permissions` is what the token allows at most (`EVERYTHING` for a
    classic one); their role in the repository bounds it further."""

    kind: Literal["app", "installation", "user", "nobody"]
    login: str
    account_id: int
    app_id: int | None = None
    installation_id: int | None = None
    permissions: Mapping[str, str] = {}
    scopes: tuple[str, ...] | None = None
    """Of a person's classic token; no other has any."""
    # None: all that the account can see.
    repositories: frozenset[int] | None = None


NOBODY = Actor(kind="nobody", login="", account_id=0)

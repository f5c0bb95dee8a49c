"""The contract of sessions: people who signed in with a browser. Secrets are kept as a hash.

A session belongs to a holder and never gives more than the holder has: an API key (by its id) or
the local operator (by a mark of the local key, so that a new local key ends the old sessions).
"""

from __future__ import annotations

import hashlib
from typing import Protocol

import msgspec

from agent_work_orders.state_manager.keys import ApiKey

DAY_MS = 86_400_000
IDLE_MS = 7 * DAY_MS
"""A page that was not open for a week has been forgotten."""
ABSOLUTE_MS = 30 * DAY_MS
MAX_PER_HOLDER = 50
"""More browsers than one person has; the one unused for longest is signed out."""
_LOCAL = "local."


class Session(msgspec.Struct, frozen=True, kw_only=True):
    session_id: str
    """For the audit log; useless for signing in."""
    holder: str
    key: ApiKey | None = None
    """The key of a holder that is one, as it is now."""
    created_at_ms: int
    used_at_ms: int

    @property
    def expires_at_ms(self) -> int:
        return min(self.created_at_ms + ABSOLUTE_MS, self.used_at_ms + IDLE_MS)


class Sessions(Protocol):
    async def create(self, holder: str) -> tuple[Session, str]:
        """The session and its secret (256 random bits), which is never shown again. Durable when
        it returns: it survives any crash. Forgets what has expired, and beyond `MAX_PER_HOLDER`
        the holder's sessions that were unused for longest."""
        ...

    async def authenticate(self, secret: str) -> Session | None:
        """The session of a secret, or None: unknown, ended, unused for `IDLE_MS`, older than
        `ABSOLUTE_MS`, or of a key that is revoked. Notes the use, at most once a minute, after
        the answer; a journal in trouble does not keep people from looking."""
        ...

    async def end(self, session_id: str) -> bool:
        """Sign out, durably. False when there is no such session."""
        ...


def local_holder(local_key: str) -> str:
    """The holder that stands for the local operator as long as this is the local key."""
    return _LOCAL + hashlib.sha256(local_key.encode()).hexdigest()[:32]

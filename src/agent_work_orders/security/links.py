"""One-time links: how a terminal lets a browser in without showing it a key.

A token has 256 random bits, works once and for ten minutes, and only its hash is kept, in memory:
after a restart of the server no link is left. It gives what its maker has, never more.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict

from agent_work_orders.clock import Clock
from agent_work_orders.ids import new_secret

LIFE_S = 600.0
MAX_LINKS = 100
"""Of all makers together; the oldest goes first. Nobody opens so many at once."""
_MAX_TOKEN = 256


class Links:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: OrderedDict[bytes, tuple[float, str]] = OrderedDict()

    def mint(self, holder: str) -> str:
        """A token that signs in as the holder."""
        token = new_secret()
        self._waiting[_digest(token)] = (self._clock.monotonic_s() + LIFE_S, holder)
        while len(self._waiting) > MAX_LINKS:
            self._waiting.popitem(last=False)
        return token

    def take(self, token: str) -> str | None:
        """The holder of a token, which is used up by asking; None for an unknown, used or old
        one."""
        if len(token) > _MAX_TOKEN:
            return None
        until_s, holder = self._waiting.pop(_digest(token), (0.0, ""))
        return holder if holder and self._clock.monotonic_s() < until_s else None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()

"""The secret that only our own page holds. Pure.

Browsers do not tell ports apart when they send cookies: another server on the same host name is
sent ours when somebody opens it, and a server can put any header beside it. What a page stores,
browsers do tell apart by port. So signing in answers with a second secret, which the page keeps
and sends as a header with every request; the cookie alone opens nothing.

It is made from the session and the local key: nothing is stored, a restart changes nothing, and
whoever has the cookie cannot compute it.
"""

from __future__ import annotations

import hashlib
import hmac

HEADER = "X-AWO-Page"
_WIRE = HEADER.lower().encode()


def of_session(local_key: str, session_id: str) -> str:
    """In hexadecimal."""
    text = f"page:{session_id}".encode()
    return hmac.new(local_key.encode(), text, hashlib.sha256).hexdigest()


def proves(headers: dict[bytes, bytes], local_key: str, session_id: str) -> bool:
    """Whether the request comes from the page that this session was given to."""
    expected = of_session(local_key, session_id).encode()
    return hmac.compare_digest(headers.get(_WIRE, b""), expected)

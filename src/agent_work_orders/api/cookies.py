"""The session's cookie on the wire. Pure.

Browsers do not tell ports apart when they send cookies, so the name carries the port: two servers
on one machine do not sign each other's people out. Over https the `__Host-` prefix keeps everybody
else from setting it.
"""

from __future__ import annotations

from collections.abc import Iterator

NAME = "awo_session"
MAX_CANDIDATES = 4
"""Of one name; a browser sends several only when another page of this host planted them."""
_SECURE = "__Host-"


def name_for(host: str) -> str:
    """By the `Host` that was asked, without the prefix."""
    port = host.rsplit(":", 1)[-1] if not host.endswith("]") else ""
    return f"{NAME}_{port}" if port.isascii() and port.isdigit() else NAME


def values(cookie: str, host: str) -> Iterator[str]:
    """What a `Cookie` header has for us, the trustworthy one first."""
    name = name_for(host)
    pairs = [part.strip().partition("=") for part in cookie.split(";")]
    for wanted in (_SECURE + name, name):
        found = [value.strip('" ') for key, _, value in pairs if key == wanted]
        yield from found[:MAX_CANDIDATES]


def setting(secret: str, host: str, *, https: bool, max_age_s: int) -> str:
    """The value of `Set-Cookie`. An age of 0 removes it."""
    prefix, secure = (_SECURE, "; Secure") if https else ("", "")
    return (
        f"{prefix}{name_for(host)}={secret}; Path=/; Max-Age={max_age_s}; "
        f"HttpOnly; SameSite=Strict{secure}"
    )

"""How a value that somebody gave is told of when it cannot be used: by its shape.

A setting that does not fit may hold a secret: a key in a form that is not read, or one that slipped
into the wrong line. So what was given is described (how long it is, what it looks like) and
not repeated. The one exception is a value that may be shown and is shorter than any secret.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from agent_work_orders.security.redaction import SHORTEST

_LOOKS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a key in PEM form", re.compile(r"\s*-----BEGIN ")),
    ("an address with a user in it", re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/\s]*@")),
    ("an address", re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")),
    ("JSON", re.compile(r"\s*[{\[]")),
    ("a number", re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?\Z")),
    ("a path", re.compile(r"[.~]{0,2}/[^=\n]*\Z")),
    ("base64", re.compile(r"(?=.{24})[A-Za-z0-9+/_\s-]+={0,2}\s*\Z", re.DOTALL)),
)


def shape(text: str) -> str:
    """`1704 characters in 28 lines, like base64`; nothing of the text itself."""
    number = f"{len(text)} character" + ("" if len(text) == 1 else "s")
    lines = text.count("\n") + 1
    several = f" in {lines} lines" if lines > 1 else ""
    looks = next((f", like {name}" for name, form in _LOOKS if form.match(text)), "")
    if not looks and not text.replace("\n", "").isprintable():
        looks = ", some of them not printable"
    return f"{number}{several}{looks}"


def told(text: str, *, shown: bool = False) -> str:
    """The value itself only if it may be shown and could not be a secret."""
    if shown and len(text) < SHORTEST and text.isascii() and text.isprintable():
        return repr(text)
    return shape(text)


def named(text: str) -> str:
    """A word in the place of a name: itself if it has a variable's form, which no secret has."""
    return text if re.fullmatch(r"[A-Z][A-Z_]{2,39}", text) else f"a name of {shape(text)}"


def is_secret(text: str) -> bool:
    """Fit to be one: it can be sent in a header, and taken out of texts."""
    return len(text) >= SHORTEST and text.isascii() and text.isprintable() and " " not in text


def is_id_range(text: str) -> bool:
    """Nothing or 0 (none is given), the number of a user, or two of them. Never root's."""
    found = re.fullmatch(r"([0-9]{1,10})(?:-([0-9]{1,10}))?", text)
    if text in ("", "0") or found is None:
        return text in ("", "0")
    return 0 < int(found[1]) <= int(found[2] or found[1]) < 2**31


def is_key_list(text: str) -> bool:
    """Nothing, or keys of 32 bytes by comma or line: their form only, the vault reads them."""
    parts = [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]
    return not text or (
        bool(parts) and all(re.fullmatch(r"[A-Za-z0-9+/_-]{43}=", part) for part in parts)
    )


def is_proxy(text: str) -> bool:
    """An http address of a host and a port, perhaps with a user and a password."""
    login = re.match(r"(http://)[!-.0-9;-?A-~]{1,200}:[!-.0-9;-?A-~]{1,1000}@", text)
    plain = text if login is None else login[1] + text[login.end() :]
    return is_plain_address(plain) and re.fullmatch(r"http://[^/]+:[0-9]+/?", plain) is not None


def is_plain_address(text: str) -> bool:
    """http or https, a host, and nothing that could carry a credential."""
    try:
        parts = urlsplit(text)
        host, _port = parts.hostname or "", parts.port
    except ValueError:
        return False
    bracketed = re.fullmatch(r"\[[0-9A-Fa-f:.]+\](?::[0-9]+)?", parts.netloc)
    odd = any(character in text for character in "@?#()<> " + ("" if bracketed else "[]"))
    return (
        text.isascii()
        and text.isprintable()
        and not odd
        and parts.scheme in ("http", "https")
        and bool(host)
    )

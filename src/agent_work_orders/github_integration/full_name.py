"""`owner/name`, the name of a repository on a hub. Pure."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

SERVER_URL = "https://github.com"
# What GitHub itself allows in the two names; `.` and `..` are no names.
_FULL_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}/(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,100}")
_SHORT = re.compile(r"(?:[^@/:]+@)?(?P<host>[^@/:]+):(?P<path>[^:].*)")


def is_full_name(text: str) -> bool:
    return _FULL_NAME.fullmatch(text) is not None


def full_name_of(url: str, server_url: str = SERVER_URL) -> str:
    """`owner/name` of an address on that server, or "". Takes what repositories/url.py made."""
    server = urlsplit(server_url)
    if "://" in url:
        parts = urlsplit(url)
        if parts.scheme == "ssh":
            here = parts.hostname == server.hostname
        else:
            here = (parts.scheme, parts.hostname, parts.port) == (
                server.scheme,
                server.hostname,
                server.port,
            )
        path = parts.path
    else:
        short = None if url.startswith("/") else _SHORT.fullmatch(url)
        if short is None:
            return ""
        here = short["host"].lower() == server.hostname
        path = short["path"]
    name = path.strip("/").removesuffix(".git")
    return name if here and is_full_name(name) else ""

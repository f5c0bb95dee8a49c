"""Where the next page of a list is. Pure.

The `Link` header is believed only within the same host and below the same path, and never twice:
a list whose links are missing or go in circles is counted through by `page` instead, as long as
its pages are full.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

PER_PAGE = 100
_LINK = re.compile(r'<([^<>\s]{1,4000})>((?:\s*;\s*[a-zA-Z]+="[^"]{0,200}")*)')


def next_link(header: str) -> str | None:
    """The address with `rel="next"`."""
    for address, parameters in _LINK.findall(header[:16_384]):
        if 'rel="next"' in parameters.replace(" ", ""):
            return str(address)
    return None


class Walk:
    """Through the pages of one list."""

    def __init__(self, url: str) -> None:
        self._first = url
        self._seen = {_mark(url)}
        self._pages = 1

    def after(self, link: str, size: int) -> str | None:
        """Where to go on after a page of this many items; None at the end."""
        self._pages += 1
        found = next_link(link)
        if found is not None and self._ours(found) and _mark(found) not in self._seen:
            self._seen.add(_mark(found))
            return found
        if found is None and link:
            return None  # there are links, and none of them leads on
        if size < PER_PAGE:
            return None
        counted = with_query(self._first, {"page": self._pages})
        if _mark(counted) in self._seen:
            return None
        self._seen.add(_mark(counted))
        return counted

    def _ours(self, url: str) -> bool:
        try:
            first, found = urlsplit(self._first), urlsplit(url)
            same = (first.scheme, first.hostname, first.port) == (
                found.scheme,
                found.hostname,
                found.port,
            )
        except ValueError:
            return False
        return same and found.username is None and not found.fragment


def _mark(url: str) -> tuple[tuple[str, str], ...]:
    """Which page it is. Links name a repository by its id, so the path tells nothing."""
    query = {"page": "1", **dict(parse_qsl(urlsplit(url).query))}
    return tuple(sorted(query.items()))


def with_query(url: str, more: dict[str, str | int]) -> str:
    """The address with these parameters set."""
    parts = urlsplit(url)
    kept = [(name, text) for name, text in parse_qsl(parts.query) if name not in more]
    query = urlencode([*kept, *((name, str(text)) for name, text in more.items())])
    return urlunsplit((parts.scheme, parts.netloc, parts.path, query, ""))

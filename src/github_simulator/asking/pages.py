"""Pagination as GitHub does it: `per_page` and `page` in, a slice and a `Link` header out. Pure.

Rules (docs: "Using pagination in the REST API"):
- `per_page` is 30 unless asked, never more than 100; nonsense counts as not asked.
- A link keeps the rest of the query; a page beyond the last has links back, and no items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import msgspec

PER_PAGE = 30
PER_PAGE_MAX = 100


class Page(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    size: int

    def of(self, items: Sequence[Any]) -> list[Any]:
        start = (self.number - 1) * self.size
        return list(items[start : start + self.size])

    def last(self, total: int) -> int:
        return max(1, -(-total // self.size))


def asked(query: Mapping[str, str]) -> Page:
    size = _positive(query.get("per_page")) or PER_PAGE
    return Page(number=_positive(query.get("page")) or 1, size=min(size, PER_PAGE_MAX))


def link(address: str, query: Mapping[str, str], page: Page, total: int) -> str | None:
    """The `Link` header, or None when everything fits on the first page."""
    last = page.last(total)
    if last == 1 and page.number == 1:
        return None
    targets: list[tuple[str, int]] = []
    if page.number > 1:
        targets.append(("prev", min(page.number - 1, last)))
    if page.number < last:
        targets += [("next", page.number + 1), ("last", last)]
    if page.number > 1:
        targets.append(("first", 1))
    return ", ".join(
        f'<{address}?{urlencode({**query, "page": str(number)})}>; rel="{name}"'
        for name, number in targets
    )


def _positive(text: str | None) -> int | None:
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 9:
        return None
    return int(text) or None

"""Conditional requests: an `ETag` on every readable answer, 304 for who has it already.

Rules (docs: "Best practices for using the REST API", conditional requests):
- The tag belongs to a body as one credential sees it: another credential gets another tag.
- `If-None-Match` wins over `If-Modified-Since`; comparison is weak, `*` matches anything.
- A 304 has no body, repeats the tag, and costs nothing of the primary limit if the request was
  authenticated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any

VARY = "Accept, Authorization, Cookie, X-GitHub-OTP, Accept-Encoding, Accept, X-Requested-With"


def tag(content: bytes, *, credential: str, accept: str, strong: bool = False) -> str:
    digest = hashlib.sha256(b"\0".join((credential.encode(), accept.encode(), content)))
    return f'{"" if strong else "W/"}"{digest.hexdigest()}"'


def last_modified(body: Any) -> str | None:
    """From `updated_at` of a single thing; lists have none."""
    stamp = body.get("updated_at") if isinstance(body, dict) else None
    if not isinstance(stamp, str):
        return None
    try:
        at = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return format_datetime(at.astimezone(UTC), usegmt=True)


def unchanged(headers: Mapping[str, str], etag: str, modified: str | None) -> bool:
    """Whether the client already has what it would be sent."""
    wanted = headers.get("if-none-match")
    if wanted is not None:
        return wanted.strip() == "*" or _bare(etag) in {_bare(w) for w in wanted.split(",")}
    since = headers.get("if-modified-since")
    if since is None or modified is None:
        return False
    try:
        return parsedate_to_datetime(modified) <= parsedate_to_datetime(since)
    except (ValueError, TypeError):
        return False


def _bare(etag: str) -> str:
    return etag.strip().removeprefix("W/")

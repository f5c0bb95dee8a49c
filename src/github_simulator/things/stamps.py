"""Times and opaque names as GitHub writes them."""

from __future__ import annotations

import base64
from datetime import UTC, datetime


def stamp(at_ms: int) -> str:
    """`2026-11-15T10:00:05Z`: GitHub's times have no fractions."""
    return datetime.fromtimestamp(at_ms // 1000, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def maybe_stamp(at_ms: int | None) -> str | None:
    return None if at_ms is None else stamp(at_ms)


def parse_stamp(text: str) -> int | None:
    """Milliseconds of an ISO 8601 time, or None if it is not one."""
    try:
        parsed = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return int((parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp() * 1000)


def node_id(prefix: str, number: int) -> str:
    """A name for GraphQL, like `PR_kwDOAA9CQg`."""
    packed = base64.urlsafe_b64encode(number.to_bytes(8, "big")).rstrip(b"=").decode()
    return f"{prefix}_kwDO{packed}"

"""What an answer says about limits. Pure: status, headers and body in, values out.

The service's times are by its own clock, told in `Date`: durations are taken from there, so that
a machine whose clock is wrong waits as long as it was told.
"""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Literal

import msgspec

CORE, GRAPHQL = "core", "graphql"
LONGEST_MS = 86_400_000
"""No documented limit lasts longer than an hour; a day bounds what a broken answer can do."""
_SECONDARY = (b"secondary rate limit", b"abuse detection")
_RATE_LIMITED = (b'"RATE_LIMITED"', b'"RATE_LIMIT"', b'"graphql_rate_limit"')


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """What is left of the primary limit, of one of the service's resources."""

    resource: str
    limit: int
    remaining: int
    reset_ms: int
    """From now."""


class Limited(msgspec.Struct, frozen=True, kw_only=True):
    """A refusal because of a limit: the request was not performed. `wait_ms` None: not said."""

    reason: Literal["primary_limit", "secondary_limit"]
    wait_ms: int | None


def counted(headers: Mapping[str, str], now_ms: int) -> Counted | None:
    limit, remaining = _number(headers, "limit"), _number(headers, "remaining")
    reset_s = _number(headers, "reset")
    if limit is None or remaining is None or reset_s is None or limit <= 0:
        return None
    wait_ms = reset_s * 1000 - (date_ms(headers) or now_ms)
    return Counted(
        resource=headers.get("x-ratelimit-resource", CORE),
        limit=limit,
        remaining=remaining,
        reset_ms=min(max(wait_ms, 0), LONGEST_MS),
    )


def limited(status: int, headers: Mapping[str, str], body: bytes, now_ms: int) -> Limited | None:
    """Whether this answer is a limit's."""
    count = counted(headers, now_ms)
    if status == 200:
        # GraphQL refuses with 200 and says so only in its body.
        said_so = any(code in body[:4_096] for code in _RATE_LIMITED)
        if headers.get("x-ratelimit-resource") == GRAPHQL and said_so:
            wait_ms = count.reset_ms if count and count.remaining == 0 else None
            return Limited(reason="primary_limit", wait_ms=wait_ms)
        return None
    if status not in (403, 429):
        return None
    said = retry_after_ms(headers, now_ms)
    lowered = body[:4_096].lower()
    if said is not None or any(words in lowered for words in _SECONDARY):
        return Limited(reason="secondary_limit", wait_ms=said)
    if count is not None and count.remaining == 0:
        # A second more: the window is counted in whole seconds.
        return Limited(reason="primary_limit", wait_ms=count.reset_ms + 1_000)
    if status == 429 or b"rate limit exceeded" in lowered:
        return Limited(reason="secondary_limit", wait_ms=None)
    return None


def retry_after_ms(headers: Mapping[str, str], now_ms: int) -> int | None:
    """`Retry-After` in seconds or as a date."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return min(int(text[:9]) * 1000, LONGEST_MS)
    at_ms = _http_date(text)
    if at_ms is None:
        return None
    return min(max(at_ms - (date_ms(headers) or now_ms), 0), LONGEST_MS)


def date_ms(headers: Mapping[str, str]) -> int | None:
    """The service's clock, to the second."""
    return _http_date(headers.get("date", ""))


def _http_date(text: str) -> int | None:
    if not text or len(text) > 64:
        return None
    try:
        return int(parsedate_to_datetime(text).timestamp() * 1000)
    except (ValueError, OverflowError, TypeError):
        return None


def _number(headers: Mapping[str, str], name: str) -> int | None:
    text = headers.get(f"x-ratelimit-{name}", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 12 else None

"""What headers and bodies say about limits."""

from __future__ import annotations

import pytest

from agent_work_orders.github_integration.http.limits import (
    LONGEST_MS,
    Counted,
    Limited,
    counted,
    limited,
    retry_after_ms,
)

NOW_MS = 1_800_000_000_000  # Fri, 15 Jan 2027 08:00:00 GMT
DATE = {"date": "Fri, 15 Jan 2027 08:00:00 GMT"}


def quota(
    remaining: int = 0, reset_s: int = NOW_MS // 1000 + 90, limit: int = 5000
) -> dict[str, str]:
    return {
        "x-ratelimit-limit": str(limit),
        "x-ratelimit-remaining": str(remaining),
        "x-ratelimit-reset": str(reset_s),
        "x-ratelimit-resource": "core",
    }


@pytest.mark.fault("D1")
@pytest.mark.parametrize(
    ("headers", "wait_ms"),
    [
        ({"retry-after": "7"}, 7_000),
        ({"retry-after": " 0 "}, 0),
        ({"retry-after": "Fri, 15 Jan 2027 08:01:00 GMT", **DATE}, 60_000),
        ({"retry-after": "Fri, 15 Jan 2027 08:01:00 GMT"}, 60_000),
        ({"retry-after": "Fri, 15 Jan 2027 07:00:00 GMT"}, 0),
        # The service's clock is an hour ahead of ours: what counts is the difference it means.
        (
            {
                "retry-after": "Fri, 15 Jan 2027 09:01:00 GMT",
                "date": "Fri, 15 Jan 2027 09:00:00 GMT",
            },
            60_000,
        ),
        ({"retry-after": "9" * 400}, LONGEST_MS),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "٣"}, None),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], wait_ms: int | None) -> None:
    assert retry_after_ms(headers, NOW_MS) == wait_ms


def test_the_count_of_the_quota() -> None:
    assert counted(quota(17), NOW_MS) == Counted(
        resource="core", limit=5000, remaining=17, reset_ms=90_000
    )
    ahead = {**quota(17), "date": "Fri, 15 Jan 2027 08:01:00 GMT"}
    assert counted(ahead, NOW_MS) == Counted(
        resource="core", limit=5000, remaining=17, reset_ms=30_000
    )
    assert counted(quota(1, reset_s=1), NOW_MS) == Counted(
        resource="core", limit=5000, remaining=1, reset_ms=0
    )
    for broken in ("limit", "remaining", "reset"):
        assert counted({**quota(), f"x-ratelimit-{broken}": "many"}, NOW_MS) is None
    assert counted({}, NOW_MS) is None


@pytest.mark.fault("D2")
@pytest.mark.parametrize(
    ("status", "headers", "body", "expected"),
    [
        (429, {"retry-after": "7"}, b"", ("secondary_limit", 7_000)),
        (403, {"retry-after": "7"}, b"", ("secondary_limit", 7_000)),
        (403, {}, b"You have exceeded a secondary rate limit.", ("secondary_limit", None)),
        (403, {}, b"You have triggered an abuse detection mechanism", ("secondary_limit", None)),
        (429, {}, b"", ("secondary_limit", None)),
        (403, {}, b'{"message": "API rate limit exceeded"}', ("secondary_limit", None)),
        (403, quota(0), b"", ("primary_limit", 91_000)),
        (429, quota(0), b"", ("primary_limit", 91_000)),
        (403, {**quota(0), "retry-after": "3"}, b"", ("secondary_limit", 3_000)),
        (403, quota(12), b'{"message": "Resource not accessible by integration"}', None),
        (404, quota(0), b"", None),
        (200, quota(0), b"", None),
        (200, {**quota(0), "x-ratelimit-resource": "graphql"},
         b'{"errors": [{"type": "RATE_LIMITED"}]}', ("primary_limit", 90_000)),
        (200, {**quota(9), "x-ratelimit-resource": "graphql"},
         b'{"errors": [{"type": "RATE_LIMITED"}]}', ("primary_limit", None)),
        (200, quota(9), b'{"body": "RATE_LIMITED"}', None),
    ],
)  # fmt: skip
def test_which_answers_are_a_limit(
    status: int, headers: dict[str, str], body: bytes, expected: tuple[str, int | None] | None
) -> None:
    found = limited(status, headers, body, NOW_MS)
    assert (None if found is None else (found.reason, found.wait_ms)) == expected
    assert found is None or isinstance(found, Limited)

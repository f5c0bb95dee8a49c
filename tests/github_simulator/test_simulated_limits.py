"""Every documented limit refuses at its number, not one earlier, and only for its credential."""

from __future__ import annotations

import msgspec
import pytest

from github_simulator.outside.limits import Limits, Rules, pool_of
from github_simulator.things.simulated_clock import SimulatedClock

KEY = "installation:1"
OFF = Rules(
    primary_per_hour=None,
    creates_per_minute=None,
    creates_per_hour=None,
    concurrent=None,
    points_per_minute=None,
)
GET = ("GET", "issues/get")
POST = ("POST", "issues/create-comment")


@pytest.fixture
def clock() -> SimulatedClock:
    return SimulatedClock(frozen_at_ms=1_800_000_000_000)


def limits(clock: SimulatedClock, **changed: object) -> Limits:
    return Limits(clock, msgspec.structs.replace(OFF, **changed))


def ask(limited: Limits, what: tuple[str, str] = GET, key: str = KEY) -> str | None:
    refused = limited.enter(key, *what)
    if refused is not None:
        return refused.rule
    limited.tell_rate(key, pool_of(what[1]))
    limited.leave(key)
    return None


def test_the_numbers_are_the_documented_ones() -> None:
    rules = Rules()
    assert (rules.primary_per_hour, rules.creates_per_minute, rules.creates_per_hour) == (
        5_000,
        80,
        500,
    )
    assert (rules.concurrent, rules.points_per_minute) == (100, 900)


def test_the_primary_budget_is_an_hour_of_one_credential(clock: SimulatedClock) -> None:
    limited = limits(clock, primary_per_hour=3)
    assert [ask(limited) for _ in range(4)] == [None, None, None, "primary rate limit"]
    assert ask(limited, key="installation:2") is None
    shown = limited.rate_of(KEY)
    assert (shown["remaining"], shown["used"], shown["limit"]) == (0, 3, 3)
    assert shown["reset"] == 1_800_003_600
    clock.advance(3_599)
    assert ask(limited) == "primary rate limit"
    clock.advance(1)
    assert ask(limited) is None
    assert limited.rate_of(KEY)["remaining"] == 2


def test_an_unchanged_answer_is_free(clock: SimulatedClock) -> None:
    limited = limits(clock, primary_per_hour=1)
    assert limited.enter(KEY, *GET) is None
    limited.refund(KEY)
    limited.leave(KEY)
    assert ask(limited) is None
    assert ask(limited) == "primary rate limit"


def test_content_per_minute_blocks_everything_for_a_while(clock: SimulatedClock) -> None:
    limited = limits(clock, creates_per_minute=2)
    assert [ask(limited, POST) for _ in range(3)] == [None, None, "content per minute"]
    assert ask(limited) == "still blocked"
    clock.advance(59)
    assert ask(limited) == "still blocked"
    clock.advance(1)
    assert ask(limited, POST) is None


def test_content_per_hour(clock: SimulatedClock) -> None:
    limited = limits(clock, creates_per_hour=3)
    for _ in range(3):
        assert ask(limited, POST) is None
        clock.advance(600)
    assert ask(limited, POST) == "content per hour"
    clock.advance(1_800)
    assert ask(limited, POST) is None


def test_tokens_and_queries_are_no_content(clock: SimulatedClock) -> None:
    limited = limits(clock, creates_per_minute=1)
    for _ in range(3):
        assert ask(limited, ("POST", "apps/create-installation-access-token")) is None
        assert ask(limited, ("POST", "graphql")) is None
        assert ask(limited, ("PATCH", "issues/update")) is None


def test_requests_at_once(clock: SimulatedClock) -> None:
    limited = limits(clock, concurrent=2)
    assert limited.enter(KEY, *GET) is None
    assert limited.enter(KEY, *GET) is None
    limited.leave(KEY)
    assert limited.enter(KEY, *GET) is None
    assert ask(limited) == "concurrent requests"


def test_reads_cost_one_point_and_writes_five(clock: SimulatedClock) -> None:
    limited = limits(clock, points_per_minute=11)
    assert [ask(limited, POST), ask(limited, POST), ask(limited)] == [None, None, None]
    assert ask(limited) == "points per minute"
    clock.advance(60)
    assert ask(limited, POST) is None


def test_a_refusal_says_how_long_as_configured(clock: SimulatedClock) -> None:
    limited = limits(clock, creates_per_minute=0, block_s=30, secondary_status=429)
    refused = limited.enter(KEY, *POST)
    assert refused is not None
    assert (refused.status, refused.retry_after_s) == (429, 30)
    clock.advance(10)
    again = limited.enter(KEY, *GET)
    assert again is not None and again.retry_after_s == 20
    silent = limits(clock, creates_per_minute=0, retry_after_s=None).enter(KEY, *POST)
    assert silent is not None and silent.retry_after_s is None


def test_who_was_told_is_known(clock: SimulatedClock) -> None:
    limited = limits(clock, primary_per_hour=2)
    ask(limited)
    assert limited.told_for_ms(KEY) is None
    ask(limited)  # its answer says that none remain
    assert limited.told_for_ms(KEY) is not None
    assert limited.told_for_ms("installation:2") is None
    clock.advance(3_600)
    assert limited.told_for_ms(KEY) is None


def test_who_trips_a_secondary_limit_is_told_by_the_refusal(clock: SimulatedClock) -> None:
    limited = limits(clock, creates_per_minute=1)
    ask(limited, POST)
    assert limited.told_for_ms(KEY) is None
    ask(limited, POST)
    assert limited.told_for_ms(KEY) is not None
    clock.advance(60)
    assert limited.told_for_ms(KEY) is None


def test_anonymous_requests_have_their_own_small_budget(clock: SimulatedClock) -> None:
    limited = limits(clock, anonymous_per_hour=1)
    assert ask(limited, key="nobody:127.0.0.1") is None
    assert ask(limited, key="nobody:127.0.0.1") == "primary rate limit"
    assert ask(limited) is None


def test_graphql_has_a_budget_of_its_own(clock: SimulatedClock) -> None:
    limited = limits(clock, primary_per_hour=1, graphql_per_hour=1)
    query = ("POST", "graphql")
    assert [ask(limited), ask(limited)] == [None, "primary rate limit"]
    assert limited.told_for_ms(KEY) is not None
    assert limited.told_for_ms(KEY, "graphql") is None
    assert limited.rate_of(KEY, "graphql")["remaining"] == 1
    assert [ask(limited, query), ask(limited, query)] == [None, "primary rate limit"]
    assert limited.rate_of(KEY, "graphql")["remaining"] == 0


def test_hours_and_minutes_can_be_shorter(clock: SimulatedClock) -> None:
    limited = limits(clock, primary_per_hour=3, creates_per_minute=1, hour_s=20, minute_s=5)
    assert limited.rate_of(KEY)["reset"] == 1_800_000_020
    assert ask(limited, POST) is None
    clock.advance(5)
    assert ask(limited, POST) is None
    clock.advance(14)
    limited.spend(KEY, 1)
    assert ask(limited) == "primary rate limit"
    clock.advance(1)
    assert ask(limited) is None

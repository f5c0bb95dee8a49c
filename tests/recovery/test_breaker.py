"""What is down is left alone, tried by one, and open to all once it is up."""

from __future__ import annotations

from agent_work_orders.recovery.breaker import FAILURES, LONGEST_MS, OPEN_MS, Breaker


def opened(at_ms: int = 0) -> Breaker:
    breaker = Breaker()
    for _ in range(FAILURES):
        assert breaker.closed_at_ms("model", at_ms) is None
        breaker.failed("model", at_ms)
    return breaker


def test_it_opens_after_failures_in_a_row() -> None:
    breaker = opened()
    assert breaker.closed_at_ms("model", 1) == OPEN_MS
    assert breaker.closed_at_ms("other", 1) is None


def test_a_success_in_between_starts_the_count_again() -> None:
    breaker = Breaker()
    for _ in range(3):
        for _ in range(FAILURES - 1):
            breaker.failed("model", 0)
        breaker.succeeded("model")
    assert breaker.closed_at_ms("model", 0) is None


def test_one_tries_and_the_others_wait_for_it() -> None:
    breaker = opened()
    assert breaker.closed_at_ms("model", OPEN_MS) is None
    assert breaker.closed_at_ms("model", OPEN_MS) == 2 * OPEN_MS
    breaker.succeeded("model")
    assert breaker.closed_at_ms("model", OPEN_MS) is None


def test_a_try_that_fails_waits_longer_but_not_for_ever() -> None:
    breaker, now_ms = opened(), 0
    waits = []
    for _ in range(12):
        until_ms = breaker.closed_at_ms("model", now_ms)
        assert until_ms is not None
        waits.append(until_ms - now_ms)
        now_ms = until_ms
        assert breaker.closed_at_ms("model", now_ms) is None
        breaker.failed("model", now_ms)
    assert waits[:3] == [OPEN_MS, 2 * OPEN_MS, 4 * OPEN_MS]
    assert waits[-1] == LONGEST_MS


def test_one_that_never_says_how_it_ended_does_not_block_the_rest() -> None:
    breaker = opened()
    assert breaker.closed_at_ms("model", OPEN_MS) is None
    assert breaker.closed_at_ms("model", 2 * OPEN_MS) is None

"""The ready queue: seats, slots, priorities, turns and rate limits."""

from __future__ import annotations

import pytest

from agent_work_orders.engines.embedded.lanes import HOUR_MS, Lanes, Limits
from agent_work_orders.engines.ticket import Ticket

FREE = Limits(
    running_tasks=100,
    orders_per_repository=None,
    starts_per_repository_per_hour=None,
    starts_per_minute=None,
)


def ticket(order: str, repository: str = "r", priority: int = 1, metered: bool = True) -> Ticket:
    return Ticket(order_id=order, repository=repository, priority=priority, metered=metered)


def drain(lanes: Lanes[str], now_ms: int = 0) -> list[str]:
    taken = []
    while (found := lanes.take(now_ms)) is not None:
        taken.append(found[1])
    return taken


def test_first_come_first_served() -> None:
    lanes: Lanes[str] = Lanes(FREE)
    for name in "abc":
        lanes.enqueue(ticket(name), name)
    assert drain(lanes) == ["a", "b", "c"]
    assert lanes.queued == 0
    assert lanes.running == 3


def test_higher_priority_goes_first() -> None:
    lanes: Lanes[str] = Lanes(FREE)
    lanes.enqueue(ticket("low", priority=0), "low")
    lanes.enqueue(ticket("urgent", priority=3), "urgent")
    lanes.enqueue(ticket("high", priority=2), "high")
    assert drain(lanes) == ["urgent", "high", "low"]


def test_repositories_take_turns() -> None:
    lanes: Lanes[str] = Lanes(FREE)
    for number in range(3):
        lanes.enqueue(ticket(f"a{number}", "a"), f"a{number}")
    lanes.enqueue(ticket("b0", "b"), "b0")
    assert drain(lanes) == ["a0", "b0", "a1", "a2"]


def test_slots_bound_what_runs() -> None:
    lanes: Lanes[str] = Lanes(Limits(running_tasks=2, orders_per_repository=None))
    for name in "abc":
        lanes.enqueue(ticket(name, metered=False), name)
    assert drain(lanes) == ["a", "b"]
    lanes.release()
    assert drain(lanes) == ["c"]


def test_a_repository_has_so_many_seats() -> None:
    lanes: Lanes[str] = Lanes(Limits(running_tasks=10, orders_per_repository=2))
    for name in "abc":
        lanes.enqueue(ticket(name), name)
    assert drain(lanes) == ["a", "b"]
    lanes.enqueue(ticket("a"), "a-second")
    assert drain(lanes) == ["a-second"], "a seated order's next task does not wait for a seat"
    lanes.rest(ticket("a"))
    assert drain(lanes) == ["c"]


def test_tasks_queued_before_the_seat_follow_it() -> None:
    lanes: Lanes[str] = Lanes(Limits(running_tasks=10, orders_per_repository=1))
    lanes.enqueue(ticket("a"), "a1")
    lanes.enqueue(ticket("b"), "b1")
    lanes.enqueue(ticket("a"), "a2")
    assert drain(lanes) == ["a1", "a2"]
    lanes.forget(ticket("a"))
    assert drain(lanes) == ["b1"]


def test_an_unmetered_order_passes_one_that_a_rate_limit_holds() -> None:
    lanes: Lanes[str] = Lanes(
        Limits(running_tasks=10, orders_per_repository=None, starts_per_repository_per_hour=1)
    )
    lanes.enqueue(ticket("a"), "a")
    lanes.enqueue(ticket("b"), "b")
    lanes.enqueue(ticket("c", metered=False), "c")
    assert drain(lanes) == ["a", "c"]
    assert lanes.held_until_ms(ticket("b"), 0) == HOUR_MS
    assert lanes.opens_at_ms(0) == HOUR_MS


@pytest.mark.fault("K8")
def test_rate_limits_are_exact_and_survive_a_restart() -> None:
    limits = Limits(
        running_tasks=100,
        orders_per_repository=None,
        starts_per_repository_per_hour=10,
        starts_per_minute=None,
    )
    lanes: Lanes[str] = Lanes(limits)
    for number in range(30):
        lanes.enqueue(ticket(f"o{number}"), f"o{number}")
    assert len(drain(lanes, now_ms=1_000)) == 10
    assert drain(lanes, now_ms=1_000 + HOUR_MS - 1) == []
    assert len(drain(lanes, now_ms=1_000 + HOUR_MS)) == 10

    restarted: Lanes[str] = Lanes(limits)
    restarted.remember([(ticket(f"old{n}"), 5_000) for n in range(9)])
    restarted.enqueue(ticket("new1"), "new1")
    restarted.enqueue(ticket("new2"), "new2")
    restarted.enqueue(ticket("old3"), "old3")
    assert drain(restarted, now_ms=6_000) == ["new1", "old3"], "an order counts once"


def test_the_minute_is_shared_by_all_repositories() -> None:
    lanes: Lanes[str] = Lanes(
        Limits(
            running_tasks=100,
            orders_per_repository=None,
            starts_per_repository_per_hour=None,
            starts_per_minute=3,
        )
    )
    for number in range(6):
        lanes.enqueue(ticket(f"o{number}", f"r{number}"), f"o{number}")
    assert len(drain(lanes, now_ms=0)) == 3
    assert len(drain(lanes, now_ms=60_000)) == 3


def test_a_withdrawn_job_is_not_taken() -> None:
    lanes: Lanes[str] = Lanes(FREE)
    lanes.enqueue(ticket("a"), "a")
    lanes.enqueue(ticket("b"), "b")
    lanes.withdraw("a")
    lanes.withdraw("a")
    assert lanes.queued == 1
    assert drain(lanes) == ["b"]


def test_what_was_withdrawn_takes_no_seat_and_no_turn() -> None:
    lanes: Lanes[str] = Lanes(Limits(running_tasks=9, orders_per_repository=1))
    for name in ("a1", "a2", "b1", "a3"):
        lanes.enqueue(ticket(name[0], metered=False), name)
    lanes.withdraw("a1")
    assert lanes.take(0) is not None, "a2 has the seat"
    lanes.withdraw("a3")
    assert drain(lanes) == [] and lanes.queued == 1
    lanes.rest(ticket("a"))
    assert drain(lanes) == ["b1"] and lanes.queued == 0

"""What each kind of an agent's bad turn means for the task."""

from __future__ import annotations

from typing import get_args

import pytest

from agent_work_orders.agent_executor.agent import AgentError, ErrorKind
from agent_work_orders.errors import Failed, Held
from agent_work_orders.tools.agent_failure import LONGEST_NAMED_MS, Waits, meaning
from agent_work_orders.tools.tool import Stall

NOW = 1_000_000
TABLE = {
    "auth": ("agent_auth", "permanent"),
    "invalid_request": ("agent_request_invalid", "permanent"),
    "max_turns": ("agent_limit_reached", "permanent"),
    "budget": ("agent_limit_reached", "permanent"),
    "timeout": ("agent_timeout", "permanent"),
    "idle": ("agent_timeout", "permanent"),
    "crashed": ("agent_crashed", "transient"),
    "interrupted": ("agent_crashed", "transient"),
    "no_output": ("agent_protocol_error", "permanent"),
    "protocol": ("agent_protocol_error", "permanent"),
    "exit_code": ("agent_failed", "permanent"),
}

WAITS_FOR = {
    "server": "model_unavailable",
    "network": "model_unavailable",
    "overloaded": "model_unavailable",
    "rate_limit": "model_quota",
}
FLOOR_MS = Waits().floor_ms
LONGEST_MS = Waits().longest_ms
HOUR_MS = 3_600_000


def test_every_kind_has_a_meaning() -> None:
    assert {*TABLE, *WAITS_FOR} == set(get_args(ErrorKind))


@pytest.mark.fault("G11")
@pytest.mark.parametrize("kind", TABLE)
def test_it_fails_with(kind: ErrorKind) -> None:
    found = meaning(AgentError(kind=kind, message="because"), NOW)
    assert isinstance(found, Failed)
    assert (found.code, found.category) == TABLE[kind]
    assert "because" in found.message and found.hint


@pytest.mark.fault("G12")
@pytest.mark.fault("N6")
@pytest.mark.parametrize("kind", WAITS_FOR)
@pytest.mark.parametrize(
    ("named_ms", "stalls", "wait_ms"),
    [
        (None, 0, FLOOR_MS),
        (None, 1, 2 * FLOOR_MS),
        (None, 3, 8 * FLOOR_MS),
        (None, 10_000, LONGEST_MS),
        (NOW + 90_000, 0, 90_000),
        (NOW + 90_000, 3, 8 * FLOOR_MS),
        (NOW + 5_000, 0, FLOOR_MS),
        (NOW - 90_000, 0, FLOOR_MS),
        (NOW - 90_000, 2, 4 * FLOOR_MS),
        (0, 0, FLOOR_MS),
        (-(10**15), 1, 2 * FLOOR_MS),
        (NOW + 10**15, 0, LONGEST_NAMED_MS),
    ],
)
def test_it_waits(kind: ErrorKind, named_ms: int | None, stalls: int, wait_ms: int) -> None:
    error = AgentError(kind=kind, message="", retry_at_ms=named_ms)
    found = meaning(error, NOW, stall=Stall(count=stalls, since_ms=NOW - stalls))
    assert isinstance(found, Held)
    assert (found.reason, found.until_ms - NOW) == (WAITS_FOR[kind], wait_ms)


@pytest.mark.fault("N6")
@pytest.mark.parametrize("kind", WAITS_FOR)
def test_an_outage_of_a_day_is_for_a_person_and_a_quota_is_not(kind: ErrorKind) -> None:
    error = AgentError(kind=kind, message="still down")
    for hours, over in ((23, False), (24, True), (500, True)):
        found = meaning(error, NOW, stall=Stall(count=99, since_ms=NOW - hours * HOUR_MS))
        if over and kind != "rate_limit":
            assert isinstance(found, Failed) and found.category == "environmental"
            assert found.code == "agent_model_unreachable" and "still down" in found.message
        else:
            assert isinstance(found, Held)


@pytest.mark.fault("N6")
def test_a_day_without_a_model_is_a_hundred_tries_at_most() -> None:
    """Whoever names which time: pure trouble is asked for seldom, and ends."""
    waits, at_ms, tries = Waits(), 0, 0
    while isinstance(
        found := meaning(
            AgentError(kind="overloaded", message="", retry_at_ms=at_ms - 1),
            at_ms,
            waits=waits,
            stall=Stall(count=tries, since_ms=0),
        ),
        Held,
    ):
        at_ms, tries = found.until_ms, tries + 1
    assert 24 <= at_ms / HOUR_MS < 25
    assert tries <= 110

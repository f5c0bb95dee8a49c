"""What each kind of an agent's bad turn means for the task."""

from __future__ import annotations

from typing import get_args

import pytest

from agent_work_orders.agent_executor.agent import AgentError, ErrorKind
from agent_work_orders.errors import Failed
from agent_work_orders.tools.agent_failure import LONGEST_MS, OVERLOADED_MS, QUOTA_MS, meaning
from agent_work_orders.tools.tool import Parked

NOW = 1_000_000
TABLE = {
    "auth": ("agent_auth", "permanent"),
    "server": ("agent_model_unreachable", "transient"),
    "network": ("agent_model_unreachable", "transient"),
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


def test_every_kind_has_a_meaning() -> None:
    assert {*TABLE, "rate_limit", "overloaded"} == set(get_args(ErrorKind))


@pytest.mark.fault("G11")
@pytest.mark.parametrize("kind", TABLE)
def test_it_fails_with(kind: ErrorKind) -> None:
    found = meaning(AgentError(kind=kind, message="because"), NOW)
    assert isinstance(found, Failed)
    assert (found.code, found.category) == TABLE[kind]
    assert "because" in found.message and found.hint


@pytest.mark.fault("G12")
@pytest.mark.parametrize(
    ("kind", "retry_at_ms", "until_ms"),
    [
        ("rate_limit", None, NOW + QUOTA_MS),
        ("overloaded", None, NOW + OVERLOADED_MS),
        ("rate_limit", NOW + 90_000, NOW + 90_000),
        ("rate_limit", NOW - 90_000, NOW + 1_000),
        ("overloaded", 0, NOW + 1_000),
        ("rate_limit", NOW + 10**15, NOW + LONGEST_MS),
    ],
)
def test_it_waits_until(kind: ErrorKind, retry_at_ms: int | None, until_ms: int) -> None:
    error = AgentError(kind=kind, message="", retry_at_ms=retry_at_ms)
    found = meaning(error, NOW)
    assert isinstance(found, Parked)
    assert (found.reason, found.until_ms) == ("model_quota", until_ms)

"""Money in words: what is unknown is said, hostile names stay data."""

from __future__ import annotations

from typing import Any

import pytest

from agent_work_orders.cli import spending
from agent_work_orders.work_orders.read_side.projection import certainty
from agent_work_orders.workflow_engine.events import Usage


@pytest.mark.fault("N6")
@pytest.mark.parametrize(
    ("usage", "said"),
    [
        (Usage(), ""),
        (Usage(cost_usd=1.5, turns=3), "$1.5000"),
        (Usage(cost_usd=1.5, estimated_usd=0.5), "about $1.5000 (in part reckoned from tokens)"),
        (Usage(unpriced_turns=1), "unknown (the agent does not tell)"),
        (
            Usage(cost_usd=0.5, unpriced_turns=1),
            "at least $0.5000 (more was used, at a price that is not known)",
        ),
    ],
)
def test_a_cost_says_how_sure_it_is(usage: Usage, said: str) -> None:
    assert spending.cost(usage.cost_usd, certainty(usage)) == said


def task(usage: dict[str, Any] | None, denials: list[str]) -> dict[str, Any]:
    return {"usage": usage, "denials": denials}


def test_a_task_tells_what_it_used_and_what_was_denied() -> None:
    usage = {
        "cost_usd": 0.25,
        "cost_certainty": "exact",
        "input_tokens": 12_345,
        "output_tokens": 678,
        "turns": 1,
        "model": "claude-x",
    }
    assert spending.task_lines(task(usage, [])) == [
        "claude-x · 1 turn · 12,345 tokens in, 678 out · $0.2500"
    ]
    assert spending.task_lines(task(None, [])) == []
    nothing = usage | {"cost_usd": 0, "turns": 0, "input_tokens": 0, "output_tokens": 0}
    assert spending.task_lines(task(nothing, [])) == []
    hostile = ["Bash(rm -rf /\nall of it)", *(f"Write({n})" for n in range(9))]
    (line,) = spending.task_lines(task(None, hostile))
    assert "\n" not in line and line.endswith("and 5 more")

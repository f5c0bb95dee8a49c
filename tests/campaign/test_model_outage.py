"""A model that fails in the middle of a turn: nothing is lost, and nothing is paid for twice."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from outage_play import OutagePlay

from agent_work_orders.agent_executor.claude_code import find_binary
from agent_work_orders.testing.model_simulator import Fault, ModelSimulator, Outage, Script
from agent_work_orders.testing.model_simulator.script import call, say

pytestmark = [
    pytest.mark.slow,
    pytest.mark.fault("N6"),
    pytest.mark.skipif(
        find_binary(None) is None and os.environ.get("CI") != "true",
        reason="Claude Code is not installed (claude-agent-sdk)",
    ),
]

Play = Callable[..., OutagePlay]

FIRST = call("Bash", command="echo first > first.txt", description="x")
SLOWLY = call("Bash", command="echo more >> first.txt; sleep 3", description="x")
SECOND = call("Bash", command="cat first.txt > second.txt", description="x")
TROUBLE = (
    Fault(status=500),
    Fault(kind="reset"),
    Fault(status=529),
    Fault(kind="truncated"),
    Fault(status=503),
    Fault(status=429, headers={"retry-after": "5"}),
    Fault(status=429),
    Fault(status=429, message="Claude AI usage limit reached|1700000000"),
)


@pytest.fixture
async def model() -> AsyncIterator[ModelSimulator]:
    async with ModelSimulator() as made:
        yield made


@pytest.fixture
def play(room: Path, model: ModelSimulator):
    made: list[OutagePlay] = []

    def make(**settings: str) -> OutagePlay:
        made.append(OutagePlay(room, model, **settings))
        return made[0]

    yield make
    for one in made:
        one.kill()


async def test_three_minutes_of_trouble_in_a_turn(play: Play, model: ModelSimulator) -> None:
    made = play()
    model.play(
        Script(turns=(FIRST, SLOWLY, Outage(seconds=180, faults=TROUBLE), SECOND, say("done")))
    )
    await made.start()
    order_id = await made.submit()
    reasons = await made.until_ended(order_id, 540)
    order, task = await made.show(order_id)
    assert order["status"] == "completed", order
    assert {"model_unavailable"} <= set(reasons)
    assert made.content(order_id, "second.txt") == "first\nmore\n"
    assert made.commits(order_id) == 1
    assert order["cost_usd"] == pytest.approx(made.served_usd) and made.served_usd > 0.008
    assert order["cost_certainty"] == "exact"
    assert task["usage"]["cost_usd"] == pytest.approx(made.served_usd)
    assert task["attempt"] <= 7, "few tries: each costs a process"
    asked = [text for text in model.requests[-1].texts if "first.txt, then second.txt" in text]
    assert len(asked) == 1, "one session from the first to the last"


async def test_kill_of_the_server_in_a_turn(play: Play, model: ModelSimulator) -> None:
    made = play()
    model.play(Script(turns=(FIRST, SLOWLY, Fault(kind="hang", times=1), SECOND, say("done"))))
    await made.start()
    order_id = await made.submit()
    await made.until(lambda: len(model.requests) >= 3, 120)
    made.kill()
    served_before = made.served_usd
    await made.start()
    await made.until_ended(order_id, 240)
    order, task = await made.show(order_id)
    assert order["status"] == "completed", order
    assert made.content(order_id, "second.txt") == "first\nmore\n"
    assert made.commits(order_id) == 1
    assert made.served_usd > served_before > 0
    assert order["cost_usd"] == pytest.approx(made.served_usd)
    assert order["cost_certainty"] == "estimated"
    assert (task["attempt"], task["usage"]["model"]) == (2, model.served[0].model)


async def test_a_quota_named_in_the_past_is_asked_for_seldom(
    play: Play, model: ModelSimulator
) -> None:
    """At a floor of two seconds: 2, 4, 8, 16 s between attempts, not one a second."""
    made = play(AWO_MODEL_WAIT_FLOOR_S="2")
    past = Fault(status=429, message="Claude AI usage limit reached|1700000000")
    model.play(Script(turns=(FIRST, Outage(seconds=25, faults=(past,)), SECOND, say("done"))))
    await made.start()
    order_id = await made.submit()
    reasons = await made.until_ended(order_id, 240)
    order, task = await made.show(order_id)
    assert order["status"] == "completed", order
    assert "model_quota" in reasons
    assert task["attempt"] <= 6
    assert order["cost_usd"] == pytest.approx(made.served_usd)

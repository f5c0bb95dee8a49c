"""What the real Claude Code used, against what the simulated model served."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent_work_orders.agent_executor import prices
from agent_work_orders.agent_executor.agent import METER, AgentRequest, Entry, Turn
from agent_work_orders.agent_executor.claude_code import ClaudeCode, Options, Settings, find_binary
from agent_work_orders.agent_executor.claude_sign_in import SignIn
from agent_work_orders.agent_executor.prices import Tokens
from agent_work_orders.clock import SystemClock
from agent_work_orders.testing.fakes.local_sandbox import LocalSandbox
from agent_work_orders.testing.model_simulator import Fault, ModelSimulator, Reply, Script, Text
from agent_work_orders.testing.model_simulator.script import call, say

pytestmark = [
    pytest.mark.fault("N6"),
    pytest.mark.skipif(
        find_binary(None) is None and os.environ.get("CI") != "true",
        reason="Claude Code is not installed (claude-agent-sdk)",
    ),
]

TOUCH = call("Bash", command="echo 1 > made", description="x")


class Rig:
    def __init__(self, folder: Path, model: ModelSimulator) -> None:
        self.sandbox = LocalSandbox(folder)
        self.model = model
        self.entries: list[Entry] = []

    async def turn(self, *, previous_cost_usd: float | None = None, **request: Any) -> Turn:
        settings = Settings(
            sign_in=SignIn(base_url=self.model.url, api_key="sk-simulated"),
            max_retries=0,
            other_user=False,
        )
        agent = ClaudeCode(SystemClock(), settings, Options())
        return await agent.run(
            AgentRequest(prompt="go", **request),
            self.sandbox,
            transcript=self.entries.append,
            previous_cost_usd=previous_cost_usd,
        )

    @property
    def served_usd(self) -> float:
        return sum(
            prices.cost_usd(
                one.model,
                Tokens(
                    input=one.input_tokens,
                    cache_read=one.cache_read_tokens,
                    cache_write=one.cache_write_tokens,
                    output=one.output_tokens,
                ),
            )
            or 0.0
            for one in self.model.served
        )


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    async with ModelSimulator() as model:
        yield Rig(tmp_path, model)


@pytest.mark.parametrize("model", [name for name, *_ in prices.PRICES])
async def test_our_prices_are_those_of_the_program(rig: Rig, model: str) -> None:
    answer = Reply(
        blocks=(Text(text="ok"),),
        input_tokens=1234,
        output_tokens=567,
        cache_read_tokens=8900,
        cache_write_tokens=3210,
    )
    rig.model.play(Script(turns=(answer,)))
    turn = await rig.turn(model=model)
    assert turn.ok and turn.usage.estimated_usd == 0 and turn.usage.unpriced_turns == 0
    assert turn.usage.cost_usd == pytest.approx(rig.served_usd) and rig.served_usd > 0
    assert turn.usage.model == rig.model.served[0].model


async def test_a_model_whose_price_nobody_knows_is_called_an_estimate(rig: Rig) -> None:
    rig.model.play(Script(turns=(TOUCH, Fault(kind="hang"))))
    told = await rig.turn(model="house-model-7", timeout_s=4)
    assert told.usage.unpriced_turns == 1 and told.usage.cost_usd == 0
    rig.model.play(Script(turns=(say("ok"),)))
    told = await rig.turn(model="house-model-7")
    assert told.usage.estimated_usd == told.usage.cost_usd > 0


@pytest.mark.parametrize("ending", ["hang", "truncated", "slow"])
async def test_a_turn_without_a_result_costs_what_was_served(rig: Rig, ending: Any) -> None:
    first = Reply(blocks=TOUCH.blocks, output_tokens=777)
    rig.model.play(Script(turns=(first, TOUCH, Fault(kind=ending))))
    turn = await rig.turn(timeout_s=5)
    assert not turn.ok
    assert turn.usage.cost_usd == pytest.approx(rig.served_usd) and rig.served_usd > 0.01
    assert turn.usage.output_tokens == sum(one.output_tokens for one in rig.model.served)
    marks = [entry.data[METER] for entry in rig.entries if METER in entry.data]
    assert marks[-1]["usage"]["cost_usd"] == pytest.approx(rig.served_usd)
    assert marks[-1]["session_id"] == turn.session_id


async def test_a_failed_turn_is_resumed_and_costs_what_was_served(rig: Rig) -> None:
    rig.model.play(Script(turns=(TOUCH, Fault(status=500))))
    first = await rig.turn()
    assert first.error is not None and first.error.kind == "server"
    rig.model.play(Script(turns=(say("done"),)))
    second = await rig.turn(
        session_id=first.session_id, go_on="go on", previous_cost_usd=first.cumulative_cost_usd
    )
    assert second.ok and second.session_id == first.session_id
    assert first.usage.cost_usd + second.usage.cost_usd == pytest.approx(rig.served_usd)
    assert rig.model.requests[-1].texts[-1].endswith("go on")

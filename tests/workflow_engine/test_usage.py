"""What an agent says that it consumed stays within what can be."""

from __future__ import annotations

import math

import msgspec
import pytest

from agent_work_orders.cli.screen import json_text
from agent_work_orders.workflow_engine.events import MAX_COST_USD, MAX_COUNT, Usage


@pytest.mark.parametrize("cost", [1e308, math.inf, 1e9 + 1])
def test_a_cost_has_an_end(cost: float) -> None:
    assert Usage(cost_usd=cost).cost_usd == MAX_COST_USD


def test_what_is_no_number_is_nothing_and_a_correction_has_an_end_too() -> None:
    assert Usage(cost_usd=math.nan).cost_usd == 0.0
    assert Usage(cost_usd=-math.inf).cost_usd == -MAX_COST_USD
    assert Usage(cost_usd=-1.0).cost_usd == -1.0


def test_counts_have_bounds() -> None:
    usage = Usage(input_tokens=10**30, output_tokens=-(10**30), turns=3)
    assert (usage.input_tokens, usage.output_tokens, usage.turns) == (MAX_COUNT, -MAX_COUNT, 3)


def test_stored_ones_are_read_within_bounds_and_others_as_they_are() -> None:
    assert msgspec.json.decode(b'{"cost_usd":1e308}', type=Usage).cost_usd == MAX_COST_USD
    usage = Usage(cost_usd=0.25, input_tokens=7, output_tokens=8, turns=1)
    assert msgspec.json.decode(msgspec.json.encode(usage), type=Usage) == usage


def test_no_json_of_the_command_line_has_a_number_that_is_none() -> None:
    assert json_text({"a": [math.inf, 1.5], "b": math.nan}) == '{"a": [null, 1.5], "b": null}'

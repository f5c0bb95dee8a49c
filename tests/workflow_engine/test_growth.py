from __future__ import annotations

from typing import Any

import pytest

from agent_work_orders.testing.conformance.engine import compiled
from agent_work_orders.workflow_engine import growth
from agent_work_orders.workflow_engine.inputs import InputError

NESTED = """
name: nested
inputs:
  xs: {type: list, required: true}
  ys: {type: list, default: [1]}
tasks:
  outer:
    foreach: "{{ inputs.xs }}"
    tasks:
      inner:
        foreach: "{{ inputs.ys }}"
        tasks:
          one: {uses: fake.echo, with: {}}
"""
LATER = """
name: later
tasks:
  found: {uses: fake.echo, with: {value: [1, 2]}}
  each:
    needs: [found]
    foreach: "{{ tasks.found.outputs.value }}"
    uses: fake.echo
    with: {}
"""


def test_lists_that_multiply_are_counted_before_the_run() -> None:
    with pytest.raises(InputError) as refused:
        growth.check(compiled(NESTED), {"xs": list(range(1_000)), "ys": list(range(1_000))})
    error = refused.value
    assert error.code == "too_many_tasks"
    assert error.field == "inputs.xs"
    assert "`xs`, `ys`" in error.message
    assert "20,000" in error.message
    assert error.hint


@pytest.mark.parametrize("given", [{"xs": [1] * 100, "ys": [1] * 60}, {"xs": [], "ys": []}])
def test_what_fits_passes(given: dict[str, Any]) -> None:
    growth.check(compiled(NESTED), given)


def test_a_list_that_only_the_run_knows_is_left_to_the_run() -> None:
    growth.check(compiled(LATER), {})

"""Our own side of the workloads, in small: each comes to an end and gives what the bars ask for."""

from __future__ import annotations

import importlib
import importlib.util

import pytest

from benchmarks import bars


@pytest.mark.slow
@pytest.mark.parametrize(
    "workload", ["restart_open_orders", "worktree_start", "work_order_overhead"]
)
def test_our_side_gives_the_metrics_of_its_bars(workload: str) -> None:
    found = importlib.import_module(f"benchmarks.workloads.{workload}").run(quick=True)
    assert found.failures == []
    ours = {one.metric: one.value for one in found.measurements if one.role == "ours"}
    asked = [bar for bar in bars.load_bars() if bar.workload == workload]
    assert asked and {bar.metric for bar in asked} <= set(ours)
    assert ours.get("lost_or_doubled", 0) == 0


def test_every_bar_has_a_workload() -> None:
    for bar in bars.load_bars():
        assert importlib.util.find_spec(f"benchmarks.workloads.{bar.workload}") is not None

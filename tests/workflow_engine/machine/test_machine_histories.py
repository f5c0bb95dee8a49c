"""Every recorded history replays without a divergence."""

from __future__ import annotations

from pathlib import Path

import histories
import pytest

from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine.machine import advance
from agent_work_orders.workflow_engine.run import decode, encode, fresh

RECORDED = sorted(histories.FOLDER.glob("*.jsonl"))


def test_there_is_a_history_of_every_story() -> None:
    assert {path.stem for path in RECORDED} >= set(histories.STORIES)


@pytest.mark.fault("A23")
@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_recorded_history_replays_without_divergence(path: Path) -> None:
    for run_id, told, events, kept in histories.load(path):
        assert histories.replayed(run_id, told, events) == kept
        assert kept["end"]["stage"] == "ended"


@pytest.mark.fault("A3")
@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_history_cut_at_any_event_goes_on_from_its_snapshot(path: Path) -> None:
    for run_id, told, events, kept in histories.load(path):
        run = fresh(run_id, told, "hash")
        for event in events:
            run = decode(encode(advance(run, on.decode(on.encode(event))).run), run_id, told)
        assert histories.summary(run) == kept["end"]

"""The campaign can fail: without the intent row, or without the fsync, it does."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import crash_checks
import power_cut
import pytest
from crash_driver import Campaign


def test_without_the_intent_row_a_write_is_done_again(room: Path) -> None:
    campaign = Campaign(room, seed=3, mutation="no intent")
    campaign.want(1)
    assert campaign.die_at("mirror.set_ref after")
    told = crash_checks.broken(campaign, campaign.finish())
    # The agent's work is there already, so what is done again finds nothing to commit.
    assert any("is failed" in rule for rule in told), told


def lose_power(campaign: Campaign) -> tuple[int, list[str]]:
    """Bytes that a power cut took, and orders that were acknowledged and are gone."""
    log = campaign.folder / "strace.log"
    child = campaign.start(CRASH_UNDER=power_cut.record(log))
    pid = child.wait_ready()["pid"]
    campaign.want(4)
    campaign.submit(child)
    os.kill(pid, signal.SIGKILL)
    child.end()
    cut = power_cut.cut(campaign.home, log)
    campaign.mutation = ""
    orders = [str(wish.order) for wish in campaign.wishes]
    after = campaign.start()
    if after.wait_ready().get("refused") == "database_wal_damaged":
        # It noticed that what it had acknowledged is not there, and does not start without.
        after.end()
        return cut, orders
    gone = [order for order in orders if after.ask("look", order=order).get("missing")]
    after.kill()
    return cut, gone


@pytest.mark.fault("A11")
def test_a_power_cut_takes_nothing_that_was_acknowledged(room: Path) -> None:
    (room / "slow").touch()
    _, gone = lose_power(Campaign(room, seed=4))
    assert gone == []


@pytest.mark.fault("A11")
def test_without_the_fsync_a_power_cut_takes_orders(room: Path) -> None:
    (room / "slow").touch()
    cut, gone = lose_power(Campaign(room, seed=5, mutation="no fsync"))
    assert cut
    assert gone

"""kill -9 of the real process, with real git, at named points and at any time."""

from __future__ import annotations

from pathlib import Path

import crash_checks
import crash_report
import pytest
from crash_driver import Campaign
from crash_points import POINTS


@pytest.mark.slow
@pytest.mark.fault("A2")
@pytest.mark.fault("A4")
@pytest.mark.fault("A5")
@pytest.mark.fault("E10")
def test_a_few_orders_survive_a_few_kills(room: Path) -> None:
    campaign = Campaign(room, seed=1)
    campaign.want(6)
    for point in ("ledger.intend after", "sandbox.execute during", "mirror.set_ref after"):
        assert campaign.die_at(point), point
    for _ in range(2):
        campaign.die_within(campaign.rng.uniform(1.0, 2.5))
    assert crash_checks.broken(campaign, campaign.finish()) == []


@pytest.mark.slow
@pytest.mark.fault("A2")
@pytest.mark.fault("A4")
@pytest.mark.fault("A5")
@pytest.mark.fault("A10")
@pytest.mark.fault("E1")
@pytest.mark.fault("E10")
@pytest.mark.fault("G6")
def test_fifty_orders_survive_every_point_and_twenty_kills(room: Path) -> None:
    campaign = Campaign(room, seed=2)
    campaign.want(50)
    deaths: list[str | None] = [*POINTS, *[None] * 20]
    campaign.rng.shuffle(deaths)
    for point in deaths:
        if point is None:
            campaign.die_within(campaign.rng.uniform(0.5, 3.0))
        else:
            assert campaign.die_at(point, campaign.rng.randint(1, 2)), point
    found = campaign.finish()
    text = crash_report.page(campaign)
    print(text)
    assert crash_checks.broken(campaign, found) == []
    # Standing connections may differ by a reader; a leak of one a life would be dozens.
    assert found["verify"]["fds"] <= campaign.fds[0] + 10
    crash_report.PAGE.write_text(text, encoding="utf-8")


def test_the_page_lists_every_point_as_hit() -> None:
    hits = crash_report.listed(crash_report.PAGE.read_text("utf-8"))
    assert list(hits) == list(POINTS)
    assert all(hits.values())


@pytest.mark.slow
@pytest.mark.fault("A3")
def test_a_kill_in_an_fsync_of_the_journal_costs_nothing(room: Path) -> None:
    campaign = Campaign(room, seed=9)
    campaign.want(3)
    for number in (*range(1, 13), 16, 20, 26, 34):
        assert campaign.die_at_fsync(number), number
    assert crash_checks.broken(campaign, campaign.finish()) == []

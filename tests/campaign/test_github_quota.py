"""A hundred orders with a quota of 500 requests an hour: all end, politely, also when killed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from quota_play import HOUR_S, MINUTE_S, QuotaPlay, doubled, impolite, paid

from agent_work_orders.clock import iso
from agent_work_orders.github_integration.http import lane
from github_simulator.outside.faults import Fault
from github_simulator.outside.limits import Rules
from github_simulator.server import GithubSimulator

ORDERS, QUOTA = 100, 500
RULES = Rules(primary_per_hour=QUOTA, hour_s=HOUR_S, minute_s=MINUTE_S, block_s=MINUTE_S)
KEPT = int(QUOTA * lane.KEPT_BACK["order"])
WORTH = 60
"""More than the product has under way at once, so that it learns of it in time."""


@pytest.mark.slow
@pytest.mark.fault("D1")
@pytest.mark.fault("D3")
@pytest.mark.fault("D15")
@pytest.mark.timeout(600)
async def test_a_hundred_orders_with_a_small_quota(room: Path) -> None:
    async with GithubSimulator(room / "github") as github:
        github.limits.rules = RULES
        play = QuotaPlay(room, github)
        await play.start()
        try:
            play.ask(ORDERS)
            await _killed_while_parked(play)
            await _used_up_by_another_program(play)
            await _limited_for_no_reason(play)
            await play.until(lambda: not doubled(play.records(), ORDERS))
            assert {one["status"] for one in await play.orders()} == {"completed"}
        finally:
            play.end()
        asked = play.asked()
        assert doubled(play.records(), ORDERS) == []
        assert "\n".join(impolite(asked)) == ""
        print(f"\n{paid(asked) / ORDERS:.1f} requests an order, {Counter(a.status for a in asked)}")
        print(Counter(one.operation for one in asked))


async def _killed_while_parked(play: QuotaPlay) -> None:
    """Our own work uses what it may of the quota: shown as waiting, and a restart goes on waiting.
    The hour is shortened by what another program takes of it, while most of it is left."""
    await play.progress(5)

    def used_up() -> bool:
        left, reset_ms = play.left()
        if left > KEPT + WORTH and reset_ms - play.github.clock.now_ms() > HOUR_S * 600:
            play.github.limits.spend(play.credential, left - KEPT - WORTH)
        return play.asked()[-1].remaining == KEPT

    await play.until(used_up)
    _, reset_ms = play.left()

    async def parked() -> list[dict[str, Any]]:
        """By this limit; others wait for moments, by that of creating content."""
        return [one for one in await play.parked() if one["waiting_until"] >= iso(reset_ms)]

    order = (await play.until(parked))[0]
    assert (order["status"], order["waiting_reason"]) == ("waiting", "github_quota")
    assert order["error_message"] is None and order["waiting_until"] is not None
    told = play.awo("show", order["agent_work_order_id"])
    assert "waits for" in told and "GitHub" in told and order["waiting_until"] in told, told
    credentials = (await play.status())["github"]["credentials"]
    assert (play.credential, KEPT) in [(one["credential"], one["remaining"]) for one in credentials]
    play.kill()
    before = len(play.asked())
    await play.start()
    still = {one["agent_work_order_id"]: one["waiting_until"] for one in await play.parked()}
    assert still[order["agent_work_order_id"]] == order["waiting_until"]
    assert play.github.clock.now_ms() < reset_ms, "the restart took the whole hour"
    await play.until(lambda: len(play.asked()) > before)
    assert min(one.came_ms for one in play.asked()[before:]) >= reset_ms
    kept = [one.remaining >= KEPT for one in play.asked() if one.remaining is not None]
    assert all(kept), "orders took what is kept for people"
    assert not any(one.status in (403, 429) for one in play.asked())


async def _used_up_by_another_program(play: QuotaPlay) -> None:
    """What is left is taken by somebody else with our credential: the next answer says so."""
    await play.progress(3)
    before = len(play.asked())

    def told() -> bool:
        # Again in the next hour, if the product used up its own share of this one just before and
        # so asks nothing more in it.
        if left := play.left()[0]:
            play.github.limits.spend(play.credential, left)
        return any(one.remaining == 0 for one in play.asked()[before:])

    await play.until(told)
    await play.progress(3)


async def _limited_for_no_reason(play: QuotaPlay) -> None:
    play.github.faults.add(Fault(kind="secondary", seconds=MINUTE_S, operation="pulls/create"))
    await play.until(lambda: play.github.faults.hits)
    await play.progress(3)

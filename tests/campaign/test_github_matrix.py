"""Every write to GitHub, killed at every moment and with every doubtful answer: exactly one."""

from __future__ import annotations

from pathlib import Path

import pytest
from github_matrix import FAULTS, MOMENTS, WRITES, Moment, Play, doubled

from agent_work_orders.testing.github_simulator.server import GithubSimulator


@pytest.mark.slow
@pytest.mark.fault("A4")
@pytest.mark.fault("D7")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("moment", MOMENTS)
async def test_killed_at_every_write(room: Path, moment: Moment) -> None:
    async with GithubSimulator(room / "github") as github:
        play = Play(room, github)
        await play.start()
        try:
            await play.ask()
            struck = await play.kill_at_every_write(moment)
            assert doubled(await play.finish()) == [], play.complaints()
        finally:
            play.end()
    assert struck == set(WRITES)


@pytest.mark.slow
@pytest.mark.fault("D4")
@pytest.mark.fault("D6")
@pytest.mark.fault("D7")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("fault", FAULTS)
async def test_doubtful_answers_to_every_write(room: Path, fault: str) -> None:
    async with GithubSimulator(room / "github") as github:
        play = Play(room, github)
        github.faults.add(*(FAULTS[fault](operation) for operation in WRITES))
        await play.start()
        try:
            await play.ask()
            assert doubled(await play.finish()) == [], play.complaints()
        finally:
            play.end()
    assert {hit.fault.operation for hit in github.faults.hits} == set(WRITES)

"""Every write to GitHub, killed at every moment and with every doubtful answer: exactly one.

What comes out is compared with `github_matrix.json`, which `make docs` puts into
docs/reliability.md. With WRITE_GITHUB_MATRIX=1 (and one process) these tests write it anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from github_judge import verdicts
from github_matrix import Play
from github_writes import FAULTS, MOMENTS, NO_WRITES, WRITES, Moment, Write, kill, places

from github_simulator.outside.faults import Fault
from github_simulator.server import GithubSimulator

TABLE = Path(__file__).with_name("github_matrix.json")


def committed() -> dict[str, dict[str, str]]:
    """By column, then by write."""
    found: dict[str, dict[str, str]] = json.loads(TABLE.read_text("utf-8"))
    return found


def test_every_write_of_the_code_has_a_row() -> None:
    rows = {write.sent_by for write in WRITES}
    assert places() == rows | set(NO_WRITES)
    assert not rows & set(NO_WRITES)


def test_the_table_promises_one_of_each() -> None:
    wanted = {write.name: write.outcome for write in WRITES}
    assert committed() == dict.fromkeys([*MOMENTS, *FAULTS], wanted)


async def played(
    room: Path, column: str, strike: Callable[[Write], Fault], moment: Moment | None = None
) -> None:
    async with GithubSimulator(room / "github") as github:
        play = Play(room, github)
        try:
            made, final = await play.perform(strike, moment)
        finally:
            await play.end()
    outcome = verdicts(made, final)
    assert play.struck == set(outcome), play.complaints()
    table = committed()
    if os.environ.get("WRITE_GITHUB_MATRIX"):
        table[column] = {write.name: outcome[write.name] for write in WRITES}
        TABLE.write_text(json.dumps(table, indent=1) + "\n", "utf-8")
    assert outcome == table[column], play.complaints()


@pytest.mark.slow
@pytest.mark.fault("A4")
@pytest.mark.fault("D7")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("column", MOMENTS)
async def test_killed_at_every_write(room: Path, column: str) -> None:
    moment = MOMENTS[column]
    await played(room, column, kill(moment), moment)


@pytest.mark.slow
@pytest.mark.fault("D4")
@pytest.mark.fault("D5")
@pytest.mark.fault("D6")
@pytest.mark.fault("D7")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("column", FAULTS)
async def test_doubtful_answers_to_every_write(room: Path, column: str) -> None:
    await played(room, column, FAULTS[column])

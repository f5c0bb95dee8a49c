"""No bit of the database or its WAL, turned over, crashes the product or changes what it says
without a word. `TEST_FLIPS=5000` runs as many; `make soak` goes on with ever new ones."""

from __future__ import annotations

import os
from pathlib import Path

import bit_flips
import pytest

SEEDS = (1_125, 1_361)
"""Kept: each of them failed once."""


FLIPS = int(os.environ.get("TEST_FLIPS", "250"))


@pytest.mark.slow
@pytest.mark.timeout(600 + FLIPS)
@pytest.mark.fault("N7")
@pytest.mark.fault("A15")
@pytest.mark.fault("A16")
def test_turned_bits_are_named_or_harmless(room: Path) -> None:
    tally, told = bit_flips.campaign(room, [*SEEDS, *range(10_000, 10_000 + FLIPS)])
    assert told == []
    assert {"same", "named", "refused"} <= set(tally), tally

"""No bit of the database or its WAL, turned over, crashes the product or changes what it says
without a word. `TEST_FLIPS=5000` runs as many; `make soak` goes on with ever new ones."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import bit_flips
import msgspec
import pytest

from agent_work_orders.state_manager.sqlite import proof

SEEDS = (1_125, 1_361, 12_894)
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


PLANTED = {
    "a receipt": "UPDATE ledger SET receipt = replace(receipt, 'cccc', 'cccd') "
    "WHERE receipt LIKE '%cccc%'",
    "a role": "UPDATE api_keys SET role = 'admin'",
    "a log line": "UPDATE log_entries SET event = 'task_dome' WHERE event = 'task_done'",
    "a size": "UPDATE artifacts SET size_bytes = size_bytes + 1 WHERE name = 'plan.md'",
    "an answer": "UPDATE idempotency_keys SET order_id = 'wo-' || hex(order_id)",
    "a delivery": "UPDATE deliveries SET event = 'pinf' WHERE event = 'ping'",
    "a version": "UPDATE workflow_versions SET source = 'name: kepu' WHERE name = 'kept'",
    "a subject": "UPDATE order_subjects SET purpose = 'ruin'",
    "a session": "UPDATE sessions SET session_id = session_id || 'x'",
    "a branch": "UPDATE branches SET head_sha = 'c' || substr(head_sha, 2)",
    "a credential": "UPDATE credentials SET last4 = 'xxxx'",
    "a quota": "UPDATE quota SET state = '{}'",
    "the feed": "UPDATE feed SET at_ms = at_ms + 1",
}
"""Changes that leave a sensible row and a sound database."""


class _Anything(int):
    """A checksum that is always right."""

    def __ne__(self, other: object) -> bool:
        return False

    __eq__, __hash__ = int.__eq__, int.__hash__


def trusting(table: str, values: Sequence[Any]) -> int:
    return _Anything(crc32(msgspec.msgpack.encode(values), crc32(table.encode())))


def plant(home: Path, number: int) -> str:
    name = list(PLANTED)[number // 2]
    connection = sqlite3.connect(home / "journal.db")
    connection.execute("DROP TRIGGER workflow_versions_stay")
    changed = connection.execute(PLANTED[name]).rowcount
    connection.commit()
    connection.close()
    assert changed, name
    return name


@pytest.mark.slow
@pytest.mark.fault("N7")
def test_a_product_that_proves_nothing_is_found_out(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The positive control: the judge names each planted change when rows are believed, and only
    then. An even number is of the directory after a clean end, which has no WAL to be refused."""

    async def verdicts(originals: list[bit_flips.Original]) -> dict[str, str]:
        found = {}
        for place, name in enumerate(PLANTED):
            found[name], _ = await bit_flips.judge(originals, 2 * place, plant)
        return found

    async def run() -> None:
        originals = await bit_flips.populate(room)
        assert await verdicts(originals) == dict.fromkeys(PLANTED, "named")
        monkeypatch.setattr(proof, "checksum", trusting)
        assert await verdicts(originals) == dict.fromkeys(PLANTED, "failed")

    asyncio.run(run())

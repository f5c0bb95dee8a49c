"""Whatever a person does, at whatever moment: one pull request, theirs left alone, and an end.

What comes out is compared with `people_matrix.json`, which `make docs` puts into
docs/reliability.md. With WRITE_PEOPLE_MATRIX=1 (and one process) these tests write it anew.
"""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest
from people_actions import ACTIONS, give_access
from people_town import MOMENTS, Place, Town, opened

TABLE = Path(__file__).with_name("people_matrix.json")
NOTHING = "nothing there yet"
DECIDED = {
    "pull_request_closed": "ended by the person: closed",
    "pull_request_merged": "ended by the person: merged",
}
ENDS = ("completed", "ended by the person: ", "asks: ", NOTHING)


def committed() -> dict[str, dict[str, str]]:
    """By action, then by moment."""
    found: dict[str, dict[str, str]] = json.loads(TABLE.read_text("utf-8"))
    return found


def test_the_table_has_every_action_at_every_moment_and_every_end_is_one() -> None:
    table = committed()
    assert list(table) == list(ACTIONS)
    for row in table.values():
        assert list(row) == list(MOMENTS)
        assert all(end.startswith(ENDS) for end in row.values())
        # Who is asked can go on: what the order advised was done, and it came to its end.
        assert all(end.endswith("completed") for end in row.values() if end.startswith("asks"))


async def played(place: Place, action: str, moment: str) -> str:
    """How the order ended; what may never be is asserted here."""
    before, after = ACTIONS[action]
    act = before if moment == next(iter(MOMENTS)) else after
    if act is None:
        return NOTHING
    await place.reach(moment)
    stands = act(place)
    record = await place.until_ended()
    end = DECIDED.get(record.error_code or "") or record.status
    assert len(place.pulls) <= 1 and stands(), (action, moment, record)
    if end == "failed":
        assert record.error_hint, record
        give_access(place)
        again = await place.retry()
        end = f"asks: {record.error_code}; then {again.status}"
        assert len(place.pulls) <= 1 and stands(), (action, moment, again)
    if end.endswith("completed"):
        assert record.github_pull_request_url is None or place.number_in(
            (await place.record()).github_pull_request_url
        )
    return end


@pytest.mark.slow
@pytest.mark.fault("N1")
@pytest.mark.fault("N2")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("action", ACTIONS)
async def test_a_person_in_the_middle(room: Path, action: str) -> None:
    async with opened(room) as town:
        places = [await _order(town, moment) for moment in MOMENTS]
        plays = zip(places, MOMENTS, strict=True)
        ends = await asyncio.gather(*(played(place, action, moment) for place, moment in plays))
    row = dict(zip(MOMENTS, ends, strict=True))
    table = committed() if TABLE.exists() else {}
    if os.environ.get("WRITE_PEOPLE_MATRIX"):
        kept = {**table, action: row}
        ordered = {name: kept[name] for name in ACTIONS if name in kept}
        TABLE.write_text(json.dumps(ordered, indent=1) + "\n", "utf-8")
    else:
        assert row == table[action]


async def _order(town: Town, moment: str) -> Place:
    return await town.order(moment.replace(" ", "-"))

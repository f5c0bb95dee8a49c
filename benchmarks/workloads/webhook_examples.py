"""Every payload that GitHub publishes as an example, signed, by the clock to a real `awo up`:
at 200 a second, then 5,000 in ten seconds.

Each has a GUID of its own; what is looked at (two in five) is on the disk before it is answered.
"""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

from agent_work_orders.state_manager.sqlite.database import DATABASE_NAME
from benchmarks import deliveries, product, scratch
from benchmarks.deliveries import Answered, Example, quantile
from benchmarks.result import Failure, Measurement, Result
from benchmarks.rounds import Unable

SECRET = "secret-of-the-benchmark"
WARM_UP = 400
STEADY_PER_S, STORM_PER_S = 200, 500
FULL_S, QUICK_S = 10, 2


def run(quick: bool) -> Result:
    seconds = QUICK_S if quick else FULL_S
    values: dict[str, float] = {}
    with scratch.place("webhook_examples") as place:
        home = place / "home"
        home.mkdir()
        try:
            examples = deliveries.published()
            with product.server(home, {"GITHUB_WEBHOOK_SECRET": SECRET}) as server:
                asyncio.run(_sent(server.url, examples, WARM_UP, STEADY_PER_S, 1))
                for seed, (name, rate) in enumerate(
                    {"steady": STEADY_PER_S, "storm": STORM_PER_S}.items(), start=2
                ):
                    answers = asyncio.run(_sent(server.url, examples, rate * seconds, rate, seed))
                    took = [one.took_ms for one in answers]
                    values[f"{name}_p50_ms"] = quantile(took, 0.5)
                    values[f"{name}_p99_ms"] = quantile(took, 0.99)
                    values[f"{name}_max_ms"] = max(took)
                    values[f"{name}_lost"] = _lost(home, answers, seed)
        except Unable as reason:
            return Result(failures=[Failure(subject="awo", role="ours", error=str(reason))])
    return Result(
        measurements=[
            Measurement(subject="awo", role="ours", metric=metric, value=value)
            for metric, value in values.items()
        ]
    )


async def _sent(
    url: str, examples: list[Example], count: int, rate: int, seed: int
) -> list[Answered]:
    what = deliveries.requests(url, SECRET, examples, count, seed)
    return await deliveries.send(url, what, rate)


def _lost(home: Path, answers: list[Answered], seed: int) -> int:
    """Refused ones, and accepted ones that are not in the store."""
    refused = sum(not 200 <= one.status < 300 for one in answers)
    accepted = sum(b'"accepted"' in one.body for one in answers)
    fresh = deliveries.guids(seed)
    mine = (next(fresh), next(deliveries.guids(seed + 1)))
    database = sqlite3.connect(f"file:{home / DATABASE_NAME}?mode=ro", uri=True)
    try:
        query = "SELECT count(*) FROM deliveries WHERE delivery_id >= ? AND delivery_id < ?"
        kept: int = database.execute(query, mine).fetchone()[0]
    finally:
        database.close()
    return refused + accepted - kept

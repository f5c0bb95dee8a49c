"""`awo up` on an empty home: how long until it is ready, and what it weighs when idle."""

from __future__ import annotations

import statistics
import time

from benchmarks import product, scratch
from benchmarks.result import Failure, Measurement, Result
from benchmarks.rounds import Unable

ROUNDS = 5
SETTLE_S = 2.0


def run(quick: bool) -> Result:
    ready_s: list[float] = []
    idle_mb: list[float] = []
    for _ in range(1 if quick else ROUNDS):
        try:
            with scratch.place("server_ready") as home, product.server(home) as server:
                ready_s.append(server.ready_s)
                time.sleep(SETTLE_S)
                idle_mb.append(server.program.rss_bytes() / 1e6)
        except Unable as reason:
            return Result(failures=[Failure(subject="awo", role="ours", error=str(reason))])
    return Result(
        measurements=[
            Measurement(
                subject="awo",
                role="ours",
                metric=metric,
                value=statistics.median(values),
                samples=values,
            )
            for metric, values in (("ready_s", ready_s), ("rss_idle_mb", idle_mb))
        ]
    )

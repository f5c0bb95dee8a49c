"""kill -9 with 1,000 open orders, 100 of them running: from starting the process again until all
are open and 100 run; then all are let go, and each must have ended once.

The same process as in `open_orders`. What ran when the kill came may run again; what the next
task was built on, or an end that was told, may not.
"""

from __future__ import annotations

import time

from benchmarks import scratch, witness
from benchmarks.held_orders import TASKS
from benchmarks.result import Failure, Measurement, Result
from benchmarks.workloads.open_orders import Broke, listen, start

ORDERS, RUNNING = 1000, 100
QUICK_ORDERS, QUICK_RUNNING = 100, 10
ROUNDS = 3


def run(quick: bool) -> Result:
    orders, at_once = (QUICK_ORDERS, QUICK_RUNNING) if quick else (ORDERS, RUNNING)
    resumed: list[float] = []
    wrong = repeated = 0
    for _ in range(1 if quick else ROUNDS):
        try:
            took_s, verdict = _kill_and_resume(orders, at_once)
        except Broke as reason:
            return Result(failures=[Failure(subject="awo", role="ours", error=str(reason))])
        resumed.append(took_s)
        wrong += verdict.lost + verdict.repeated_acknowledged
        repeated = max(repeated, verdict.repeated_in_flight)
    values = {"resumed_s": max(resumed), "lost_or_doubled": wrong, "repeated_in_flight": repeated}
    return Result(
        measurements=[
            Measurement(
                subject="awo",
                role="ours",
                metric=metric,
                value=value,
                samples=resumed if metric == "resumed_s" else [],
                size=orders,
            )
            for metric, value in values.items()
        ],
        facts={"resumed_s": "the slowest round", "tools": "wait at a gate; no sandboxes, no HTTP"},
    )


def _kill_and_resume(orders: int, at_once: int) -> tuple[float, witness.Verdict]:
    with scratch.place("restart_open_orders") as home:
        gate, seen = home / "gate", home / "witness"
        gate.touch()
        seen.touch()
        with start(home, orders, at_once, ["--gate", str(gate)]) as program:
            listen(program, home, "held")
        begin = time.perf_counter()
        with start(home, orders, at_once, ["--gate", str(gate)]) as program:
            held = listen(program, home, "held")
            took_s = time.perf_counter() - begin
            if held["open"] != orders:
                raise Broke(f"{held['open']} of {orders} orders were open after the restart")
            gate.unlink()
            listen(program, home, "result")
        runs = [f"crash-{number}" for number in range(orders)]
        return took_s, witness.judge(seen.read_text(), runs, TASKS)

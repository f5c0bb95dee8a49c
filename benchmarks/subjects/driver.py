"""Drives one subject through the durable no-op tasks, in the subject's own environment.

Only the standard library is imported here, because this file runs beside every peer.

A subject says how to start itself, how to bring one run to its end, and how to stop. `run` must
be safe to call again with the same id after a crash: it attaches to what is there and never
starts a second run. A task does nothing but call `mark(run_id, index)`, in the driver's process.

The driver answers on its standard output in JSON lines: `{"phase": …}` while it works, which
lets the harness attribute memory, and one `{"result": …}` at the end. Whatever a library prints
goes to standard error instead.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import itertools
import json
import os
import signal
import socket
import statistics
import struct
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

Mark = Callable[[str, int], None]

WARM_UP_SHARES = (20, 5)
"""Warm-up rounds have a twentieth and a fifth of the size: enough to fill caches and to estimate
the rate. The second is left out for a subject that would take longer than a round for it."""

ROUND_BUDGET_S = 8.0
"""A slow subject gets fewer orders or tasks, so that one round ends in about this time. The
fastest peer, whom the bars name, needs about half of it for the largest workload."""

SETTLE_S = 1.0
"""How long a started subject is left alone before its idle memory counts."""


OWN_NETWORK = "BENCH_OWN_NETWORK"
"""Set when the harness gave this process a network of its own, out of which nothing leads."""

SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 0x1, 0x40  # linux/sockios.h, linux/if.h


class Subject(Protocol):
    concurrent_runs: int
    """How many runs may be open at once; a subject that fails under more says so here."""

    async def start(self, home: Path, mark: Mark) -> None:
        """Open or recover everything under `home`; return when runs are accepted."""
        ...

    async def run(self, run_id: str, shape: str, tasks: int) -> None:
        """Start the run or attach to it; return when its end is durable. `shape` is `chain`
        (each task after the one before) or `fan_out` (all at once)."""
        ...

    async def stop(self) -> None: ...


class Stopwatch:
    """Notes when each task ran."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def __call__(self, run_id: str, index: int) -> None:
        self.times.append(time.perf_counter())


class Witness:
    """Writes each task's execution to a file that outlives a killed process.

    After `stop_after` executions it freezes the process, so that the kill finds also a fast
    subject in the middle, with a task that has run and whose result is not recorded.
    """

    def __init__(self, path: Path, stop_after: int) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._lock = threading.Lock()
        self._left = stop_after

    def __call__(self, run_id: str, index: int) -> None:
        self._write(f"{run_id} {index}\n")
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGSTOP)

    def done(self, run_id: str) -> None:
        self._write(f"{run_id} done\n")

    def _write(self, line: str) -> None:
        with self._lock:
            os.write(self._fd, line.encode())


class Answers:
    """The driver's real standard output; everything else that prints is sent to stderr."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", buffering=1)
        os.dup2(2, 1)

    def say(self, **message: Any) -> None:
        self._out.write(json.dumps(message) + "\n")
        self._out.flush()


async def _many(
    subject: Subject, prefix: str, orders: int, tasks: int, done: Callable[[str], None]
) -> None:
    gate = asyncio.Semaphore(subject.concurrent_runs)

    async def one(run_id: str) -> None:
        async with gate:
            await subject.run(run_id, "chain", tasks)
        done(run_id)

    await asyncio.gather(*(one(f"{prefix}-{number}") for number in range(orders)))


def _ignore(run_id: str) -> None:
    return None


async def _round(
    subject: Subject, workload: str, run_id: str, size: int, order_tasks: int
) -> float:
    begin = time.perf_counter()
    if workload == "orders":
        await _many(subject, run_id, size, order_tasks, _ignore)
    else:
        await subject.run(run_id, workload, size)
    return time.perf_counter() - begin


def _quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


async def _measure(
    subject: Subject, options: argparse.Namespace, answers: Answers
) -> dict[str, Any]:
    stopwatch = Stopwatch()
    begin = time.perf_counter()
    await subject.start(options.home, stopwatch)
    found: dict[str, Any] = {"start_s": time.perf_counter() - begin}
    answers.say(phase="idle")
    await asyncio.sleep(SETTLE_S)
    for workload in ("chain", "fan_out", "orders"):
        found[workload] = await _workload(subject, workload, options, answers, stopwatch)
    answers.say(phase="stop")
    await subject.stop()
    return found


async def _workload(
    subject: Subject,
    workload: str,
    options: argparse.Namespace,
    answers: Answers,
    stopwatch: Stopwatch,
) -> dict[str, Any]:
    wanted: int = getattr(options, workload)
    per_unit = options.order_tasks if workload == "orders" else 1
    answers.say(phase=workload)
    size = 1
    for share in WARM_UP_SHARES:
        warm = max(1, wanted // share)
        if share != WARM_UP_SHARES[0] and size < warm:
            break
        name = f"{workload}-warm-{share}"
        warm_s = await _round(subject, workload, name, warm, options.order_tasks)
        size = max(1, min(wanted, int(warm * ROUND_BUDGET_S / warm_s)))
    rates: list[float] = []
    steps: list[float] = []
    for number in range(options.rounds):
        stopwatch.times.clear()
        took = await _round(subject, workload, f"{workload}-{number}", size, options.order_tasks)
        times = list(stopwatch.times)
        if len(times) != size * per_unit:
            raise SystemExit(f"{workload}: {len(times)} executions of {size * per_unit} tasks")
        rates.append(size * per_unit / took)
        steps += [later - earlier for earlier, later in itertools.pairwise(times)]
    found: dict[str, Any] = {"size": size, "rates": rates, "rate": statistics.median(rates)}
    if workload == "chain":
        found["p50_ms"] = _quantile(steps, 0.50) * 1000
        found["p99_ms"] = _quantile(steps, 0.99) * 1000
    return found


async def _crash(subject: Subject, options: argparse.Namespace) -> dict[str, Any]:
    """Run the orders; the harness kills this process on the way, then starts it again with the
    same home, where the same calls attach to what is left."""
    witness = Witness(options.witness, options.stop_after)
    await subject.start(options.home, witness)
    await _many(subject, "crash", options.orders, options.order_tasks, witness.done)
    return {}


def _raise_loopback() -> None:
    """A new network namespace has its loopback down. `ifreq` is 16 bytes of name, then flags."""
    request = struct.pack("16sH14x", b"lo", IFF_UP | IFF_RUNNING)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, request)


def main(subject: Subject) -> None:
    if os.environ.get(OWN_NETWORK):
        _raise_loopback()
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["measure", "crash"])
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--witness", type=Path)
    parser.add_argument("--stop-after", type=int, default=0)
    parser.add_argument("--chain", type=int, default=100)
    parser.add_argument("--fan-out", type=int, default=500)
    parser.add_argument("--orders", type=int, default=200)
    parser.add_argument("--order-tasks", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    answers = Answers()

    async def drive() -> None:
        if options.mode == "measure":
            answers.say(result=await _measure(subject, options, answers))
        else:
            answers.say(result=await _crash(subject, options))
        sys.stderr.flush()
        # Everything is measured, and some peers' threads never end: leave without them. The
        # harness ends what is left of the process tree.
        os._exit(0)

    asyncio.run(drive())

"""Durable no-op tasks: a chain of 100, a fan-out of 500, 200 orders of 5, and kill -9 amid them.

Every subject runs by itself, one after the other, on an empty home. The kill hits the driver and
every server it started when half of the tasks have run; the clock of the restart runs from
starting the driver anew to the durable end of all orders.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import environments, scratch, witness
from benchmarks.processes import Program, Scale, alone, running
from benchmarks.result import ROOT, Failure, Measurement, Result

SUBJECT_LIMIT_S = 600.0
RESTART_LIMIT_S = 180.0
ROUNDS = 3
FULL = {"--chain": 100, "--fan-out": 500, "--orders": 200}
QUICK = {"--chain": 20, "--fan-out": 50, "--orders": 10}
ORDER_TASKS = 5


class Broke(Exception):
    """The subject ended without a result."""


def run(quick: bool, only: list[str] | None = None) -> Result:
    measurements: list[Measurement] = []
    failures: list[Failure] = []
    facts: dict[str, str] = {"network": "own namespace" if alone()[0] else "shared"}
    for subject in environments.catalogue():
        if only and subject.name not in only:
            continue
        print(f"  {subject.name}", file=sys.stderr, flush=True)
        try:
            python, env = environments.provide(subject)
            facts[subject.name] = environments.versions(python, subject)
            for measurement in _subject(subject, python, env, quick):
                measurements.append(measurement)
        except (environments.NotInstalled, Broke) as failed:
            failures.append(Failure(subject=subject.name, role=subject.role, error=str(failed)))
    return Result(measurements=measurements, failures=failures, facts=facts)


def _subject(
    subject: environments.Subject, python: Path, env: dict[str, str], quick: bool
) -> Iterator[Measurement]:
    """Yields what it has, so that a subject which breaks on the way keeps its earlier numbers."""
    sizes = dict(QUICK if quick else FULL)
    found = _measure(subject, python, env, sizes, rounds=1 if quick else ROUNDS)
    yield from _rates(subject, found)
    yield from _crash(subject, python, env, int(found["orders"]["size"]))


def _measure(
    subject: environments.Subject,
    python: Path,
    env: dict[str, str],
    sizes: dict[str, int],
    rounds: int,
) -> dict[str, Any]:
    asked = [part for name, size in sizes.items() for part in (name, str(size))]
    with (
        scratch.place(f"{subject.name}-measure") as home,
        _driver(
            python, subject, env, home, ["measure", *asked, "--rounds", str(rounds)]
        ) as program,
    ):
        with Scale(program) as scale:
            found = _answer(program, home, SUBJECT_LIMIT_S, scale)
        found["rss"] = scale.peak_bytes
    return found


def _rates(subject: environments.Subject, found: dict[str, Any]) -> list[Measurement]:
    def one(metric: str, value: float, **more: Any) -> Measurement:
        return Measurement(
            subject=subject.name, role=subject.role, metric=metric, value=value, **more
        )

    busy = [found["rss"][phase] for phase in ("chain", "fan_out", "orders")]
    rates = [
        one(
            f"{name}_rate",
            found[name]["rate"],
            samples=found[name]["rates"],
            size=found[name]["size"],
        )
        for name in ("chain", "fan_out", "orders")
    ]
    return [
        *rates,
        one("chain_p50_ms", found["chain"]["p50_ms"]),
        one("chain_p99_ms", found["chain"]["p99_ms"]),
        one("start_s", found["start_s"]),
        one("rss_idle_mb", found["rss"]["idle"] / 1e6),
        one("rss_peak_mb", max(busy) / 1e6),
    ]


def _crash(
    subject: environments.Subject, python: Path, env: dict[str, str], orders: int
) -> list[Measurement]:
    with scratch.place(f"{subject.name}-crash") as home:
        seen = home / "witness"
        seen.touch()
        asked = [
            "crash",
            "--witness",
            str(seen),
            "--orders",
            str(orders),
            "--order-tasks",
            str(ORDER_TASKS),
        ]
        half = orders * ORDER_TASKS // 2
        with _driver(python, subject, env, home, [*asked, "--stop-after", str(half)]) as program:
            _await_half(program, home, seen, half)
        begin = time.perf_counter()
        with _driver(python, subject, env, home, asked) as program:
            _answer(program, home, RESTART_LIMIT_S, None)
            took = time.perf_counter() - begin
        verdict = witness.judge(
            seen.read_text(), [f"crash-{n}" for n in range(orders)], ORDER_TASKS
        )
    found = {
        "restart_s": took,
        "lost": verdict.lost,
        "repeated_in_flight": verdict.repeated_in_flight,
        "repeated_acknowledged": verdict.repeated_acknowledged,
    }
    return [
        Measurement(
            subject=subject.name, role=subject.role, metric=metric, value=value, size=orders
        )
        for metric, value in found.items()
    ]


def _await_half(program: Program, home: Path, seen: Path, half: int) -> None:
    limit = time.perf_counter() + SUBJECT_LIMIT_S
    while sum(not line.endswith(b"done") for line in seen.read_bytes().splitlines()) < half:
        if program.popen.poll() is not None:
            raise Broke(f"ended before it could be killed: {_last_words(home)}")
        if time.perf_counter() > limit:
            raise Broke(f"did not run {half} tasks in {SUBJECT_LIMIT_S:.0f} s")
        time.sleep(0.002)


def _driver(
    python: Path, subject: environments.Subject, env: dict[str, str], home: Path, asked: list[str]
) -> Any:
    prefix, network = alone()
    return running(
        [
            *prefix,
            str(python),
            "-m",
            f"benchmarks.subjects.{subject.name}",
            *asked,
            "--home",
            str(home),
        ],
        cwd=home,
        log=home / "driver.log",
        env={**os.environ, **env, **network, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
    )


def _answer(program: Program, home: Path, limit_s: float, scale: Scale | None) -> dict[str, Any]:
    """Read the driver's lines until its result; a driver that takes too long is killed, which
    ends the reading."""
    late = threading.Event()

    def give_up() -> None:
        late.set()
        program.kill()

    timer = threading.Timer(limit_s, give_up)
    timer.start()
    try:
        assert program.popen.stdout is not None
        for line in program.popen.stdout:
            message = json.loads(line)
            if "result" in message:
                result: dict[str, Any] = message["result"]
                return result
            if scale:
                scale.turn(message["phase"])
    finally:
        timer.cancel()
    raise Broke(f"took longer than {limit_s:.0f} s" if late.is_set() else _last_words(home))


def _last_words(home: Path) -> str:
    for name in ("driver.log", "server.log"):
        lines = (
            (home / name).read_text(errors="replace").splitlines() if (home / name).exists() else []
        )
        if said := [line.strip() for line in lines if line.strip()]:
            return said[-1][:300]
    return "ended without a result and without a word"

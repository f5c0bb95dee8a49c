"""Reads what the tasks wrote down around a crash: pure, text in, counts out.

Each line is `<run> <index>` when a task ran, or `<run> done` when the run's end was told. A task
counts as acknowledged once the next task of its chain has run, or its run was done: by then the
engine had its result on disk. Running it again after that is a defect; running again what was in
flight at the kill is what at-least-once allows.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Verdict:
    lost: int
    repeated_in_flight: int
    repeated_acknowledged: int


def judge(text: str, runs: list[str], tasks: int) -> Verdict:
    furthest = dict.fromkeys(runs, -1)
    ran: dict[str, set[int]] = {run: set() for run in runs}
    done: set[str] = set()
    in_flight = acknowledged = 0
    for line in text.splitlines():
        run, _, what = line.partition(" ")
        if what == "done":
            done.add(run)
            continue
        index = int(what)
        if index in ran[run]:
            if index < furthest[run] or run in done:
                acknowledged += 1
            else:
                in_flight += 1
        ran[run].add(index)
        furthest[run] = max(furthest[run], index)
    lost = sum(tasks - len(ran[run]) for run in runs) + sum(run not in done for run in runs)
    return Verdict(lost=lost, repeated_in_flight=in_flight, repeated_acknowledged=acknowledged)

"""`python -m benchmarks run|check|render`."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys

from agent_work_orders.clock import SystemClock, iso
from benchmarks import bars, environments, machine, report, result, workloads

WORKLOADS = sorted(module.name for module in pkgutil.iter_modules(workloads.__path__))
"""Every module in workloads/: adding one is enough."""


def run(options: argparse.Namespace) -> int:
    chosen = options.only or list(WORKLOADS)
    path = result.QUICK_RESULTS if options.quick else result.RESULTS
    kept = result.read(path)
    results = result.Results(
        quick=options.quick,
        machine=machine.facts(),
        workloads=dict(kept.workloads) if kept else {},
    )
    clock = SystemClock()
    for name in chosen:
        print(f"{name} …", file=sys.stderr, flush=True)
        at, begin = iso(clock.now_ms()), clock.monotonic_s()
        found = importlib.import_module(f"benchmarks.workloads.{name}").run(options.quick)
        results.workloads[name] = result.Entry(
            at=at,
            commit=machine.commit(),
            took_s=clock.monotonic_s() - begin,
            result=result.publishable(found),
        )
        # Written after each workload: an interrupted run keeps what it has.
        result.write(results, path)
    if not options.quick:
        _render(results)
    _tell(results, chosen)
    return 0


def check() -> int:
    found = bars.complaints(result.read(result.RESULTS), bars.load_bars(), bars.load_excuses())
    for line in found:
        print(line)
    print(f"{len(found)} complaint(s)" if found else "every bar is met or listed with a reason")
    return 1 if found else 0


def _render(results: result.Results) -> None:
    titles = {one.name: one.title for one in environments.catalogue()}
    text = report.page(results, bars.load_bars(), bars.load_excuses(), titles)
    result.PAGE.parent.mkdir(exist_ok=True)
    result.PAGE.write_text(text)


def _tell(results: result.Results, chosen: list[str]) -> None:
    for name in chosen:
        entry = results.workloads[name]
        for one in entry.result.measurements:
            print(f"{name:20} {one.subject:16} {one.metric:22} {one.value:12.4g}")
        for failed in entry.result.failures:
            print(f"{name:20} {failed.subject:16} failed: {failed.error}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    verbs = parser.add_subparsers(dest="verb", required=True)
    runs = verbs.add_parser("run", help="measure, keep the results, render the page")
    runs.add_argument("--quick", action="store_true", help="small sizes, kept apart: a smoke test")
    runs.add_argument("--only", action="append", choices=WORKLOADS, help="repeatable")
    verbs.add_parser("check", help="exit 1 on a missed or missing bar without a listed reason")
    verbs.add_parser("render", help="write docs/benchmarks.md again from the results")
    options = parser.parse_args()
    if options.verb == "run":
        return run(options)
    if options.verb == "check":
        return check()
    kept = result.read(result.RESULTS)
    if kept is None:
        print("there are no results; run the benchmarks first")
        return 1
    _render(kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Fills a data directory with many ended orders, and one order with a very long log.

`python seed.py --home H [--orders 10000] [--lines 100000]`

Every order goes through the product's own machine, journal and records, so that the server finds
what it would have written itself. The same arguments make the same content.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_work_orders import settings as setting
from agent_work_orders.bootstrap import open_upkeep
from agent_work_orders.state_manager.journal import Commit, EventRow
from agent_work_orders.state_manager.store import Store
from agent_work_orders.work_orders import workflows
from agent_work_orders.work_orders.cache import Compiled
from agent_work_orders.work_orders.read_side import projection
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine import plan as plans
from agent_work_orders.workflow_engine import run as runs
from agent_work_orders.workflow_engine.machine import advance

WORKFLOWS = ("agent_workflow_plan_build", "agent_workflow_plan", "agent_workflow_build")
REPOSITORIES = ("shop/basket", "shop/checkout", "infra/deploy", "docs/handbook")
WISHES = (
    "Total forgets quantities",
    "Retry the payment when the gateway times out",
    "Move the deploy to the new cluster",
    "Explain discounts in the handbook",
    "Speed up the search of orders",
)
START_MS = 1_780_000_000_000
MINUTE_MS = 60_000
LINE_BYTES = 500
"""100,000 lines of this make 50 MB."""
BATCH = 500
LINES = 10_000


def order_id(number: int) -> str:
    digest = hashlib.sha256(f"order {number}".encode()).digest()[:10]
    return "wo-" + base64.b32encode(digest).decode().lower()


def order(number: int, workflow: str) -> dict[str, Any]:
    repository = REPOSITORIES[number % len(REPOSITORIES)]
    wish = WISHES[number % len(WISHES)]
    return {
        "order_id": order_id(number),
        "repository_url": f"https://git.example/{repository}.git",
        "repository": f"git.example/{repository}",
        "base_branch": "main",
        "branch": f"feat-issue-{number + 1}-{order_id(number)}",
        "sandbox_type": "git_worktree",
        "agent": {"name": "scripted"},
        "workflow": workflow,
        "workflow_kind": "custom",
        "prompt": f"{wish} (issue {number + 1})",
        "title": f"{wish} #{number + 1}",
        "github_issue_number": str(number + 1),
        "priority": number % 4,
        "metered": False,
    }


def outputs(uses: str, number: int) -> dict[str, Any]:
    if uses == "forge.open_pull_request":
        return {"url": f"https://git.example/pull/{number + 1}", "number": number + 1}
    sha = hashlib.sha1(f"commit {number}".encode(), usedforsecurity=False).hexdigest()
    return {
        "text": "Done.",
        "session_id": f"session-{number}",
        "commit": sha,
        "changed": True,
        "no_changes": False,
        "files_changed": 1 + number % 7,
        "scripted": True,
    }


def history(number: int, compiled: Compiled) -> Iterator[on.AnyEvent]:
    """What happened to an order: of ten, seven succeed, two fail, one is cancelled."""
    at_ms = START_MS + number * MINUTE_MS
    yield on.Submitted(
        at_ms=at_ms,
        plan_hash=compiled.plan_hash,
        inputs={},
        order=order(number, compiled.plan.name),
        by="local",
    )
    usage = on.Usage(cost_usd=0.01 * (1 + number % 90), input_tokens=1200, output_tokens=300)
    for step, (path, task) in enumerate(compiled.plan.body.tasks.items(), start=1):
        at_ms += 20_000
        yield on.TaskStarted(at_ms=at_ms, path=path, attempt=1)
        if number % 10 == 9:
            yield on.CancelAsked(at_ms=at_ms + 5_000, by="local")
            yield on.TaskLost(at_ms=at_ms + 6_000, path=path, attempt=1)
            return
        if number % 10 in (3, 7) and step == 1:
            failure = on.Failure(
                category="permanent",
                code="agent_failed",
                message="The agent ended with exit code 1",
                hint="Read the transcript, then retry.",
            )
            yield on.TaskFailed(
                at_ms=at_ms + 9_000, path=path, attempt=1, failure=failure, usage=usage
            )
            return
        made = outputs(task.uses or "", number)
        yield on.TaskSucceeded(
            at_ms=at_ms + 15_000, path=path, attempt=1, outputs=made, usage=usage
        )


async def add_order(store: Store, number: int, compiled: Compiled) -> asyncio.Future[None]:
    run_id = order_id(number)
    run, rows = runs.fresh(run_id, compiled.plan, compiled.plan_hash), list[EventRow]()
    for event in history(number, compiled):
        run = advance(run, event).run
        rows.append(
            EventRow(
                run_id=run_id,
                seq=len(rows) + 1,
                at_ms=event.at_ms,
                kind=on.kind_of(event),
                body=on.encode(event),
            )
        )
    if run.stage != "ended":
        raise SystemExit(f"order {number} did not end: {run.stage}")
    done = store.journal.append(
        Commit(
            run_id=run_id,
            events=tuple(rows),
            ended=True,
            plan=(compiled.plan_hash, plans.encode(compiled.plan)),
        )
    )
    store.records.upsert_lazily(projection.record(run, len(rows)))
    return done


def add_lines(store: Store, number: int, first: int, count: int) -> None:
    levels = ("info", "info", "info", "debug", "warning", "info", "info", "error")
    for line in range(first, first + count):
        said = f"line {line} of the build: compiling module_{line % 997}.py "
        store.logbook.add(
            order_id(number),
            at_ms=START_MS + number * MINUTE_MS + line,
            level=levels[line % len(levels)],
            event="build_output",
            fields={"task": "build", "text": said + "x" * (LINE_BYTES - len(said))},
        )


async def fill(home: Path, orders: int, lines: int) -> None:
    settings = setting.changed(setting.load({}, home=home), {"storage.synchronous": "NORMAL"})
    async with open_upkeep(settings) as context:
        store = context.store
        compiled = [workflows.compile_named(context, name) for name in WORKFLOWS]
        for one in compiled:
            await workflows.keep(context, one, "local")
        for first in range(0, orders, BATCH):
            numbers = range(first, min(first + BATCH, orders))
            await asyncio.gather(
                *[await add_order(store, n, compiled[n % len(compiled)]) for n in numbers]
            )
        # The newest order is the first row of the table: its log is the long one.
        for first in range(0, lines, LINES):
            add_lines(store, orders - 1, first, min(LINES, lines - first))
            await asyncio.sleep(0.06)  # the writer gathers lines for 50 ms


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--orders", type=int, default=10_000)
    parser.add_argument("--lines", type=int, default=100_000)
    options = parser.parse_args()
    asyncio.run(fill(options.home, options.orders, options.lines))
    print(order_id(options.orders - 1))


if __name__ == "__main__":
    main()

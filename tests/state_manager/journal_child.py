"""A process that appends to runs and prints what was acknowledged, until it is killed.

usage: journal_child.py HOME RUNS [LIMIT]
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from agent_work_orders.clock import SystemClock
from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.state_manager.journal import Commit, LoadedRun
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.testing.conformance.journal import effect, event


def say(line: str) -> None:
    os.write(1, line.encode() + b"\n")


async def work(store: SqliteStore, run_id: str, limit: int) -> None:
    found = await store.journal.load_run(run_id)
    seq = len(found.events) if isinstance(found, LoadedRun) else 0
    while seq < limit:
        seq += 1
        await store.journal.append(
            Commit(
                run_id=run_id,
                events=(event(run_id, seq),),
                effects=(effect(run_id, f"perform:{seq}"),),
                done_effects=(f"perform:{seq - 1}",),
            )
        )
        say(f"{run_id} {seq}")


async def main() -> None:
    signal.alarm(60)  # a broken journal must not leave this process behind
    home, runs = Path(sys.argv[1]), int(sys.argv[2])
    limit = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000
    store = SqliteStore.open(home, SystemClock())
    say("open")
    try:
        await asyncio.gather(*(work(store, f"wo-{n}", limit) for n in range(runs)))
    except AgentWorkOrdersError as error:
        say(f"failed {error.code} {store.trouble()}")
        try:
            store.journal.append(Commit(run_id="wo-late", events=(event("wo-late", 1),)))
        except AgentWorkOrdersError as late:
            say(f"refused {late.code}")
        os._exit(3)
    await store.close()


asyncio.run(main())

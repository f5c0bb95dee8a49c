"""Making the read side again from the journal: every order and every question, none invented."""

from __future__ import annotations

import msgspec

from agent_work_orders.engines.embedded.held import restore
from agent_work_orders.state_manager.journal import LoadedRun, Quarantined
from agent_work_orders.state_manager.sqlite.journal import SqliteJournal
from agent_work_orders.work_orders.rooms import Rooms
from agent_work_orders.work_orders.scribe import Scribe
from agent_work_orders.workflow_engine.plan import Plan


class Rebuilt(msgspec.Struct, frozen=True, kw_only=True):
    runs: int
    damaged: tuple[Quarantined, ...]
    """Left out: their journal does not verify."""


async def rebuild(rooms: Rooms, journal: SqliteJournal) -> Rebuilt:
    """For a store that nothing else uses meanwhile. A crash in the middle is mended by another
    rebuild: the journal is not touched."""
    await rooms.records.truncate_projection()
    scribe, plans = Scribe(rooms), dict[bytes, Plan]()
    count, damaged, after = 0, list[Quarantined](), ""
    while page := journal.run_ids(after):
        for run_id in page:
            loaded = journal.load_run(run_id)
            if isinstance(loaded, LoadedRun):
                held = restore(loaded, plans)
                await scribe.renew(held.run, held.seq)
                count += 1
            elif loaded is not None:
                damaged.append(loaded)
        after = page[-1]
    return Rebuilt(runs=count, damaged=tuple(damaged))

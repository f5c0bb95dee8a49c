"""Which runs the engine has in memory: all that are open, the last that ended, no damaged one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable

from agent_work_orders import ids
from agent_work_orders.engines.embedded.kept_run import KeptRun, restore
from agent_work_orders.engines.embedded.lanes import Takes
from agent_work_orders.engines.replay import set_aside
from agent_work_orders.state_manager.journal import Journal, Loaded, LoadedRun, Quarantined
from agent_work_orders.workflow_engine import effects
from agent_work_orders.workflow_engine.plan import Plan

KEEP_ENDED = 256


class Memory:
    def __init__(
        self, journal: Journal, takes: Takes, forgotten: Callable[[KeptRun], None]
    ) -> None:
        """`forgotten` hears of every run that leaves the open ones."""
        self.open: dict[str, KeptRun] = {}
        self.left: set[str] = set()
        """Open runs that were not taken up: they can be read, and stay as they are until somebody
        wants something of their order."""
        self.quarantined: dict[str, Quarantined] = {}
        self._journal = journal
        self._takes = takes
        self._forgotten = forgotten
        self._ended: OrderedDict[str, KeptRun] = OrderedDict()
        self._plans: dict[bytes, Plan] = {}

    def here(self, run_id: str) -> KeptRun | None:
        """A run that is in memory: every open one is. Conflict `run_quarantined`."""
        if run_id in self.quarantined:
            raise set_aside(self.quarantined[run_id])
        kept = self.open.get(run_id)
        if kept is None and run_id in self._ended:
            kept = self._taken(run_id, self._ended.pop(run_id))
        return kept

    async def find(self, run_id: str) -> KeptRun | None:
        """Any run, read from the journal if need be. Conflict `run_quarantined`."""
        kept = self.here(run_id)
        if kept is not None:
            return kept
        loaded = await self._journal.load_run(run_id)
        kept = self.here(run_id)
        if kept is not None:  # begun or read by somebody else meanwhile: there is only one
            return kept
        if isinstance(loaded, Quarantined):
            self.quarantined[run_id] = loaded
            raise set_aside(loaded)
        return None if loaded is None else self._taken(run_id, restore(loaded, self._plans))

    def _taken(self, run_id: str, kept: KeptRun) -> KeptRun:
        if run_id in self.left:
            return kept
        self.open[run_id] = kept
        self.retire(kept)
        return kept

    def keep(self, kept: KeptRun) -> None:
        """Something happened to the run: it is open, also if it had ended."""
        self.open[kept.run.run_id] = kept
        self._ended.pop(kept.run.run_id, None)

    def retire(self, kept: KeptRun) -> None:
        """An ended run leaves the open ones once nothing of it is owed."""
        run = kept.durable
        if run.stage != "ended" or kept.pending or kept.owed or kept.run is not run:
            return
        if self.open.pop(run.run_id, None) is not None:
            self._forgotten(kept)
            self._ended[run.run_id] = kept
            if len(self._ended) > KEEP_ENDED:
                self._ended.popitem(last=False)

    def take(self, loaded: Loaded) -> list[tuple[KeptRun, LoadedRun]]:
        """Everything open anew, as the journal has it."""
        self._ended.clear()
        self.quarantined = {broken.run_id: broken for broken in loaded.quarantined}
        own = {ids.order_of(run_id) for run_id in self.open}  # what began here, after trouble
        orders = {row.run_id: ids.order_of(row.run_id) for row in loaded.runs}
        self.left = {run for run, one in orders.items() if one not in own and not self._takes(one)}
        kept = self._restored(row for row in loaded.runs if row.run_id not in self.left)
        self.open = {one.run.run_id: one for one, _ in kept}
        return kept

    async def take_left(self, run_id: str) -> list[tuple[KeptRun, LoadedRun]]:
        """The runs of an order that was left: its main run and its children, or nothing."""
        if run_id not in self.left:
            return []
        order_id = ids.order_of(run_id)
        own = sorted(run for run in self.left if ids.order_of(run) == order_id)
        loaded = [(run, await self._journal.load_run(run)) for run in own]
        if run_id not in self.left:  # somebody else asked for it meanwhile
            return []
        self.left.difference_update(own)
        self.quarantined |= {run: row for run, row in loaded if isinstance(row, Quarantined)}
        found = self._restored(row for _, row in loaded if isinstance(row, LoadedRun))
        self.open |= {one.run.run_id: one for one, _ in found}
        return found

    def _restored(self, rows: Iterable[LoadedRun]) -> list[tuple[KeptRun, LoadedRun]]:
        kept = []
        for row in rows:
            try:
                for effect in row.effects:
                    effects.decode(effect.body)
                kept.append((restore(row, self._plans), row))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                # The rows verify and make no run: written by something else than this program.
                reason = f"it cannot be replayed ({error})"
                broken = Quarantined(run_id=row.run_id, seq=0, reason=reason)
                self.quarantined[row.run_id] = broken
        return kept

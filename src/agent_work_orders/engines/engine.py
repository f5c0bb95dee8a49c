"""The contract of an engine: it keeps runs, feeds them events and performs their effects.

- `submit` and `post` return after the event is durable. An event that changes nothing (late,
  duplicate, not allowed in this state) is accepted and dropped: `post` returns False.
- Between `start` and `stop` every open run makes progress; after a crash, `start` goes on from
  the last durable event and performs again only what has no result.
- Observers are called on the loop after the commit, in the order of the events of a run. Only
  `TaskStarted`, which is advisory, may be seen before it is durable.
- How a run queues is part of its `Submitted.order`: `repository`, `priority` (0 to 3), `metered`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from agent_work_orders.workflow_engine.events import AnyEvent, Submitted
from agent_work_orders.workflow_engine.plan import Plan
from agent_work_orders.workflow_engine.run import Run


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """An event that was taken in, with the run before and after it."""

    run_id: str
    seq: int
    event: AnyEvent
    before: Run
    after: Run


Observer = Callable[[Change], None]


class Runs(Protocol):
    """The half that only tells: also where nobody is at work."""

    async def run(self, run_id: str) -> Run | None:
        """The run as of its last durable event, open or ended. Conflict `run_quarantined`."""
        ...

    async def open_runs(self) -> list[str]:
        """Ids of the runs that have not ended and are taken up here."""
        ...

    def held_until_ms(self, run_id: str) -> int | None:
        """Until when a rate limit keeps a run from starting, as far as is known in memory."""
        ...


class Engine(Runs, Protocol):
    async def start(self) -> None:
        """Take up every open run."""
        ...

    async def stop(self, *, drain_s: float = 30.0) -> None:
        """Take nothing new, let running tasks end for at most `drain_s`, then leave them for the
        next start. Loses nothing."""
        ...

    async def submit(self, run_id: str, plan: Plan, submitted: Submitted) -> Run:
        """Start a run. The same `run_id` again returns the run that is there. Unavailable when
        draining or halted."""
        ...

    async def post(self, run_id: str, event: AnyEvent) -> bool:
        """Tell a run what happened. NotFound `run_unknown`; Conflict `run_quarantined`;
        Unavailable when halted."""
        ...

    async def take_up(self, run_id: str) -> bool:
        """Go on with an order that was left as it was at the start; `post` does so too. False
        when there is nothing to take up. Conflict `run_quarantined` comes with the next call."""
        ...

    def goes_on(self, run_id: str) -> bool:
        """Whether the run is open, and what is due in it is done here."""
        ...

    def observe(self, observer: Observer) -> None: ...

    def health(self) -> dict[str, Any]:
        """`{"ok": bool, "reason": …, "open": n, "running": n, "queued": n}` and more."""
        ...

"""Where each run stands in the journal, in memory, ahead of the disk.

Commits are chained when they are handed in, before they are written; so the next one of the same
run can be handed in at once. After a failed write the heads are wrong and must be forgotten.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import msgspec

from agent_work_orders.errors import Broken, TooLarge
from agent_work_orders.state_manager.chain import START, link
from agent_work_orders.state_manager.journal import Commit

MAX_BODY_BYTES = 4 * 1024 * 1024
"""Of an event or effect. Results larger than this belong into the artifact store."""
MAX_SNAPSHOT_BYTES = 64 * 1024 * 1024
"""A run of 10,000 tasks has a snapshot of a few MB."""


class Head(msgspec.Struct, frozen=True):
    run: int
    run_id: str
    ended: bool
    seq: int
    chain: bytes
    plan_hash: str | None
    owed: tuple[int, int] | None = None
    """Effects and timers; None while nobody counted."""


class Advance(msgspec.Struct, frozen=True):
    """A commit with its place in the run worked out."""

    commit: Commit
    head: Head
    chains: tuple[bytes, ...]
    """One for each event."""


class Heads:
    def __init__(
        self, find: Callable[[str], Head | None], last_run: int, most_waiting: int
    ) -> None:
        """`find` reads a head from the disk; `last_run` is the largest number ever given. An
        ended run is forgotten `most_waiting` commits later: by then the disk knows it."""
        self._find = find
        self._last_run = last_run
        self._most_waiting = most_waiting
        self._moves = 0
        self._open: dict[str, Head] = {}
        self._ended: OrderedDict[str, tuple[Head, int]] = OrderedDict()

    def place(self, commit: Commit) -> Advance:
        """Raises Broken `journal_sequence`, TooLarge `event_too_large`. Changes nothing yet."""
        before = self._head(commit.run_id)
        _check_sizes(commit)
        seq, chain, chains = before.seq, before.chain, []
        for row in commit.events:
            seq += 1
            if row.seq != seq or row.run_id != commit.run_id:
                raise Broken(
                    "journal_sequence",
                    f"event {row.run_id}#{row.seq} does not follow {commit.run_id}#{seq - 1}",
                    hint="Two writers work on one run, or memory was not reloaded after a failure.",
                )
            chain = link(chain, row)
            chains.append(chain)
        if commit.snapshot is not None and not 0 < commit.snapshot.seq <= seq:
            raise Broken(
                "journal_sequence",
                f"snapshot {commit.snapshot.seq} of {commit.run_id} is not at an event",
            )
        head = Head(
            before.run,
            commit.run_id,
            before.ended if commit.ended is None else commit.ended,
            seq,
            chain,
            before.plan_hash if commit.plan is None else commit.plan[0],
            before.owed if commit.owed is None else commit.owed,
        )
        return Advance(commit, head, tuple(chains))

    def moved(self, advance: Advance) -> None:
        """The commit was handed to the writer."""
        head = advance.head
        self._moves += 1
        self._last_run = max(self._last_run, head.run)
        self._ended.pop(head.run_id, None)
        if head.ended:
            self._open.pop(head.run_id, None)
            self._ended[head.run_id] = (head, self._moves)
            self._forget()
        else:
            self._open[head.run_id] = head

    def _forget(self) -> None:
        oldest = next(iter(self._ended.values()))
        if oldest[1] < self._moves - self._most_waiting:
            self._ended.popitem(last=False)

    def _head(self, run_id: str) -> Head:
        if (head := self._open.get(run_id)) is not None:
            return head
        if (ended := self._ended.get(run_id)) is not None:
            return ended[0]
        return self._find(run_id) or Head(self._last_run + 1, run_id, False, 0, START, None)


def _check_sizes(commit: Commit) -> None:
    bodies = [row.body for row in commit.events]
    bodies += [effect.body for effect in commit.effects]
    for body in bodies:
        if len(body) > MAX_BODY_BYTES:
            raise TooLarge(
                "event_too_large",
                f"a row of {commit.run_id} has {len(body)} bytes, {MAX_BODY_BYTES} are allowed",
                hint="Keep large results as artifacts and put their hash into the event.",
            )
    if commit.snapshot is not None and len(commit.snapshot.body) > MAX_SNAPSHOT_BYTES:
        raise TooLarge(
            "event_too_large",
            f"the snapshot of {commit.run_id} has {len(commit.snapshot.body)} bytes",
            hint="Split the workflow into child workflows.",
        )

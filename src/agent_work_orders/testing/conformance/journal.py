"""What every journal must do. Subclass and give a pytest fixture `world`.

The suite speaks to a `World`: one storage on which journals are opened one after another, with the
means to crash, to tamper and to fill the disk.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.state_manager.journal import (
    Commit,
    EffectRow,
    EventRow,
    Journal,
    LoadedRun,
    Quarantined,
    Snapshot,
    TimerRow,
)


class World(Protocol):
    async def open(self) -> Journal:
        """The next life on the same storage. The one before is closed or crashed."""
        ...

    async def close(self) -> None: ...

    async def crash(self) -> None:
        """End the present life as kill -9 would."""
        ...

    def change_event(self, run_id: str, seq: int) -> None:
        """Flip a byte in the body. Only between two lives; so the others below."""
        ...

    def drop_event(self, run_id: str, seq: int) -> None: ...

    def change_snapshot(self, run_id: str, seq: int) -> None: ...

    def fill_disk(self) -> None:
        """From now on there is no room for another commit. In the present life."""
        ...

    def free_disk(self) -> None: ...


def event(run_id: str, seq: int, body: bytes = b"{}") -> EventRow:
    return EventRow(run_id=run_id, seq=seq, at_ms=1_000 + seq, kind="task_succeeded", body=body)


def commit(run_id: str, *seqs: int, body: bytes = b"{}") -> Commit:
    return Commit(run_id=run_id, events=tuple(event(run_id, seq, body) for seq in seqs))


def effect(run_id: str, effect_id: str, lease: int | None = None) -> EffectRow:
    return EffectRow(run_id=run_id, effect_id=effect_id, body=effect_id.encode(), lease=lease)


async def loaded(journal: Journal, run_id: str) -> LoadedRun:
    found = await journal.load_run(run_id)
    assert isinstance(found, LoadedRun), found
    return found


async def refusal(journal: Journal, wanted: Commit) -> str:
    """The code with which a commit failed, at once or later."""
    try:
        await journal.append(wanted)
    except AgentWorkOrdersError as error:
        return error.code
    return "accepted"


def refused_at_once(journal: Journal, wanted: Commit) -> str:
    try:
        _ = journal.append(wanted)
    except AgentWorkOrdersError as error:
        return error.code
    return "accepted"


class JournalConformance:
    async def test_an_empty_journal_has_nothing(self, world: World) -> None:
        journal = await world.open()
        assert (await journal.load_open()).runs == ()
        assert await journal.load_run("wo-a") is None
        assert list(await journal.events("wo-a")) == []
        assert list(await journal.verify()) == []

    async def test_a_commit_is_found_whole(self, world: World) -> None:
        journal = await world.open()
        first = Commit(
            run_id="wo-a",
            events=(event("wo-a", 1, b"\x00\xff"), event("wo-a", 2)),
            effects=(effect("wo-a", "perform:plan:1"),),
            set_timers=(TimerRow(run_id="wo-a", timer="deadline", at_ms=5),),
            plan=("hash", b"the plan"),
        )
        await journal.append(first)
        run = await loaded(journal, "wo-a")
        assert run.events == first.events
        assert run.effects == first.effects
        assert run.timers == first.set_timers
        assert run.plan == b"the plan"
        assert run.snapshot is None
        assert (await journal.load_open()).runs == (run,)

    async def test_acknowledged_commits_survive_a_crash(self, world: World) -> None:
        journal = await world.open()
        for seq in range(1, 6):
            await journal.append(commit("wo-a", seq))
        await world.crash()
        journal = await world.open()
        assert [row.seq for row in (await loaded(journal, "wo-a")).events] == [1, 2, 3, 4, 5]
        await journal.append(commit("wo-a", 6))
        assert len((await loaded(journal, "wo-a")).events) == 6

    async def test_commits_keep_the_order_of_the_calls(self, world: World) -> None:
        journal = await world.open()
        waiting = [journal.append(commit("wo-a", seq)) for seq in range(1, 201)]
        await waiting[-1]
        assert all(waiter.done() for waiter in waiting)
        assert [row.seq for row in await journal.events("wo-a")] == list(range(1, 201))

    async def test_many_runs_share_groups_and_stay_apart(self, world: World) -> None:
        journal = await world.open()
        names = [f"wo-{n}" for n in range(50)]
        await asyncio.gather(
            *(journal.append(commit(name, seq)) for seq in range(1, 11) for name in names)
        )
        runs = (await journal.load_open()).runs
        assert sorted(run.run_id for run in runs) == sorted(names)
        assert {len(run.events) for run in runs} == {10}

    async def test_a_lazy_commit_is_written_before_the_next(self, world: World) -> None:
        journal = await world.open()
        journal.append_lazily(commit("wo-a", 1))
        journal.append_lazily(commit("wo-b", 1))
        await journal.append(commit("wo-a", 2))
        await world.crash()
        journal = await world.open()
        assert [row.seq for row in (await loaded(journal, "wo-a")).events] == [1, 2]
        assert len((await loaded(journal, "wo-b")).events) == 1

    async def test_a_lazy_commit_is_written_without_another(self, world: World) -> None:
        journal = await world.open()
        journal.append_lazily(commit("wo-a", 1))
        for _ in range(200):
            if await journal.load_run("wo-a") is not None:
                break
            await asyncio.sleep(0.01)
        assert len((await loaded(journal, "wo-a")).events) == 1

    async def test_closing_writes_lazy_commits(self, world: World) -> None:
        journal = await world.open()
        journal.append_lazily(commit("wo-a", 1))
        await world.close()
        journal = await world.open()
        assert len((await loaded(journal, "wo-a")).events) == 1

    async def test_effects_are_due_leased_and_done(self, world: World) -> None:
        journal = await world.open()
        await journal.append(
            Commit(run_id="wo-a", effects=(effect("wo-a", "x"), effect("wo-a", "y")))
        )
        await journal.append(Commit(run_id="wo-a", leased_effects=(("x", 7), ("z", 7))))
        assert (await loaded(journal, "wo-a")).effects == (
            effect("wo-a", "x", 7),
            effect("wo-a", "y"),
        )
        await journal.append(Commit(run_id="wo-a", done_effects=("x", "z")))
        assert (await loaded(journal, "wo-a")).effects == (effect("wo-a", "y"),)

    async def test_effects_within_one_group(self, world: World) -> None:
        journal = await world.open()
        before = (effect("wo-a", "old"), effect("wo-a", "stale"))
        await journal.append(Commit(run_id="wo-a", effects=before))
        waiting = [
            journal.append(step)
            for step in (
                Commit(run_id="wo-a", effects=(effect("wo-a", "gone"), effect("wo-a", "leased"))),
                Commit(run_id="wo-a", leased_effects=(("leased", 3), ("gone", 3), ("old", 3))),
                Commit(run_id="wo-a", done_effects=("gone", "again", "stale")),
                Commit(run_id="wo-a", effects=(effect("wo-a", "again"),)),
                Commit(run_id="wo-a", leased_effects=(("gone", 4), ("stale", 4))),
            )
        ]
        await asyncio.gather(*waiting)
        assert (await loaded(journal, "wo-a")).effects == (
            effect("wo-a", "again"),
            effect("wo-a", "leased", 3),
            effect("wo-a", "old", 3),
        )

    async def test_timers_are_set_moved_and_cleared(self, world: World) -> None:
        journal = await world.open()

        def timer(name: str, at_ms: int) -> TimerRow:
            return TimerRow(run_id="wo-a", timer=name, at_ms=at_ms)

        steps = (
            Commit(run_id="wo-a", set_timers=(timer("a", 10), timer("b", 20), timer("c", 30))),
            Commit(run_id="wo-a", set_timers=(timer("a", 40),), clear_timers=("b",)),
            Commit(run_id="wo-a", set_timers=(timer("c", 5),), clear_timers=("c",)),
        )
        await asyncio.gather(*(journal.append(step) for step in steps))
        assert (await loaded(journal, "wo-a")).timers == (timer("c", 5), timer("a", 40))

    async def test_an_ended_run_is_not_open_and_may_open_again(self, world: World) -> None:
        journal = await world.open()
        await journal.append(commit("wo-a", 1))
        await journal.append(Commit(run_id="wo-a", events=(event("wo-a", 2),), ended=True))
        assert (await journal.load_open()).runs == ()
        assert len((await loaded(journal, "wo-a")).events) == 2
        await world.close()
        journal = await world.open()
        await journal.append(Commit(run_id="wo-a", events=(event("wo-a", 3),), ended=False))
        assert [run.run_id for run in (await journal.load_open()).runs] == ["wo-a"]

    async def test_loading_starts_from_the_newest_snapshot(self, world: World) -> None:
        journal = await self._with_snapshots(world)
        for run in (await loaded(journal, "wo-a"), (await journal.load_open()).runs[0]):
            assert run.snapshot == Snapshot(run_id="wo-a", seq=8, body=b"at 8")
            assert [row.seq for row in run.events] == [9, 10]

    async def test_a_bad_snapshot_is_passed_over(self, world: World) -> None:
        await self._with_snapshots(world)
        await world.close()
        world.change_snapshot("wo-a", 8)
        run = (await (await world.open()).load_open()).runs[0]
        assert run.snapshot is not None and run.snapshot.seq == 4
        assert [row.seq for row in run.events] == [5, 6, 7, 8, 9, 10]
        await world.close()
        world.change_snapshot("wo-a", 4)
        run = (await (await world.open()).load_open()).runs[0]
        assert run.snapshot is None
        assert [row.seq for row in run.events] == list(range(1, 11))

    async def _with_snapshots(self, world: World) -> Journal:
        journal = await world.open()
        for seq in range(1, 11):
            snapshot = Snapshot(run_id="wo-a", seq=seq, body=b"at %d" % seq)
            await journal.append(
                Commit(
                    run_id="wo-a",
                    events=(event("wo-a", seq),),
                    snapshot=snapshot if seq in (2, 4, 8) else None,
                )
            )
        return journal

    async def test_an_event_out_of_sequence_is_refused(self, world: World) -> None:
        journal = await world.open()
        await journal.append(commit("wo-a", 1))
        assert refused_at_once(journal, commit("wo-a", 3)) == "journal_sequence"
        assert refused_at_once(journal, commit("wo-a", 1)) == "journal_sequence"
        assert refused_at_once(journal, commit("wo-b", 2)) == "journal_sequence"
        stranger = Commit(run_id="wo-a", events=(event("wo-b", 2),))
        assert refused_at_once(journal, stranger) == "journal_sequence"
        await journal.append(commit("wo-a", 2))
        assert len((await loaded(journal, "wo-a")).events) == 2

    async def test_a_huge_event_is_refused(self, world: World) -> None:
        journal = await world.open()
        huge = commit("wo-a", 1, body=bytes(5 * 1024 * 1024))
        assert refused_at_once(journal, huge) == "event_too_large"
        await journal.append(commit("wo-a", 1))

    async def test_a_changed_event_quarantines_its_run_only(self, world: World) -> None:
        await self._two_runs(world)
        world.change_event("wo-a", 3)
        await self._expect_quarantine(world, seq=3)

    async def test_a_missing_middle_event_is_found(self, world: World) -> None:
        await self._two_runs(world)
        world.drop_event("wo-a", 2)
        await self._expect_quarantine(world, seq=2)

    async def test_a_missing_last_event_is_found(self, world: World) -> None:
        await self._two_runs(world)
        world.drop_event("wo-a", 5)
        await self._expect_quarantine(world, seq=5)

    async def _two_runs(self, world: World) -> None:
        journal = await world.open()
        await journal.append(commit("wo-a", 1, 2, 3, 4, 5))
        await journal.append(commit("wo-b", 1, 2))
        await world.close()

    async def _expect_quarantine(self, world: World, *, seq: int) -> None:
        journal = await world.open()
        everything = await journal.load_open()
        assert [run.run_id for run in everything.runs] == ["wo-b"]
        assert [(bad.run_id, bad.seq) for bad in everything.quarantined] == [("wo-a", seq)]
        assert isinstance(await journal.load_run("wo-a"), Quarantined)
        assert [(bad.run_id, bad.seq) for bad in await journal.verify()] == [("wo-a", seq)]
        await journal.append(commit("wo-b", 3))

    async def test_damage_before_a_snapshot_is_found_by_verify(self, world: World) -> None:
        await self._with_snapshots(world)
        await world.close()
        world.change_event("wo-a", 1)
        journal = await world.open()
        assert len((await journal.load_open()).runs) == 1
        assert [(bad.run_id, bad.seq) for bad in await journal.verify()] == [("wo-a", 1)]

    async def test_events_come_in_pages(self, world: World) -> None:
        journal = await world.open()
        await journal.append(commit("wo-a", *range(1, 11)))
        assert [row.seq for row in await journal.events("wo-a", limit=3)] == [1, 2, 3]
        assert [row.seq for row in await journal.events("wo-a", after_seq=8)] == [9, 10]

    async def test_all_runs_are_listed(self, world: World) -> None:
        journal = await world.open()
        for name in ("wo-c", "wo-a", "wo-a/child", "wo-b"):
            await journal.append(
                Commit(run_id=name, events=(event(name, 1),), ended=name == "wo-b")
            )
        assert list(await journal.run_ids(limit=3)) == ["wo-a", "wo-a/child", "wo-b"]
        assert list(await journal.run_ids(after="wo-b")) == ["wo-c"]

    async def test_epochs_grow_past_every_lease(self, world: World) -> None:
        journal = await world.open()
        first = await journal.next_epoch()
        assert await journal.next_epoch() > first
        await journal.append(Commit(run_id="wo-a", effects=(effect("wo-a", "x", 99),)))
        await world.crash()
        assert await (await world.open()).next_epoch() > 99

    async def test_a_full_disk_fails_all_and_passes(self, world: World) -> None:
        journal = await world.open()
        await journal.append(commit("wo-a", 1))
        world.fill_disk()
        body = bytes(200_000)
        codes = await asyncio.gather(
            *(refusal(journal, commit("wo-a", seq, body=body)) for seq in range(2, 12))
        )
        kept = codes.count("accepted")
        assert codes == ["accepted"] * kept + ["journal_full"] * (10 - kept)
        assert kept < 10
        assert refused_at_once(journal, commit("wo-c", 1)) == "journal_full"
        world.free_disk()
        await journal.reopen()
        there = len((await loaded(journal, "wo-a")).events)
        assert there == kept + 1
        await journal.append(commit("wo-a", there + 1))
        assert list(await journal.verify()) == []

"""Orders that an engine leaves as they are at its start, and takes up when somebody wants them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from embedded_rig import EmbeddedRig

from agent_work_orders.clock import SystemClock
from agent_work_orders.engines.embedded.engine import EmbeddedEngine
from agent_work_orders.engines.perform import Performer
from agent_work_orders.errors import NotFound
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.testing.conformance.engine import compiled, submit, until
from agent_work_orders.testing.fakes import tools
from agent_work_orders.workflow_engine import events as on

FLOW = "name: flow\ntasks:\n  a: {uses: fake.hold, with: {value: 1}}\n"
PARENT = "name: parent\ntasks:\n  c: {workflow: flow}\n"


class LeavingRig(EmbeddedRig):
    """After a crash it takes up nothing by itself."""

    takes = True

    async def start(self) -> None:
        clock = SystemClock()
        self.store = SqliteStore.open(self.home, clock)
        performer = Performer(
            tools.make(self.world),
            ledger=self.store.ledger,
            artifacts=self.store.artifacts,
            clock=clock,
            log=lambda *_: None,
        )
        self.engine = EmbeddedEngine(
            self.store.journal, performer, clock, takes=lambda _order: self.takes
        )
        await self.engine.start()

    async def close(self) -> None:
        await self.engine.stop(drain_s=0)
        await self.store.close()


@pytest.mark.parametrize("children", [(), (FLOW,)])
async def test_it_is_left_until_somebody_wants_it(
    tmp_path: Path, children: tuple[str, ...]
) -> None:
    rig = LeavingRig(tmp_path / "home")
    await rig.start()
    order_id = await submit(rig, compiled(PARENT if children else FLOW, *children))
    await until(rig, order_id, lambda run: run.live > 0)
    rig.takes = False
    await rig.crash()
    assert not rig.engine.goes_on(order_id)
    assert order_id in await rig.engine.open_runs()
    assert rig.engine.health()["open"] == 0

    # Both want it at once; it is taken up once, with its children.
    taken = await asyncio.gather(*(rig.engine.take_up(order_id) for _ in range(2)))
    assert sorted(taken) == [False, True]
    assert rig.engine.goes_on(order_id)
    assert rig.engine.health()["open"] == 1 + len(children)
    assert not await rig.engine.take_up(order_id)
    await rig.engine.post(order_id, on.CancelAsked(at_ms=1))
    ended = await until(rig, order_id, lambda run: run.stage == "ended")
    assert ended.outcome == "cancelled"
    await rig.close()


async def test_an_event_takes_it_up(tmp_path: Path) -> None:
    rig = LeavingRig(tmp_path / "home")
    await rig.start()
    order_id = await submit(rig, compiled(FLOW))
    other = await submit(rig, compiled(FLOW))
    rig.takes = False
    await rig.crash()
    assert await rig.engine.post(order_id, on.CancelAsked(at_ms=1))
    await until(rig, order_id, lambda run: run.stage == "ended")
    assert not rig.engine.goes_on(other)
    with pytest.raises(NotFound):
        await rig.engine.post("wo-" + "0" * 16, on.CancelAsked(at_ms=1))
    await rig.close()

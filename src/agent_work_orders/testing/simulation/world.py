"""Tools of a simulated world: they fail, park, hang, lose answers, and write for good.

The world is outside of the process: what was written stays written, whoever dies.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Any

from agent_work_orders.errors import Held, Permanent, Transient, Unknown
from agent_work_orders.testing.simulation.faults import Boundaries, Options
from agent_work_orders.tools.tool import JsonObject, Tool, ToolContext
from agent_work_orders.workflow_engine.catalogue import Catalogue, ToolInfo

_ANY = {"type": "object", "properties": {"value": {}}, "additionalProperties": False}
_VALUE = {"type": "object", "properties": {"value": {}}}
# Longer than any task's limit and its grace: a tool that does not come back.
HANG_S = 10_000.0
MAX_FAULTS = 12


class World:
    """What really happened out there, and what must not."""

    def __init__(self, options: Options, rng: random.Random, at: Boundaries) -> None:
        self.options = options
        self.rng = rng
        self.at = at
        self.written: Counter[str] = Counter()
        self.undone: Counter[str] = Counter()
        self.begun: Counter[str] = Counter()
        self.done: set[str] = set()
        """Keys of tasks whose success was acknowledged: they must not begin again."""
        self.active: set[tuple[str, str]] = set()
        self.violations: list[str] = []
        self.faults = 0

    def begin(self, ctx: ToolContext) -> None:
        place = (ctx.run_id, ctx.path)
        if ctx.key in self.done:
            self.violations.append(f"{ctx.key} was performed again after it had succeeded")
        if place in self.active:
            self.violations.append(f"two attempts of {place} at once")
        self.begun[ctx.key] += 1
        self.active.add(place)

    def end(self, ctx: ToolContext) -> None:
        self.active.discard((ctx.run_id, ctx.path))

    def fault(self) -> bool:
        if self.faults >= MAX_FAULTS or self.rng.random() >= self.options.fault_rate:
            return False
        self.faults += 1
        return True

    def write(self, key: str) -> None:
        self.written[key] += 1
        if self.written[key] > 1:
            self.violations.append(f"{key} was written {self.written[key]} times")

    async def linger(self, ctx: ToolContext) -> None:
        """Take a while, and sometimes go wrong on the way."""
        await asyncio.sleep(self.rng.choice((0.0, 0.001, 0.01, 0.3)))
        if not self.fault():
            return
        match self.rng.choice(("transient", "permanent", "park", "hang", "slow", "broken")):
            case "transient":
                raise Transient("sim_transient", "it will pass", hint="wait")
            case "permanent":
                raise Permanent("sim_permanent", "it will not pass", hint="give up")
            case "park":
                raise Held("model_quota", ctx.now_ms() + self.rng.randint(1, 60_000))
            case "hang":
                await asyncio.sleep(HANG_S)
            case "slow":
                await asyncio.sleep(self.rng.uniform(1, 8))
            case _:
                raise ValueError("a bug in a tool")


class _Simulated:
    info: ToolInfo

    def __init__(self, world: World) -> None:
        self._world = world

    async def __call__(self, ctx: ToolContext, *, value: Any = None) -> JsonObject:
        world = self._world
        world.begin(ctx)
        try:
            await world.linger(ctx)
            return await self._work(ctx, value)
        except asyncio.CancelledError:
            # A process tree takes a moment to die; nobody may start over it meanwhile.
            await asyncio.shield(asyncio.sleep(world.rng.choice((0.0, 0.5))))
            raise
        finally:
            world.end(ctx)

    async def _work(self, ctx: ToolContext, value: Any) -> JsonObject:
        if value == "fail":
            raise Permanent("sim_permanent", "it was told to", hint="give up")
        return {"value": value}


class Step(_Simulated):
    """Does nothing that outlives it; fails when it is told to."""

    info = ToolInfo(name="sim.step", summary="Work", inputs=_ANY, outputs=_VALUE, undo="sim.undo")


class Talk(_Simulated):
    """Takes people's prompts."""

    info = ToolInfo(
        name="sim.talk", summary="Talk", inputs=_ANY, outputs=_VALUE, takes_prompts=True
    )

    async def _work(self, ctx: ToolContext, value: Any) -> JsonObject:
        for prompt in ctx.prompts():
            await asyncio.sleep(0.01)
            ctx.delivered(prompt.prompt_id)
        return {"value": value}


class Write(_Simulated):
    """Writes to the world through the ledger; the answer may be lost on the way back."""

    info = ToolInfo(
        name="sim.write", summary="Write once", inputs=_ANY, outputs=_VALUE, undo="sim.undo"
    )

    async def _work(self, ctx: ToolContext, value: Any) -> JsonObject:
        world, key = self._world, f"{ctx.key}:write"

        async def look() -> JsonObject | None:
            await asyncio.sleep(0.001)
            return {"value": value} if world.written[key] else None

        async def do() -> JsonObject:
            await asyncio.sleep(world.rng.choice((0.0, 0.005)))
            world.at.cross("world before write")
            world.write(key)
            world.at.cross("world after write")
            if world.fault():
                raise Unknown("sim_lost", "the answer was lost", hint="look")
            await asyncio.sleep(world.rng.choice((0.0, 0.005)))
            return {"value": value}

        return await ctx.once(key, what="write", intent={}, look=look, do=do)


class Undo(_Simulated):
    """Compensates; doing it twice is harmless, not doing it is not."""

    info = ToolInfo(
        name="sim.undo", summary="Undo", inputs=_ANY, outputs={"type": "object", "properties": {}}
    )

    async def __call__(self, ctx: ToolContext, *, value: Any = None) -> JsonObject:
        world = self._world
        world.at.cross("world before undo")
        await asyncio.sleep(0.001)
        if world.fault():
            raise Transient("sim_transient", "it will pass", hint="wait")
        world.undone[ctx.key] += 1
        world.at.cross("world after undo")
        return {}


_KINDS = (Step, Talk, Write, Undo)
CATALOGUE: Catalogue = {kind.info.name: kind.info for kind in _KINDS}


def tools(world: World) -> dict[str, Tool]:
    return {kind.info.name: kind(world) for kind in _KINDS}

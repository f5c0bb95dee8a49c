"""Tools for tests of engines: they do what their script says and remember what they did."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from typing import Any

from agent_work_orders.errors import Held, Permanent, Transient
from agent_work_orders.tools.tool import JsonObject, Tool, ToolContext
from agent_work_orders.workflow_engine.catalogue import Catalogue, ToolInfo

_ANY = {"type": "object", "properties": {"value": {}}, "additionalProperties": False}


class World:
    """What the fake tools share with the test."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        """Paths of tasks in the order in which they ended well."""
        self.begun: Counter[str] = Counter()
        self.written: Counter[str] = Counter()
        """Keys of writes that really happened."""
        self.undone: list[str] = []
        self.script: dict[str, list[str]] = defaultdict(list)
        """Path -> outcomes of its attempts, in turn: ok, transient, permanent, park."""
        self.gates: dict[str, asyncio.Event] = {}
        self.heard: list[str] = []
        self.cancelled: list[str] = []

    def gate(self, path: str) -> asyncio.Event:
        return self.gates.setdefault(path, asyncio.Event())


class Echo:
    """Follows the script of its path, then returns its value."""

    info = ToolInfo(
        name="fake.echo",
        summary="Return the value",
        inputs=_ANY,
        outputs={"type": "object", "properties": {"value": {}}},
        undo="fake.undo",
    )

    def __init__(self, world: World) -> None:
        self._world = world

    async def __call__(self, ctx: ToolContext, *, value: Any = None) -> JsonObject:
        world = self._world
        world.begun[ctx.path] += 1
        outcome = world.script[ctx.path].pop(0) if world.script[ctx.path] else "ok"
        if outcome == "transient":
            raise Transient("fake_transient", "it will pass", hint="wait")
        if outcome == "permanent":
            raise Permanent("fake_permanent", "it will not pass", hint="give up")
        if outcome == "park":
            raise Held("model_quota", ctx.now_ms() + 50)
        world.calls.append(ctx.path)
        return {"value": value}


class Hold:
    """Waits until the test opens its gate."""

    info = ToolInfo(
        name="fake.hold",
        summary="Wait for the test",
        inputs=_ANY,
        outputs={"type": "object", "properties": {"value": {}}},
    )

    def __init__(self, world: World) -> None:
        self._world = world

    async def __call__(self, ctx: ToolContext, *, value: Any = None) -> JsonObject:
        self._world.begun[ctx.path] += 1
        try:
            await self._world.gate(ctx.path).wait()
        except asyncio.CancelledError:
            self._world.cancelled.append(ctx.path)
            raise
        self._world.calls.append(ctx.path)
        return {"value": value}


class Write:
    """Writes to the world once, through the ledger."""

    info = ToolInfo(
        name="fake.write",
        summary="Write once",
        inputs=_ANY,
        outputs={"type": "object", "properties": {"value": {}}},
        risk="high",
    )

    def __init__(self, world: World) -> None:
        self._world = world

    async def __call__(self, ctx: ToolContext, *, value: Any = None) -> JsonObject:
        world, key = self._world, f"{ctx.key}:write"

        async def look() -> JsonObject | None:
            return {"value": value} if world.written[key] else None

        async def do() -> JsonObject:
            world.written[key] += 1
            return {"value": value}

        done = await ctx.once(key, what="write", intent={}, look=look, do=do)
        world.calls.append(ctx.path)
        return done


class Listen:
    """An agent's stand-in: hears prompts until it is told to stop."""

    info = ToolInfo(
        name="fake.listen",
        summary="Hear prompts",
        inputs=_ANY,
        outputs={"type": "object", "properties": {"heard": {"type": "array"}}},
        takes_prompts=True,
    )

    def __init__(self, world: World) -> None:
        self._world = world

    async def __call__(self, ctx: ToolContext, *, value: Any = None) -> JsonObject:
        self._world.begun[ctx.path] += 1
        heard: list[str] = []
        while len(heard) < int(value or 0):
            for prompt in ctx.prompts():
                heard.append(prompt.text)
                ctx.delivered(prompt.prompt_id)
            await asyncio.sleep(0.01)
        self._world.heard += heard
        self._world.calls.append(ctx.path)
        return {"heard": heard}


class Undo:
    info = ToolInfo(
        name="fake.undo",
        summary="Take it back",
        inputs=_ANY,
        outputs={"type": "object", "properties": {}},
    )

    def __init__(self, world: World) -> None:
        self._world = world

    async def __call__(self, ctx: ToolContext, *, value: Any = None) -> JsonObject:
        outcome = self._world.script[f"undo:{ctx.path}"]
        if outcome and outcome.pop(0) == "transient":
            raise Transient("fake_transient", "it will pass", hint="wait")
        self._world.undone.append(ctx.path)
        return {}


_KINDS = (Echo, Hold, Write, Listen, Undo)
CATALOGUE: Catalogue = {kind.info.name: kind.info for kind in _KINDS}


def make(world: World) -> dict[str, Tool]:
    return {kind.info.name: kind(world) for kind in _KINDS}

"""Everybody outside: they submit, decide, change their minds, and ask again until they are heard.

An input that was acknowledged is never sent again by an honest client; one whose answer was lost
is. `duplicate_rate` adds the clients that are not honest.
"""

from __future__ import annotations

import asyncio
import random
from typing import Any, Literal, cast

import msgspec

from agent_work_orders.clock import Clock
from agent_work_orders.engines.embedded.engine import EmbeddedEngine
from agent_work_orders.errors import AgentWorkOrdersError, NotFound
from agent_work_orders.testing.simulation.faults import Options
from agent_work_orders.testing.simulation.scenarios import SOURCES, plan_of
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine.compiler import plan_hash
from agent_work_orders.workflow_engine.run import Run

Verb = Literal[
    "submit",
    "pause",
    "resume",
    "cancel",
    "retry",
    "rollback",
    "prompt",
    "skip",
    "approve",
    "reject",
]
# Cancel and rollback end an order, so they come seldom.
VERBS: tuple[Verb, ...] = (
    "pause", "resume", "resume", "retry", "retry", "prompt", "prompt", "skip", "approve",
    "approve", "reject", "cancel", "rollback",
)  # fmt: skip


class Input(msgspec.Struct, kw_only=True):
    """Something a person wants to be taken in."""

    mark: str
    """Who says it: unique, so that it can be found in the journal."""
    run_id: str
    verb: Verb
    at_s: float
    workflow: str = ""
    taken: bool | None = None
    """None until it is acknowledged; then whether it changed anything."""


def wishes(options: Options, rng: random.Random) -> list[Input]:
    """What people will want in this schedule, and when."""
    wanted = []
    for number in range(options.orders):
        run_id = "wo-" + "".join(rng.choice("abcdefgh234567") for _ in range(16))
        workflow = options.scenario or rng.choice(tuple(SOURCES))
        at_s = rng.choice((0.0, 0.0, 0.01, 2.0))
        wanted.append(
            Input(mark=f"s{number}", run_id=run_id, verb="submit", at_s=at_s, workflow=workflow)
        )
        more = [(cast(Verb, verb), after_s) for verb, after_s in options.verbs]
        while rng.random() < options.people_rate * 0.7:
            verb = rng.choice(VERBS)
            more.append((verb, rng.choice((rng.uniform(0, 0.1), rng.uniform(0, 5)))))
        for verb, after_s in more:
            mark = f"p{len(wanted)}"
            wanted.append(Input(mark=mark, run_id=run_id, verb=verb, at_s=at_s + after_s))
    return wanted


class People:
    def __init__(
        self, options: Options, rng: random.Random, clock: Clock, inputs: list[Input]
    ) -> None:
        self._options = options
        self._rng = rng
        self._clock = clock
        self.inputs = inputs
        self._patience: dict[str, int] = {}
        self._settled = 0

    @property
    def heard(self) -> bool:
        return all(wish.taken is not None for wish in self.inputs)

    async def speak(self, engine: EmbeddedEngine, wish: Input) -> None:
        """Until it is acknowledged, in this life or a later one."""
        wait_s = wish.at_s - self._clock.monotonic_s()
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        again = self._rng.random() < self._options.duplicate_rate
        while wish.taken is None:
            try:
                wish.taken = await self._say(engine, wish)
            except NotFound:
                await asyncio.sleep(0.05)
            except AgentWorkOrdersError:
                await asyncio.sleep(self._rng.uniform(0.1, 2))
        if again:
            await self._repeat(engine, wish)

    async def settle(self, engine: EmbeddedEngine, run: Run) -> None:
        """What a patient person does about an order that waits for one."""
        rounds = self._patience[run.run_id] = self._patience.get(run.run_id, 0) + 1
        if rounds > 8:
            await self._post(engine, run, on.CancelAsked(**self._by("settler")))
            return
        for path, task in sorted(run.tasks.items()):
            if task.state == "awaiting_approval":
                await self._decide(engine, run, path, approved=True, by="settler")
            elif task.halted:
                event = on.TaskOverridden(**self._by("settler"), path=path, action="skip")
                await self._post(engine, run, event)
        if run.paused == "asked":
            await self._post(engine, run, on.ResumeAsked(**self._by("settler")))

    async def _repeat(self, engine: EmbeddedEngine, wish: Input) -> None:
        await asyncio.sleep(self._rng.choice((0.0, 0.01, 3.0)))
        try:
            await self._say(engine, wish)
        except AgentWorkOrdersError:
            return

    async def _say(self, engine: EmbeddedEngine, wish: Input) -> bool:
        if wish.verb == "submit":
            return await self._submit(engine, wish)
        run = await engine.run(wish.run_id)
        if run is None:
            raise NotFound("run_unknown", "not there yet")
        by = self._by(wish.mark)
        match wish.verb:
            case "pause":
                return await engine.post(wish.run_id, on.PauseAsked(**by))
            case "resume":
                return await engine.post(wish.run_id, on.ResumeAsked(**by))
            case "cancel":
                return await engine.post(wish.run_id, on.CancelAsked(**by))
            case "retry":
                return await engine.post(wish.run_id, on.RetryAsked(**by))
            case "rollback":
                return await engine.post(wish.run_id, on.RollbackAsked(**by))
            case "prompt":
                said = on.PromptReceived(**by, prompt_id=wish.mark, text="more")
                return await engine.post(wish.run_id, said)
            case "skip":
                path = self._rng.choice(tuple(run.plan.body.tasks))
                return await engine.post(
                    wish.run_id, on.TaskOverridden(**by, path=path, action="skip")
                )
            case _:
                asked = sorted(
                    p for p, task in run.tasks.items() if task.state == "awaiting_approval"
                )
                approved = wish.verb == "approve"
                told = [
                    await self._decide(engine, run, path, approved=approved, by=wish.mark)
                    for path in asked[:1]
                ]
                return any(told)

    async def _submit(self, engine: EmbeddedEngine, wish: Input) -> bool:
        plan = plan_of(wish.workflow)
        event = on.Submitted(
            **self._by(wish.mark),
            plan_hash=plan_hash(plan),
            inputs={},
            order=order_facts(wish.run_id, self._rng.choice(("one", "two"))),
        )
        await engine.submit(wish.run_id, plan, event)
        return True

    async def _decide(
        self, engine: EmbeddedEngine, run: Run, path: str, *, approved: bool, by: str
    ) -> bool:
        gate = run.tasks[path].gate
        assert gate is not None
        decided = on.ApprovalDecided(
            **self._by(by), path=path, approved=approved, subject_hash=gate.subject_hash
        )
        return await self._post(engine, run, decided)

    async def _post(self, engine: EmbeddedEngine, run: Run, event: on.AnyEvent) -> bool:
        return await engine.post(run.run_id, event)

    def _by(self, mark: str) -> dict[str, Any]:
        return {"at_ms": self._clock.now_ms(), "by": mark}


def order_facts(order_id: str, repository: str) -> dict[str, Any]:
    return {
        "order_id": order_id,
        "repository_url": "/nowhere",
        "repository": repository,
        "base_branch": None,
        "branch": f"feat-{order_id}",
        "sandbox_type": "git_worktree",
        "agent": {"name": "scripted"},
        "workflow": "simulated",
        "metered": False,
    }

"""A model that is down costs a few tasks their try, not every order its attempts."""

from __future__ import annotations

from typing import Any

from agent_work_orders.clock import SystemClock
from agent_work_orders.engines.perform import Performer, TaskAnswer
from agent_work_orders.engines.task_attempt import TaskAttempt
from agent_work_orders.errors import Held, Permanent, Transient
from agent_work_orders.recovery.breaker import FAILURES, OPEN_MS
from agent_work_orders.testing.fakes.memory_ledger import MemoryLedger
from agent_work_orders.tools.toolbox import CATALOGUE
from agent_work_orders.workflow_engine.events import TaskFailed, TaskParked, TaskSucceeded
from agent_work_orders.workflow_engine.waiting import MODEL_UNAVAILABLE


class Watch(SystemClock):
    at_ms = 1_000

    def now_ms(self) -> int:
        return self.at_ms


class Model:
    info = CATALOGUE["agent.prompt"]

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.asked = 0

    async def __call__(self, *_context: object, **_inputs: object) -> dict[str, Any]:
        self.asked += 1
        if self.error is not None:
            raise self.error
        return {}


class Rig:
    def __init__(self) -> None:
        self.model, self.clock = Model(), Watch()
        tools = dict.fromkeys(("agent.prompt", "sandbox.exec"), self.model)
        self.performer = Performer(
            tools,
            ledger=MemoryLedger(),
            artifacts=None,  # type: ignore[arg-type]
            clock=self.clock,
            log=lambda *_: None,
        )

    async def ask(self, uses: str = "agent.prompt", agent: str = "claude_code") -> TaskAnswer:
        order = {
            "order_id": "wo-aaaaaaaaaaaaaaaa", "repository_url": "/x", "repository": "x-1",
            "base_branch": None, "branch": "b", "sandbox_type": "git_worktree",
            "agent": {"name": agent}, "workflow": "w",
        }  # fmt: skip
        return await self.performer.perform(
            TaskAttempt(
                run_id="wo-aaaaaaaaaaaaaaaa", path="p", attempt=1, key="k", uses=uses, input={},
                timeout_s=5.0, phase=None, order=order,
            )
        )  # fmt: skip


async def test_it_is_parked_while_the_model_is_down_and_goes_on_after() -> None:
    rig = Rig()
    rig.model.error = Held(MODEL_UNAVAILABLE, 31_000)
    for _ in range(FAILURES):
        assert isinstance(await rig.ask(), TaskParked)
    parked = await rig.ask()
    assert isinstance(parked, TaskParked)
    assert (parked.reason, parked.until_ms) == ("circuit_open", 1_000 + OPEN_MS)
    assert rig.model.asked == FAILURES
    for told in (await rig.ask("sandbox.exec"), await rig.ask(agent="scripted")):
        assert isinstance(told, TaskParked) and told.reason == MODEL_UNAVAILABLE
    rig.clock.at_ms = parked.until_ms
    rig.model.error = None
    assert isinstance(await rig.ask(), TaskSucceeded)
    assert isinstance(await rig.ask(), TaskSucceeded)


async def test_a_used_up_quota_does_not_open_it() -> None:
    rig = Rig()
    rig.model.error = Held("model_quota", 31_000)
    for _ in range(2 * FAILURES):
        answer = await rig.ask()
        assert isinstance(answer, TaskParked) and answer.reason == "model_quota"
    assert rig.model.asked == 2 * FAILURES


async def test_other_failures_do_not_open_it() -> None:
    rig = Rig()
    for error in (Transient("agent_crashed", "x", hint="x"), Permanent("y", "y", hint="x")):
        rig.model.error = error
        for _ in range(2 * FAILURES):
            assert isinstance(await rig.ask(), TaskFailed)

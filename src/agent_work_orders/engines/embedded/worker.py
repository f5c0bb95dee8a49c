"""The hands of the embedded engine: tasks under way, child runs, undo.

At most one attempt of a task runs at a time: a newer one waits until the older is dead, so that
two agents never share a workspace.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_work_orders.clock import Clock
from agent_work_orders.engines.embedded.kept_run import KeptRun
from agent_work_orders.engines.perform import CANCELLED, Performer, TaskAnswer
from agent_work_orders.engines.task_attempt import attempt_of
from agent_work_orders.errors import Refused
from agent_work_orders.tools.tool import Prompt
from agent_work_orders.workflow_engine import effects as ask
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine import inputs as declared
from agent_work_orders.workflow_engine.compiler import plan_hash
from agent_work_orders.workflow_engine.machine import Step

if TYPE_CHECKING:
    from agent_work_orders.engines.embedded.engine import EmbeddedEngine


# Shorter than anybody notices, longer than a task that does nothing.
TELL_AFTER_S = 0.02
# A library below a tool may swallow a cancellation: whoever goes on is told again. Longer than an
# execution needs to end its processes.
INSIST_S = 15.0
# Stopped in one go. Each is an event with its log line, 0.1 to 0.2 ms of the loop's time.
PORTION = 100


class Job(NamedTuple):
    run_id: str
    effect_id: str
    effect: ask.Perform


class Worker:
    def __init__(self, engine: EmbeddedEngine, performer: Performer, clock: Clock) -> None:
        self._engine = engine
        self._performer = performer
        self._clock = clock
        self._jobs: dict[tuple[str, str], tuple[int, asyncio.Task[TaskAnswer]]] = {}
        self._others: set[asyncio.Task[None]] = set()

    def run(self, job: Job) -> None:
        at = (job.run_id, job.effect.path)
        older = self._jobs.get(at)
        task = asyncio.get_running_loop().create_task(
            self._perform(job, None if older is None else older[1])
        )
        self._jobs[at] = (job.effect.attempt, task)
        # Not a `finally`: a task that is cancelled before its first step never reaches one.
        task.add_done_callback(partial(self._performed, job))

    def act(self, kept: KeptRun, effect_id: str, effect: ask.AnyEffect) -> None:
        """Everything but tool tasks and timers."""
        match effect:
            case ask.Undo():
                self._spawn(self._undo(kept, effect_id, effect))
            case ask.StartChild():
                self._spawn(self._start_child(kept, effect_id, effect))
            case ask.CancelChild():
                self._spawn(self._cancel_child(kept, effect_id, effect))
            case ask.RollbackChild():
                self._spawn(self._roll_back_child(kept, effect_id, effect))
            case ask.Finish() if effect.parent is not None:
                self._spawn(self._tell_parent(kept, effect_id, effect))
            case _:
                pass

    def stop(self, kept: KeptRun, effects: Sequence[ask.CancelRunning]) -> None:
        """Stop tasks: a few at once, many in portions, so that nobody waits for all of them. None
        that is still in the queue begins from here on."""
        for effect in effects:
            self._engine.withdraw(kept, _job_name(effect))
        for effect in effects[:PORTION]:
            self._cancel(kept, effect)
        if len(effects) > PORTION:
            self._spawn(self._stop_rest(kept, effects[PORTION:]))

    async def _stop_rest(self, kept: KeptRun, effects: Sequence[ask.CancelRunning]) -> None:
        for start in range(0, len(effects), PORTION):
            if not await _durable(kept):
                return
            for effect in effects[start : start + PORTION]:
                self._cancel(kept, effect)

    async def drain(self, drain_s: float) -> None:
        """Wait for what runs, at most so long."""
        running: list[asyncio.Task[Any]] = [task for _, task in self._jobs.values()]
        running += self._others
        if running:
            await asyncio.wait(running, timeout=drain_s)

    async def abandon(self) -> None:
        """Stop what runs, without an answer: the next start takes it up again."""
        running: list[asyncio.Task[Any]] = [task for _, task in self._jobs.values()]
        running += self._others
        left = set(running)
        while left:
            for task in left:
                task.cancel()
            _, left = await asyncio.wait(left, timeout=INSIST_S)

    # -- tool tasks

    async def _perform(self, job: Job, older: asyncio.Task[TaskAnswer] | None) -> TaskAnswer:
        engine, effect = self._engine, job.effect
        kept = engine.here(job.run_id)
        assert kept is not None
        if older is not None and not older.done():
            await asyncio.wait([older])
        request = attempt_of(kept.run, effect)
        loop, began_ms = asyncio.get_running_loop(), self._clock.now_ms()
        telling = loop.call_later(TELL_AFTER_S, self._tell_started, kept, job, began_ms)
        try:
            return await self._performer.perform(request, lambda: _waiting(kept, effect.path))
        finally:
            telling.cancel()

    def _tell_started(self, kept: KeptRun, job: Job, began_ms: int) -> None:
        """People want to see what is under way; who is done at once needs no row to say so."""
        engine, effect = self._engine, job.effect
        if engine.accepting:
            started = on.TaskStarted(at_ms=began_ms, path=effect.path, attempt=effect.attempt)
            engine.apply(kept, started, lease=(job.effect_id, engine.epoch))

    def _performed(self, job: Job, task: asyncio.Task[TaskAnswer]) -> None:
        engine, effect = self._engine, job.effect
        engine.release()
        answer = self._cancelled(effect.path, effect.attempt) if task.cancelled() else task.result()
        kept = engine.here(job.run_id)
        if engine.accepting and kept is not None and engine.ahead.large(kept, answer):
            self._spawn(self._answer(job, kept, answer))
        else:
            self._answered(job, answer)
        engine.pump()

    async def _answer(self, job: Job, kept: KeptRun, answer: TaskAnswer) -> None:
        """Until it is taken the job counts as under way: nobody else answers for it."""
        try:
            step = await self._engine.ahead.step(kept, answer)
        except asyncio.CancelledError:
            self._forget(job)
            raise
        loaded_anew = self._engine.here(job.run_id) is not kept
        self._answered(job, answer, None if loaded_anew else step)

    def _answered(self, job: Job, answer: TaskAnswer, step: Step | None = None) -> None:
        self._forget(job)
        kept = self._engine.here(job.run_id)
        if self._engine.accepting and kept is not None:
            self._engine.apply(kept, answer, done=job.effect_id, step=step)

    def _forget(self, job: Job) -> None:
        mine = self._jobs.get((job.run_id, job.effect.path))
        if mine is not None and mine[0] == job.effect.attempt:
            del self._jobs[job.run_id, job.effect.path]

    def _cancelled(self, path: str, attempt: int) -> TaskAnswer:
        return on.TaskFailed(
            at_ms=self._clock.now_ms(), path=path, attempt=attempt, failure=CANCELLED
        )

    def _cancel(self, kept: KeptRun, effect: ask.CancelRunning) -> None:
        found = self._jobs.get((kept.run.run_id, effect.path))
        if found is not None and found[0] == effect.attempt:
            _stop(found[1])
            return
        # Still in the queue: nothing runs, so the answer can be given here.
        answer = self._cancelled(effect.path, effect.attempt)
        self._engine.apply(kept, answer, done=_job_name(effect))

    async def _undo(self, kept: KeptRun, effect_id: str, effect: ask.Undo) -> None:
        answer = await self._performer.undo(attempt_of(kept.run, effect))
        if self._engine.accepting:
            self._engine.apply(kept, answer, done=effect_id)

    # -- child runs

    async def _start_child(self, kept: KeptRun, effect_id: str, effect: ask.StartChild) -> None:
        engine, now_ms = self._engine, self._clock.now_ms()
        if await engine.find(effect.run_id) is None:
            plan = kept.run.plan.children[effect.workflow]
            try:
                given = declared.accept(plan.inputs, effect.inputs)
            except Refused as error:
                failure = on.Failure(
                    category="permanent", code=error.code, message=error.message, hint=error.hint
                )
                engine.apply(kept, _ended(effect, now_ms, failure), done=effect_id)
                return
            submitted = on.Submitted(
                at_ms=now_ms,
                plan_hash=plan_hash(plan),
                inputs=given,
                order=kept.run.order,
                by=kept.run.by,
                parent=on.Parent(run_id=kept.run.run_id, path=effect.path),
            )
            child = engine.begin(effect.run_id, plan, submitted)
            if not await _durable(child):
                return
        engine.finished(kept, effect_id)

    async def _cancel_child(self, kept: KeptRun, effect_id: str, effect: ask.CancelChild) -> None:
        child = await self._engine.find(effect.run_id)
        event = on.CancelAsked(at_ms=self._clock.now_ms(), by="parent")
        if child is not None:
            self._engine.apply(child, event)
            if not await _durable(child):
                return
        self._engine.finished(kept, effect_id)

    async def _roll_back_child(
        self, kept: KeptRun, effect_id: str, effect: ask.RollbackChild
    ) -> None:
        child = await self._engine.find(effect.run_id)
        now_ms = self._clock.now_ms()
        asked = child is not None and self._engine.apply(
            child, on.RollbackAsked(at_ms=now_ms, by="parent")
        )
        if child is not None and not await _durable(child):
            return
        if not asked and (child is None or child.run.stage == "ended"):
            self._engine.apply(kept, on.Undone(at_ms=now_ms, path=effect.path))
        self._engine.finished(kept, effect_id)

    async def _tell_parent(self, kept: KeptRun, effect_id: str, effect: ask.Finish) -> None:
        parent = None if effect.parent is None else await self._engine.find(effect.parent.run_id)
        if parent is not None and effect.parent is not None:
            event = on.ChildFinished(
                at_ms=self._clock.now_ms(),
                path=effect.parent.path,
                child_run_id=kept.run.run_id,
                outcome=effect.outcome,
                outputs=effect.outputs,
                failure=effect.failure,
                usage=effect.usage,
            )
            self._engine.apply(parent, event)
            if not await _durable(parent):
                return
        self._engine.finished(kept, effect_id)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._others.add(task)
        task.add_done_callback(self._others.discard)


def _job_name(effect: ask.CancelRunning) -> str:
    """The id of the effect that is to be stopped."""
    return f"perform:{effect.path}:{effect.attempt}"


def _stop(task: asyncio.Task[TaskAnswer]) -> None:
    if not task.done():
        task.cancel()
        asyncio.get_running_loop().call_later(INSIST_S, _stop, task)


async def _durable(kept: KeptRun) -> bool:
    """Whether what was applied to the run is on the disk; if not, the engine has halted."""
    saving = kept.saving
    if saving is not None:
        await asyncio.wait([saving])
        return saving.exception() is None
    return True


def _waiting(kept: KeptRun, path: str) -> list[Prompt]:
    return [
        Prompt(prompt_id=prompt.prompt_id, text=prompt.text, opening=prompt.opening)
        for prompt in kept.run.prompts
        if prompt.target == path and not prompt.delivered
    ]


def _ended(effect: ask.StartChild, at_ms: int, failure: on.Failure) -> on.ChildFinished:
    return on.ChildFinished(
        at_ms=at_ms,
        path=effect.path,
        child_run_id=effect.run_id,
        outcome="failed",
        failure=failure,
    )

"""The workflow: it keeps a `Run`, hands events to `advance` and turns effects into Temporal's.

Rules:
- Every event goes through `_take`, which starts nothing; the main loop acts. So whatever arrives
  together in one workflow task is decided before any of it is done.
- The only time here is Temporal's; it goes into the events that are made here.
- An execution ends when the run has ended and nothing of it is under way. What opens the run again
  starts the next execution under the same id, from the state that this one returned (see `runs`).
- When the history grows, nothing new is begun until what runs has ended; then the run goes on in
  a fresh history.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    import msgspec

    from agent_work_orders.engines.perform import GRACE_S
    from agent_work_orders.engines.task_attempt import attempt_of
    from agent_work_orders.engines.temporal import answers, wire
    from agent_work_orders.errors import Refused
    from agent_work_orders.tools.tool import COMMIT_S
    from agent_work_orders.workflow_engine import effects as ask
    from agent_work_orders.workflow_engine import events as on
    from agent_work_orders.workflow_engine import inputs as declared
    from agent_work_orders.workflow_engine import plan as plans
    from agent_work_orders.workflow_engine import run as runs
    from agent_work_orders.workflow_engine.compiler import plan_hash
    from agent_work_orders.workflow_engine.machine import advance

ONCE = RetryPolicy(maximum_attempts=1)
UNTIL_DONE = RetryPolicy(maximum_interval=timedelta(seconds=10))
MESSAGE_S = 60.0
# A tool's own deadline and the performer's grace come first; this one means that neither was kept.
SLACK_S = 30.0

# What begins something that an answer is owed for: held back before a fresh history.
Beginning = ask.Perform | ask.Undo | ask.StartChild | ask.CancelChild | ask.RollbackChild


class Job:
    """An attempt at a task, from its effect to its answer."""

    def __init__(self, attempt: int) -> None:
        self.attempt = attempt
        self.stopped = False
        self.handle: workflow.ActivityHandle[bytes] | None = None
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()


@workflow.defn(name=wire.WORKFLOW)
class WorkOrderWorkflow:
    @workflow.init
    def __init__(self, body: bytes) -> None:
        start = wire.unpack(body, wire.Start)
        plan = plans.decode(bytes(start.plan))
        event = None if start.event == wire.NONE else on.decode(bytes(start.event))
        if start.run != wire.NONE:
            self._run = runs.decode(bytes(start.run), start.run_id, plan)
        else:
            assert isinstance(event, on.Submitted)
            self._run = runs.fresh(start.run_id, plan, event.plan_hash)
        self._start = start
        self._log: list[bytes] = []
        self._due: deque[ask.AnyEffect] = deque(ask.decode(bytes(row)) for row in start.due)
        self._jobs: dict[str, Job] = {}
        self._others = 0
        self._timers: dict[str, tuple[int, asyncio.Task[None] | None]] = {
            timer: (at_ms, None) for timer, at_ms in start.timers.items()
        }
        self._tasks: set[asyncio.Task[None]] = set()
        if event is not None:
            self._take(event)

    @workflow.run
    async def run(self, body: bytes) -> bytes:
        for timer, (at_ms, _) in list(self._timers.items()):
            self._set_timer(timer, at_ms)
        while True:
            self._act()
            if self._over():
                return wire.pack(self._state())
            if self._renewing() and not self._busy():
                workflow.continue_as_new(wire.pack(self._next_start()))
            try:
                await workflow.wait_condition(self._has_to_act)
            except asyncio.CancelledError:
                # Somebody cancelled it in Temporal: the run is stopped as if asked in the product.
                self._take(on.CancelAsked(at_ms=_now_ms(), by="temporal"))

    # -- what others say and ask

    @workflow.update(name=wire.POST)
    def post(self, body: bytes) -> bool:
        return self._take(on.decode(body))

    @post.validator
    def _changes_something(self, body: bytes) -> None:
        """A refused update leaves no trace in the history."""
        if advance(self._run, on.decode(body)).run is self._run:
            raise ApplicationError(self._run.stage, type=wire.NO_CHANGE, non_retryable=True)

    @workflow.signal(name=wire.HEAR)
    def hear(self, body: bytes) -> None:
        self._take(on.decode(body))

    @workflow.query(name=wire.STATE)
    def state(self) -> bytes:
        return wire.pack(self._state())

    @workflow.query(name=wire.TAIL)
    def tail(self, after: int) -> bytes:
        base = self._start.seq
        events = tuple(msgspec.Raw(row) for row in self._log[max(0, after - base) :])
        before, over = self._start.before, self._over()
        return wire.pack(wire.Tail(base=base, before=before, events=events, over=over))

    @workflow.query(name=wire.PROMPTS)
    def prompts(self, path: str) -> bytes:
        return msgspec.json.encode(
            [
                {"prompt_id": prompt.prompt_id, "text": prompt.text, "opening": prompt.opening}
                for prompt in self._run.prompts
                if prompt.target == path and not prompt.delivered
            ]
        )

    # -- deciding

    def _take(self, event: on.AnyEvent) -> bool:
        step = advance(self._run, event)
        if step.run is self._run:
            return False
        self._run = step.run
        self._log.append(on.encode(event))
        self._due.extend(step.effects)
        return True

    def _state(self) -> wire.State:
        return wire.State(
            run_id=self._run.run_id,
            plan=self._start.plan,
            run=msgspec.Raw(runs.encode(self._run)),
            seq=self._start.seq + len(self._log),
            timers={timer: at_ms for timer, (at_ms, _) in self._timers.items()},
        )

    def _next_start(self) -> wire.Start:
        state = self._state()
        return wire.Start(
            run_id=state.run_id,
            plan=state.plan,
            run=state.run,
            seq=state.seq,
            timers=state.timers,
            due=tuple(msgspec.Raw(ask.encode(effect)) for effect in self._due),
            before=workflow.info().run_id,
            heartbeat_s=self._start.heartbeat_s,
            renew_after=self._start.renew_after,
        )

    def _busy(self) -> bool:
        return bool(self._jobs or self._others)

    def _over(self) -> bool:
        return self._run.stage == "ended" and not self._due and not self._busy()

    def _renewing(self) -> bool:
        info, after = workflow.info(), self._start.renew_after
        if after and info.get_current_history_length() >= after:
            return True
        return info.is_continue_as_new_suggested()

    def _has_to_act(self) -> bool:
        if self._over():
            return True
        if not self._renewing():
            return bool(self._due)
        return not self._busy() or any(not isinstance(one, Beginning) for one in self._due)

    # -- acting

    def _act(self) -> None:
        waiting, self._due = self._due, deque()
        hold = self._renewing()
        for effect in waiting:
            if hold and isinstance(effect, Beginning):
                self._due.append(effect)
            else:
                self._do(effect)

    def _do(self, effect: ask.AnyEffect) -> None:
        match effect:
            case ask.Perform():
                job, older = Job(effect.attempt), self._jobs.get(effect.path)
                self._jobs[effect.path] = job
                self._keep(asyncio.create_task(self._perform(effect, job, older)))
            case ask.CancelRunning():
                self._stop(effect)
            case ask.SetTimer():
                self._set_timer(effect.timer, effect.at_ms)
            case ask.ClearTimer():
                _, task = self._timers.pop(effect.timer, (0, None))
                if task is not None:
                    task.cancel()
            case ask.Undo():
                self._send(self._undo(effect))
            case ask.StartChild():
                self._send(self._start_child(effect))
            case ask.CancelChild():
                cancel = on.CancelAsked(at_ms=_now_ms(), by="parent")
                self._send(_tell(effect.run_id, cancel))
            case ask.RollbackChild():
                self._send(self._roll_back_child(effect))
            case ask.Finish() if effect.parent is not None:
                end = answers.child_finished(self._run.run_id, effect, effect.parent, _now_ms())
                self._send(_tell(effect.parent.run_id, end))
            case _:
                pass

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _send(self, work: Coroutine[Any, Any, Any]) -> None:
        self._others += 1
        self._keep(asyncio.create_task(self._counted(work)))

    async def _counted(self, work: Coroutine[Any, Any, Any]) -> None:
        try:
            await work
        finally:
            self._others -= 1

    def _set_timer(self, timer: str, at_ms: int) -> None:
        ringing = asyncio.create_task(self._ring(timer, at_ms))
        self._keep(ringing)
        self._timers[timer] = (at_ms, ringing)

    async def _ring(self, timer: str, at_ms: int) -> None:
        await asyncio.sleep(max(1, at_ms - _now_ms()) / 1000)
        self._timers.pop(timer, None)
        self._take(on.TimerFired(at_ms=_now_ms(), timer=timer))

    # -- tool tasks

    async def _perform(self, effect: ask.Perform, job: Job, older: Job | None) -> None:
        """At most one attempt of a task at a time: a newer one waits until the older is dead."""
        if older is not None:
            await older.ended
        answer: on.AnyEvent
        try:
            if job.stopped:
                answer = answers.cancelled(effect, _now_ms())
            else:
                job.handle = self._activity(effect)
                answer = on.decode(await job.handle)
        except ActivityError as error:
            answer = answers.unanswered(effect, error, _now_ms(), stopped=job.stopped)
        except asyncio.CancelledError:
            answer = answers.cancelled(effect, _now_ms())
        job.ended.set_result(None)
        if self._jobs.get(effect.path) is job:
            del self._jobs[effect.path]
        self._take(answer)

    def _activity(self, effect: ask.Perform) -> workflow.ActivityHandle[bytes]:
        return workflow.start_activity(
            wire.PERFORM,
            wire.pack(attempt_of(self._run, effect)),
            result_type=bytes,
            start_to_close_timeout=timedelta(seconds=_longest_s(effect)),
            heartbeat_timeout=timedelta(seconds=self._start.heartbeat_s),
            retry_policy=ONCE,
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            summary=effect.path,
        )

    def _stop(self, effect: ask.CancelRunning) -> None:
        for held in self._due:
            if isinstance(held, ask.Perform) and held.path == effect.path:
                if held.attempt == effect.attempt:
                    self._due.remove(held)
                    self._take(answers.cancelled(held, _now_ms()))
                    return
        job = self._jobs.get(effect.path)
        if job is not None and job.attempt == effect.attempt:
            job.stopped = True
            if job.handle is not None:
                job.handle.cancel()

    async def _undo(self, effect: ask.Undo) -> None:
        answer = await workflow.execute_activity(
            wire.UNDO,
            wire.pack(attempt_of(self._run, effect)),
            result_type=bytes,
            start_to_close_timeout=timedelta(seconds=effect.timeout_s + GRACE_S + SLACK_S),
            heartbeat_timeout=timedelta(seconds=self._start.heartbeat_s),
            retry_policy=UNTIL_DONE,
            summary=f"undo {effect.path}",
        )
        self._take(on.decode(answer))

    # -- child runs

    async def _start_child(self, effect: ask.StartChild) -> None:
        plan = self._run.plan.children[effect.workflow]
        try:
            given = declared.accept(plan.inputs, effect.inputs)
        except Refused as error:
            self._take(answers.refused(effect, error, _now_ms()))
            return
        submitted = on.Submitted(
            at_ms=_now_ms(),
            plan_hash=plan_hash(plan),
            inputs=given,
            order=self._run.order,
            by=self._run.by,
            parent=on.Parent(run_id=self._run.run_id, path=effect.path),
        )
        child = wire.Start(
            run_id=effect.run_id,
            plan=msgspec.Raw(plans.encode(plan)),
            event=msgspec.Raw(on.encode(submitted)),
            heartbeat_s=self._start.heartbeat_s,
            renew_after=self._start.renew_after,
        )
        await workflow.execute_activity(
            wire.START,
            wire.pack(child),
            start_to_close_timeout=timedelta(seconds=MESSAGE_S),
            retry_policy=UNTIL_DONE,
            summary=effect.path,
        )

    async def _roll_back_child(self, effect: ask.RollbackChild) -> None:
        told = await _tell(effect.run_id, on.RollbackAsked(at_ms=_now_ms(), by="parent"))
        if told in (wire.UNKNOWN, "ended"):
            self._take(on.Undone(at_ms=_now_ms(), path=effect.path))


async def _tell(run_id: str, event: on.AnyEvent) -> str:
    """Other runs are told through an activity: they may be closed and have to be opened again."""
    told: str = await workflow.execute_activity(
        wire.TELL,
        args=[run_id, on.encode(event)],
        result_type=str,
        start_to_close_timeout=timedelta(seconds=MESSAGE_S),
        retry_policy=UNTIL_DONE,
        summary=on.kind_of(event),
    )
    return told


def _longest_s(effect: ask.Perform) -> float:
    """What the performer allows a task, with room for itself. An agent's commit has time of its own
    after the agent."""
    committing_s = COMMIT_S if effect.uses.startswith("agent.") else 0.0
    return effect.timeout_s + GRACE_S + committing_s + SLACK_S


def _now_ms() -> int:
    return workflow.time_ns() // 1_000_000

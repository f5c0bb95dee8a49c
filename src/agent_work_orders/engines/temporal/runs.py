"""Runs as a client of the cluster sees them: begin, tell, read.

The engine and the activities share it. A run is the chain of executions of one workflow id. The
last one is open, or left the run's state as its result.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from temporalio.client import (
    Client,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowQueryFailedError,
    WorkflowQueryRejectedError,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import QueryRejectCondition, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from agent_work_orders.engines.temporal import wire
from agent_work_orders.errors import Conflict, TooLarge, Unavailable
from agent_work_orders.tools.tool import Prompt
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine import plan as plans
from agent_work_orders.workflow_engine import run as runs
from agent_work_orders.workflow_engine.machine import advance
from agent_work_orders.workflow_engine.plan import Plan
from agent_work_orders.workflow_engine.run import Run

PATIENCE = timedelta(seconds=20)
# A run that is opened and closed by others in between each look: far more often than people can.
MAX_LOOKS = 20


class Found(NamedTuple):
    run: Run
    seq: int
    state: wire.State
    execution: str
    """The execution that ended with this state; empty while one is open."""


class News(NamedTuple):
    events: list[on.AnyEvent]
    over: bool


class Runs:
    def __init__(
        self,
        client: Client,
        task_queue: str,
        *,
        heartbeat_s: float = wire.HEARTBEAT_S,
        renew_after: int = 0,
    ) -> None:
        self._client = client
        self._task_queue = task_queue
        self._heartbeat_s = heartbeat_s
        self._renew_after = renew_after

    async def submit(self, run_id: str, plan: Plan, submitted: on.Submitted) -> bool:
        """False when the run is there already."""
        return await self.begin(
            wire.Start(
                run_id=run_id,
                plan=msgspec.Raw(plans.encode(plan)),
                event=msgspec.Raw(on.encode(submitted)),
                heartbeat_s=self._heartbeat_s,
                renew_after=self._renew_after,
            )
        )

    async def begin(self, start: wire.Start) -> bool:
        """Start an execution: the run's first, or the next of one that ended."""
        again = start.run != wire.NONE
        try:
            with _Reaching():
                await self._client.start_workflow(
                    wire.WORKFLOW,
                    wire.pack(start),
                    id=start.run_id,
                    task_queue=self._task_queue,
                    id_reuse_policy=(
                        WorkflowIDReusePolicy.ALLOW_DUPLICATE
                        if again
                        else WorkflowIDReusePolicy.REJECT_DUPLICATE
                    ),
                    id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
                    rpc_timeout=PATIENCE,
                )
        except WorkflowAlreadyStartedError:
            return False
        return True

    async def tell(self, run_id: str, event: on.AnyEvent) -> str | None:
        """TAKEN, or the run's stage when the event changed nothing, or None for no such run."""
        body = on.encode(event)
        for _ in range(MAX_LOOKS):
            told = await self._update(run_id, body)
            if told is not None:
                return told
            found = await self.find(run_id)
            if found is None:
                return None
            if not found.execution:
                continue
            if advance(found.run, event).run is found.run:
                return found.run.stage
            if await self.begin(self._reopening(found, body)):
                return wire.TAKEN
        raise _unavailable(f"{run_id} is opened and closed too often")

    async def hint(self, run_id: str, event: on.AnyEvent) -> None:
        """Say something that may be lost."""
        with _Reaching(absent=True):
            await self._handle(run_id).signal(wire.HEAR, on.encode(event), rpc_timeout=PATIENCE)

    async def find(self, run_id: str) -> Found | None:
        for _ in range(MAX_LOOKS):
            with _Reaching(absent=True):
                body = await self._ask(run_id, "", wire.STATE, only_open=True)
                if body is not None:
                    return _found(body, "")
                last = await self._handle(run_id).describe(rpc_timeout=PATIENCE)
                if last.status == WorkflowExecutionStatus.RUNNING:
                    continue
                return _found(await self._result(run_id, last.run_id), last.run_id)
            return None
        raise _unavailable(f"{run_id} is opened and closed too often")

    async def news(self, run_id: str, after: int) -> News | None:
        """The events after a cursor, collected from all executions that have some."""
        chunks: list[tuple[msgspec.Raw, ...]] = []
        execution, over = "", False
        while True:
            body = None
            with _Reaching(absent=True):
                body = await self._ask(run_id, execution, wire.TAIL, after)
            if body is None:
                return None
            tail = wire.unpack(body, wire.Tail)
            if not chunks:
                over = tail.over
            chunks.append(tail.events)
            if tail.base <= after:
                break
            execution = tail.before
        events = [on.decode(bytes(row)) for chunk in reversed(chunks) for row in chunk]
        return News(events, over)

    async def prompts(self, run_id: str, path: str) -> list[Prompt]:
        body = None
        with _Reaching(absent=True):
            body = await self._ask(run_id, "", wire.PROMPTS, path)
        return [] if body is None else msgspec.json.decode(body, type=list[Prompt])

    async def open_ids(self) -> AsyncIterator[str]:
        query = (
            f"WorkflowType = '{wire.WORKFLOW}' AND TaskQueue = '{self._task_queue}'"
            " AND ExecutionStatus = 'Running'"
        )
        with _Reaching():
            async for row in self._client.list_workflows(query, rpc_timeout=PATIENCE):
                yield row.id

    # -- one execution

    def _handle(self, run_id: str, execution: str = "") -> WorkflowHandle[Any, Any]:
        return self._client.get_workflow_handle(run_id, run_id=execution or None)

    async def _ask(
        self, run_id: str, execution: str, query: str, *args: Any, only_open: bool = False
    ) -> bytes | None:
        """None when it is closed and only an open one was wanted."""
        only = QueryRejectCondition.NOT_OPEN if only_open else QueryRejectCondition.NONE
        try:
            body: bytes = await self._handle(run_id, execution).query(
                query, args=args, result_type=bytes, reject_condition=only, rpc_timeout=PATIENCE
            )
        except WorkflowQueryRejectedError:
            return None
        return body

    async def _update(self, run_id: str, body: bytes) -> str | None:
        """None when no execution is open."""
        with _Reaching(absent=True):
            try:
                await self._handle(run_id).execute_update(
                    wire.POST, body, result_type=bool, rpc_timeout=PATIENCE
                )
            except WorkflowUpdateFailedError as error:
                if isinstance(error.cause, ApplicationError) and error.cause.type == wire.NO_CHANGE:
                    return error.cause.message
                raise
            return wire.TAKEN
        return None

    async def _result(self, run_id: str, execution: str) -> bytes:
        handle = self._client.get_workflow_handle(run_id, run_id=execution, result_type=bytes)
        try:
            body: bytes = await handle.result(follow_runs=False, rpc_timeout=PATIENCE)
            return body
        except WorkflowFailureError as error:
            raise Conflict(
                "run_quarantined",
                f"the workflow of {run_id} was ended from outside: {error.cause}",
                hint="Reset the workflow in Temporal to a point before that.",
            ) from error

    def _reopening(self, found: Found, event: bytes) -> wire.Start:
        state = found.state
        return wire.Start(
            run_id=state.run_id,
            plan=state.plan,
            event=msgspec.Raw(event),
            run=state.run,
            seq=state.seq,
            timers=state.timers,
            before=found.execution,
            heartbeat_s=self._heartbeat_s,
            renew_after=self._renew_after,
        )


def _found(body: bytes, execution: str) -> Found:
    state = wire.unpack(body, wire.State)
    run = runs.decode(bytes(state.run), state.run_id, _plan(bytes(state.plan)))
    return Found(run, state.seq, state, execution)


@lru_cache(maxsize=64)
def _plan(body: bytes) -> Plan:
    return plans.decode(body)


class _Reaching:
    """Says that the cluster cannot be reached; with `absent`, a missing workflow ends the block."""

    def __init__(self, *, absent: bool = False) -> None:
        self._absent = absent

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, RPCError):
            if self._absent and error.status == RPCStatusCode.NOT_FOUND:
                return True
            if error.status == RPCStatusCode.INVALID_ARGUMENT and "size" in error.message:
                raise TooLarge(
                    "message_too_large",
                    "the Temporal cluster takes no message of more than 2 MB",
                    hint="Give the order smaller inputs: a name or an address of the data.",
                ) from error
            raise _unavailable(str(error)) from error
        if isinstance(error, WorkflowQueryFailedError | WorkflowUpdateRPCTimeoutOrCancelledError):
            raise _unavailable(str(error)) from error
        return False


def _unavailable(why: str) -> Unavailable:
    return Unavailable(
        "engine_unavailable",
        f"the Temporal cluster did not answer: {why}",
        hint="Check that the Temporal server and a worker are running, then try again.",
    )

"""Effect -> tool -> event: the one place where exceptions become events.

Both engines call it. A tool's outputs and failures come back as data of bounded size: what is
larger is kept as an artifact and replaced by its hash.
"""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import msgspec

from agent_work_orders.clock import Clock
from agent_work_orders.engines.task_attempt import TaskAttempt
from agent_work_orders.errors import (
    AgentWorkOrdersError,
    Broken,
    Environmental,
    Failed,
    Held,
    Permanent,
    Transient,
    Unanswered,
)
from agent_work_orders.recovery.breaker import Breaker
from agent_work_orders.security.redaction import Redactor
from agent_work_orders.state_manager.artifacts import Artifacts
from agent_work_orders.state_manager.ledger import Entry, Ledger
from agent_work_orders.state_manager.once import Do, Look, once
from agent_work_orders.tools.agent_failure import WAITS as WAITS_FOR_ROOM
from agent_work_orders.tools.tool import JsonObject, Order, Prompt, Stall, Tool, ToolContext
from agent_work_orders.workflow_engine.events import (
    Failure,
    TaskFailed,
    TaskParked,
    TaskSucceeded,
    Undone,
    Usage,
)
from agent_work_orders.workflow_engine.waiting import (
    CIRCUIT_OPEN,
    DISK_FULL,
    MODEL_UNAVAILABLE,
)

# FAULTS A25: a journal row stays small whatever a tool returns.
OUTPUTS_LIMIT_BYTES = 256 * 1024
KEPT_TEXT_BYTES = 1_024
# A tool gives its programs the task's limit and says itself what took too long; this is for a
# tool that does not come back.
GRACE_S = 30.0

TaskAnswer = TaskSucceeded | TaskFailed | TaskParked

CANCELLED = Failure(
    category="permanent",
    code="cancelled",
    message="The task was stopped because somebody asked for it",
    hint="Retry the order to run it again.",
)


class Log(Protocol):
    def __call__(self, order_id: str, event: str, level: str, fields: Mapping[str, Any]) -> None:
        """A line of the order's log; redaction and storage are the sink's."""
        ...


class Context:
    """What a tool is handed. One per attempt."""

    def __init__(
        self, request: TaskAttempt, performer: Performer, waiting: Callable[[], list[Prompt]]
    ) -> None:
        self.order = msgspec.convert(request.order, Order, strict=False)
        self.run_id = request.run_id
        self.path = request.path
        self.attempt = request.attempt
        self.key = request.key
        self.phase = request.phase
        self.timeout_s = request.timeout_s
        self.spent_usd = request.spent_usd
        self.approved_head: str | None = (request.approved or {}).get("head_sha")
        self.stall = Stall(count=request.stalls, since_ms=request.stalled_since_ms)
        self.lost = request.lost
        self.usage: Usage | None = None
        self.recovered: list[int] = []
        self.denials: list[str] = []
        self.given: list[str] = []
        self.evidence: JsonObject | None = None
        self._request = request
        self.more_time: Callable[[], None] = lambda: None
        self.allow: Callable[[float], None] = lambda _seconds: None
        self._performer = performer
        self._waiting = waiting

    def now_ms(self) -> int:
        return self._performer.clock.now_ms()

    async def once(
        self, key: str, *, what: str, intent: JsonObject, look: Look, do: Do
    ) -> JsonObject:
        return await once(
            self._performer.ledger,
            self._performer.clock,
            key,
            order_id=self.order.order_id,
            what=what,
            intent=intent,
            look=look,
            do=do,
            clean=self._performer.clean.value,
        )

    async def written(self, what: str) -> list[Entry]:
        entries = await self._performer.ledger.entries(self.order.order_id)
        return [entry for entry in entries if entry.what == what]

    def log(self, event: str, *, level: str = "info", **fields: Any) -> None:
        self._performer.log(self.order.order_id, event, level, {"task": self.path, **fields})

    def spend(self, usage: Usage) -> None:
        self.usage = (self.usage or Usage()).plus(usage)

    def recover(self, attempt: int, usage: Usage) -> None:
        self.recovered.append(attempt)
        self.spend(usage.plus(Usage(unpriced_turns=-1)))

    def denied(self, denials: Sequence[str]) -> None:
        self.denials += self._performer.clean.value(list(denials))

    def prompts(self) -> list[Prompt]:
        found = [prompt for prompt in self._waiting() if prompt.prompt_id not in self.given]
        if found:
            self.more_time()  # each of them is a turn, with a turn's time
        return found

    def delivered(self, prompt_id: str) -> None:
        self.given.append(prompt_id)

    async def artifact(self, name: str, content: bytes, media_type: str = "text/plain") -> str:
        clean = self._performer.clean.content(content)
        kept = await self._performer.artifacts.put(
            self.order.order_id, self.path, name, clean, media_type, self.now_ms()
        )
        return kept.sha256

    def keep(self, evidence: JsonObject) -> None:
        """Outputs to record even if the attempt fails."""
        self.evidence = evidence

    def learned(self) -> dict[str, Any]:
        """What every answer carries, however the attempt ended."""
        return {
            "usage": self.usage,
            "prompts": tuple(self.given),
            "denials": tuple(self.denials),
            "recovered": tuple(self.recovered),
        }

    def previous_outputs(self) -> JsonObject | None:
        return self._request.previous_outputs


class Performer:
    """Performs tasks: the tools and what they need, put together once."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        *,
        ledger: Ledger,
        artifacts: Artifacts,
        clock: Clock,
        log: Log,
        clean: Redactor | None = None,
        before: Callable[[ToolContext], Awaitable[None]] | None = None,
    ) -> None:
        """`before` is asked ahead of every tool and may refuse by raising."""
        self.tools = tools
        self.ledger = ledger
        self.artifacts = artifacts
        self.clock = clock
        self.log = log
        # What a tool returns is kept for ever: secrets are taken out before.
        self.clean = clean or Redactor()
        self._before = before
        self._breaker = Breaker()

    async def perform(
        self, request: TaskAttempt, waiting: Callable[[], list[Prompt]] = list
    ) -> TaskAnswer:
        """Run the tool to an answer, whatever happens. Cancelling the awaiting task stops the
        tool and makes the answer a failure with code `cancelled`."""
        context = Context(request, self, waiting)
        path, attempt = request.path, request.attempt
        try:
            outputs = await self._guarded(request, context)
            outputs = await self._bounded(context, self.clean.value(outputs))
        except Held as held:
            return TaskParked(
                at_ms=self.clock.now_ms(),
                path=path,
                attempt=attempt,
                reason=held.reason,
                until_ms=held.until_ms,
                **context.learned(),
            )
        except (Exception, asyncio.CancelledError) as error:
            return TaskFailed(
                at_ms=self.clock.now_ms(),
                path=path,
                attempt=attempt,
                failure=self._failure(context, error),
                outputs=self.clean.value(context.evidence),
                **context.learned(),
            )
        return TaskSucceeded(
            at_ms=self.clock.now_ms(),
            path=path,
            attempt=attempt,
            outputs=outputs,
            **context.learned(),
        )

    async def _guarded(self, request: TaskAttempt, context: Context) -> JsonObject:
        """The call, unless what it depends on has been failing everybody."""
        dependency = dependency_of(context.order, request.uses)
        if dependency is None:
            return await self._call(request.uses, context, request.input, request.timeout_s)
        again_ms = self._breaker.closed_at_ms(dependency, self.clock.now_ms())
        if again_ms is not None:
            raise Held(CIRCUIT_OPEN, again_ms)
        try:
            outputs = await self._call(request.uses, context, request.input, request.timeout_s)
        except Held as held:
            if held.reason == MODEL_UNAVAILABLE:
                self._breaker.failed(dependency, self.clock.now_ms())
            raise
        self._breaker.succeeded(dependency)
        return outputs

    async def undo(self, request: TaskAttempt) -> Undone:
        context = Context(request, self, list)
        try:
            await self._call(request.uses, context, request.input, request.timeout_s)
        except Held as held:
            return self._undone(request, self._tried_later(held))
        except Exception as error:
            failure = self._failure(context, error)
            return self._undone(request, failure)
        return self._undone(request, None)

    def _tried_later(self, held: Held) -> Failure:
        """An undo does not park: it is tried again when the wait is over."""
        wait_s = max(0, held.until_ms - self.clock.now_ms()) / 1000
        return failure_of(
            Transient(
                "undo_held",
                f"It has to wait {wait_s:.0f} s ({held.reason})",
                hint="It is tried again by itself.",
                retry_after_s=wait_s,
            )
        )

    def _undone(self, request: TaskAttempt, failure: Failure | None) -> Undone:
        return Undone(
            at_ms=self.clock.now_ms(),
            path=request.path,
            attempt=request.attempt,
            failure=failure,
        )

    async def _call(
        self, uses: str, context: Context, inputs: JsonObject, timeout_s: float
    ) -> JsonObject:
        tool = self.tools.get(uses)
        if tool is None:
            raise Permanent(
                "tool_missing",
                f"this server has no tool {uses}",
                hint="The workflow was compiled by another version; create the order again.",
            )
        if tool.info.takes_prompts:
            timeout_s = context.order.agent_timeout_s or timeout_s
        limit_s = timeout_s + GRACE_S
        try:
            async with asyncio.timeout(limit_s) as deadline:
                context.more_time = partial(_extend, deadline, limit_s)
                context.allow = partial(_extend, deadline)
                if self._before is not None:
                    await self._before(context)
                return await tool(context, **inputs)
        except Unanswered as error:
            # Every write of a tool is a single one (`once`): the next attempt looks first.
            raise error.for_who_looks_first() from error
        except TimeoutError as error:
            raise Transient(
                "task_timeout",
                f"{context.path} took longer than {limit_s:g} s and was stopped",
                hint="Give the task a larger `timeout`, or find out what it waits for.",
            ) from error
        except Environmental as error:
            if error.code != DISK_FULL:
                raise
            raise self._without_room(context, error) from error
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            full = Environmental(
                "disk_full",
                f"No space left for {context.path}",
                hint="Free space on the data directory's disk, then retry.",
            )
            raise self._without_room(context, full) from error

    def _without_room(self, context: Context, error: Environmental) -> Environmental | Held:
        """A full disk is nobody's failure, and somebody will free it: waited for as an outage is,
        and tried again. After a day it is told as a failure."""
        now_ms, since_ms = self.clock.now_ms(), context.stall.since_ms
        if since_ms is not None and now_ms - since_ms >= WAITS_FOR_ROOM.give_up_ms:
            return error
        context.log("disk_full", level="warning", error=error.message)
        return Held(DISK_FULL, WAITS_FOR_ROOM.until_ms(now_ms, context.stall.count))

    def _failure(self, context: Context, error: BaseException) -> Failure:
        if isinstance(error, asyncio.CancelledError):
            return CANCELLED
        if isinstance(error, AgentWorkOrdersError) and not isinstance(error, Broken):
            found = failure_of(error)
            clean = self.clean
            return msgspec.structs.replace(
                found,
                message=clean.text(found.message),
                hint=clean.text(found.hint),
                context=clean.value(found.context),
            )
        context.log(
            "task_broken", level="error", error=f"{type(error).__name__}: {error}", exc_info=error
        )
        return Failure(
            category="permanent",
            code=error.code if isinstance(error, Broken) else "internal_error",
            message=f"{context.path} hit a bug of ours: {type(error).__name__}",
            hint="The server's log has the details; please report it.",
        )

    async def _bounded(self, context: Context, outputs: JsonObject) -> JsonObject:
        encoded = msgspec.json.encode(outputs)
        if len(encoded) <= OUTPUTS_LIMIT_BYTES:
            return outputs
        sha256 = await context.artifact("outputs.json", encoded, "application/json")
        small = {
            name: value
            for name, value in outputs.items()
            if len(msgspec.json.encode(value)) <= KEPT_TEXT_BYTES
        }
        return {**small, "spilled_sha256": sha256, "spilled_bytes": len(encoded)}


def dependency_of(order: Order, uses: str) -> str | None:
    """What outside this machine a task needs, if it can fail for everybody at once."""
    agent = str(order.agent.get("name"))
    return f"agent:{agent}" if uses.startswith("agent.") and agent != "scripted" else None


def _extend(deadline: asyncio.Timeout, by_s: float) -> None:
    deadline.reschedule(asyncio.get_running_loop().time() + by_s)


def failure_of(error: AgentWorkOrdersError) -> Failure:
    """A raised failure as data. What was refused inside a task will be refused again: permanent."""
    context = {
        name: value
        for name, value in error.context.items()
        if isinstance(value, str | int | float | bool | list) and name != "retry_after_s"
    }
    retry_after = error.context.get("retry_after_s")
    return Failure(
        category=error.category if isinstance(error, Failed) else "permanent",
        code=error.code,
        message=error.message,
        hint=error.hint,
        context=context,
        retry_after_s=float(retry_after) if retry_after is not None else None,
    )

"""An agent that follows a script: no model, no key, always the same. For demos and tests.

It acts on the workspace through the sandbox only, as any agent does, and says in every turn that
it is scripted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import assert_never

import msgspec

from agent_work_orders.agent_executor.agent import (
    TEXT_LIMIT_CHARS,
    AgentError,
    AgentRequest,
    Entry,
    Transcript,
    Turn,
)
from agent_work_orders.agent_executor.script import (
    Append,
    Delay,
    Delete,
    Fail,
    Replace,
    Run,
    Say,
    Script,
    Spend,
    Step,
    Steps,
    Think,
    Write,
    parse,
)
from agent_work_orders.clock import Clock
from agent_work_orders.errors import Refused
from agent_work_orders.sandbox_manager.sandbox import Sandbox
from agent_work_orders.workflow_engine.events import Usage

LABEL = "This agent is scripted: no model was asked."

Sleep = Callable[[float], Awaitable[None]]


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    script: str
    """The YAML text itself, so that an order carries all it needs."""


class ScriptedAgent:
    name = "scripted"
    scripted = True

    def __init__(self, script: Script, clock: Clock, *, sleep: Sleep = asyncio.sleep) -> None:
        self._script = script
        self._clock = clock
        self._sleep = sleep

    @classmethod
    def from_options(cls, options: Options, clock: Clock) -> ScriptedAgent:
        return cls(parse(options.script), clock)

    def check(self) -> str | None:
        return None

    async def run(
        self,
        request: AgentRequest,
        sandbox: Sandbox,
        *,
        transcript: Transcript,
        env: Mapping[str, str] | None = None,
        previous_cost_usd: float | None = None,
    ) -> Turn:
        transcript(Entry(kind="prompt", text=request.prompt))
        transcript(Entry(kind="system", text=LABEL, data={"scripted": True}))
        play = _Play(request, sandbox, transcript, dict(env or {}), self._clock, self._sleep)
        steps = self._script.steps(request.command, request.command_call)
        error: AgentError | None
        if steps is None:
            named = f"the command {request.command!r}" if request.command else "this turn"
            error = AgentError(
                kind="invalid_request", message=f"the script has no steps for {named}"
            )
        else:
            error = await self._within_time(play, steps, request)
        if error is not None:
            transcript(Entry(kind="error", text=error.message, data={"kind": error.kind}))
        return Turn(
            ok=error is None,
            text="\n".join(play.said)[:TEXT_LIMIT_CHARS],
            session_id=request.session_id or "scripted",
            usage=play.usage,
            error=error,
            saw_end=error is None,
            scripted=True,
        )

    async def _within_time(
        self, play: _Play, steps: Steps, request: AgentRequest
    ) -> AgentError | None:
        try:
            async with asyncio.timeout(request.timeout_s):
                return await play.all(steps)
        except TimeoutError:
            message = f"the agent ran longer than {request.timeout_s:.0f} s"
            return AgentError(kind="timeout", message=message)


class _Play:
    """One turn's steps in order; the first that fails ends it, its edits stay."""

    def __init__(
        self,
        request: AgentRequest,
        sandbox: Sandbox,
        say: Transcript,
        env: dict[str, str],
        clock: Clock,
        sleep: Sleep,
    ) -> None:
        self._request = request
        self._sandbox = sandbox
        self._say = say
        self._env = env
        self._clock = clock
        self._sleep = sleep
        self.said: list[str] = []
        self.usage = Usage()

    async def all(self, steps: Steps) -> AgentError | None:
        for step in steps:
            try:
                error = await self._one(step)
            except Refused as refused:
                error = AgentError(kind="invalid_request", message=str(refused))
            if error is not None:
                return error
        return None

    async def _one(self, step: Step) -> AgentError | None:
        match step:
            case Say(text=text):
                self.said.append(text)
                self._say(Entry(kind="text", text=text, data={"scripted": True}))
            case Think(text=text):
                self._say(Entry(kind="thinking", text=text, data={"scripted": True}))
            case Spend():
                self.usage = _added(self.usage, step)
            case Delay(seconds=seconds):
                return await self._wait(seconds)
            case Fail():
                return self._failure(step)
            case Run():
                return await self._run(step)
            case Write() | Append() | Replace() | Delete():
                return await self._edit(step)
            case _:
                assert_never(step)
        return None

    async def _edit(self, step: Write | Append | Replace | Delete) -> AgentError | None:
        name = type(step).__name__
        self._say(Entry(kind="tool_use", text=name, data={"input": msgspec.to_builtins(step)}))
        match step:
            case Write(path=path, content=content):
                await self._sandbox.write_file(path, content.encode())
            case Append(path=path, content=content):
                before = await self._sandbox.read_file(path)
                await self._sandbox.write_file(path, before + content.encode())
            case Replace(path=path, old=old, new=new):
                before = await self._sandbox.read_file(path)
                if old.encode() not in before:
                    return AgentError(
                        kind="invalid_request", message=f"{path} does not contain {old!r}"
                    )
                await self._sandbox.write_file(path, before.replace(old.encode(), new.encode(), 1))
            case Delete(path=path):
                await self._sandbox.read_file(path)  # refuses what is outside or not there
                return await self._run(Run(argv=("rm", "--", path)))
        return None

    async def _run(self, step: Run) -> AgentError | None:
        data = {"input": {"argv": list(step.argv)}}
        self._say(Entry(kind="tool_use", text="Run", data=data))
        execution = await self._sandbox.execute(
            step.argv, env=self._env, timeout_s=self._request.timeout_s, idle_s=self._request.idle_s
        )
        printed = (execution.stdout + execution.stderr)[-4000:].decode("utf-8", "replace")
        self._say(Entry(kind="tool_result", text=printed, data={"exit_code": execution.exit_code}))
        if execution.ended == "timed_out":
            return AgentError(kind="timeout", message=f"{step.argv[0]} ran too long")
        if execution.ended == "idle":
            return AgentError(kind="idle", message=f"{step.argv[0]} was silent for too long")
        if step.expect is not None and execution.exit_code != step.expect:
            return AgentError(
                kind="exit_code",
                message=f"{step.argv[0]} exited with {execution.exit_code}, not {step.expect}",
                exit_code=execution.exit_code,
                signal=execution.signal,
            )
        return None

    async def _wait(self, seconds: float) -> AgentError | None:
        idle_s = self._request.idle_s
        if idle_s is not None and seconds > idle_s:
            await self._sleep(idle_s)
            return AgentError(kind="idle", message="the agent was silent for too long")
        await self._sleep(seconds)
        return None

    def _failure(self, step: Fail) -> AgentError:
        after = step.retry_after_s
        return AgentError(
            kind=step.kind,
            message=step.message,
            retry_at_ms=None if after is None else self._clock.now_ms() + int(after * 1000),
            exit_code=step.exit_code,
        )


def _added(usage: Usage, step: Spend) -> Usage:
    return usage.plus(
        Usage(
            cost_usd=step.cost_usd,
            input_tokens=step.input_tokens,
            output_tokens=step.output_tokens,
            turns=step.turns,
        )
    )
